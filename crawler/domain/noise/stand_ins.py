"""A few words in place of many, in the middle of a page: a part that failed may say so. One page cannot tell.

Which of them are a failure: `changes/failed_parts.py`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.line_diff import line_hunks
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.diffs.replaced_text import Said, line_hash, said_in

MOST_LINES, MOST_WORDS, MOST_CHARACTERS = 3, 40, 2_000
"""Of what stands in."""
MOST_REPLACED = 200
"""Lines of the part."""
MOST_FOUND = 3
"""On one page."""
_HASH_SIZE = 8

Key = tuple[str, str]
"""Where a line stands, and how it reads."""


class LostLine(NamedTuple):
    """A line that is gone. It may be as long as a page, and nobody reads it: it is only met again."""

    hash: int
    """Of the line without numbers and the page's own name."""
    words: int


class StandIn(NamedTuple):
    place: str
    line: str
    """What stands there now, without numbers and the page's own name."""
    places: frozenset[str]
    """Where that stood which is gone."""
    lines: tuple[LostLine, ...]
    """What is gone."""
    edits: tuple[BlockEdit, ...]
    edited: tuple[tuple[int, BlockEdit], ...]
    """Those of the edits in which a line took the place of one, with the hash of that without numbers and names."""

    @property
    def key(self) -> Key:
        return self.place, self.line

    @property
    def size(self) -> int:
        """In characters, beside the edits."""
        return len(self.line) + sum(map(len, self.places)) + _HASH_SIZE * (len(self.lines) + len(self.edited))


def stand_ins(edits: Sequence[BlockEdit], pages: tuple[PageBlocks, PageBlocks]) -> tuple[StandIn, ...]:
    """Where a few new lines took the place of others. `edits`: those that are no noise."""
    added = {edit.added for edit in edits if edit.added}
    if any(page.is_file for page in pages):
        return ()
    if not 0 < len(added) <= MOST_FOUND * MOST_LINES or len(edits) > MOST_FOUND * MOST_REPLACED:
        return ()
    old, new = pages
    first = len(new) - len(new.body)
    found = []
    for gone, come in line_hunks(old.lines, new.lines):
        if not 0 < len(come) <= MOST_LINES or not 0 < len(gone) <= MOST_REPLACED or min(*gone, *come) < first:
            continue
        here = {old.block(at) for at in gone}, {new.block(at) for at in come}
        inside = tuple(edit for edit in edits if _is_inside(edit, here))
        lines = [new.lines[at] for at in come]
        if (
            not inside
            or not here[1] <= added
            or sum(map(_words, lines)) > MOST_WORDS
            or sum(map(len, lines)) > MOST_CHARACTERS
        ):
            continue
        lost = tuple(_lost(said_in(old.lines[at], old.title)) for at in gone)
        text = " ".join(said_in(line, new.title).line for line in lines)
        places = frozenset(block.place for block in here[0])
        edited = tuple(
            (_lost(said_in(edit.removed.text, old.title)).hash, edit) for edit in inside if edit.removed and edit.added
        )
        found.append(StandIn(new.block(come[0]).place, text, places, lost, inside, edited))
    return tuple(found) if len(found) <= MOST_FOUND else ()


def _lost(said: Said) -> LostLine:
    return LostLine(line_hash(said.line), said.words)


def _is_inside(edit: BlockEdit, here: tuple[set[Block], set[Block]]) -> bool:
    return all(block is None or block in blocks for block, blocks in zip(edit, here, strict=True))


def _words(line: str) -> int:
    return line.count(" ") + 1
