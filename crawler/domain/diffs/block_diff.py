"""Which blocks of a page went, came or took another's place. How lines are matched: `line_diff.py`."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crawler.domain.diffs.line_diff import Hunk, line_hunks
from crawler.domain.diffs.moved_cells import moved_cells
from crawler.domain.diffs.page_blocks import Block, PageBlocks

MOST_MATCHED = 1_000
"""Lines that differ at one spot, beyond which it is not looked how each of them reads."""


class BlockEdit(NamedTuple):
    removed: Block | None
    added: Block | None

    @property
    def place(self) -> str:
        block = self.removed or self.added
        return block.place if block else ""


def diff_blocks(old: PageBlocks, new: PageBlocks, reads: Callable[[str], str] | None = None) -> list[BlockEdit]:
    """`reads`: how a line reads without what moves by itself. Lines that read alike, in one order, are one line."""
    edits: list[BlockEdit] = []
    hunks = line_hunks(old.lines, new.lines)
    for removed, added in hunks:
        sides = [old.block(at) for at in removed], [new.block(at) for at in added]
        is_mixed = len(removed) * len(added) > 1 and len(removed) + len(added) <= MOST_MATCHED
        edits += _matched(*sides, reads) if reads and is_mixed else paired(*sides)
    for was, came in moved_cells(old, new, _same(hunks, len(old))):
        edits += [
            BlockEdit(was, None),
            BlockEdit(None, came),
        ]  # as a pair, columns of dates would be moments that moved
    return edits


def _same(hunks: Iterable[Hunk], length: int) -> Iterator[tuple[int, int]]:
    """The lines that are in no hunk."""
    at = by = 0
    for removed, added in (*hunks, ([length], [])):
        end = removed[0] if removed else added[0] - by
        yield from ((one, one + by) for one in range(at, end))
        at, by = end + len(removed), by + len(added) - len(removed)


def _matched(removed: list[Block], added: list[Block], reads: Callable[[str], str]) -> list[BlockEdit]:
    """Without this, one new entry above others whose ages went on would make each of them stand for the next."""
    old, new = ([f"{block.place}\n{reads(block.text)}" for block in side] for side in (removed, added))
    edits: list[BlockEdit] = []
    at = other_at = 0
    for gone, come in (*line_hunks(old, new), ([len(old)], [])):
        same = gone[0] - at if gone else come[0] - other_at
        edits += map(BlockEdit, removed[at : at + same], added[other_at : other_at + same])
        at, other_at = at + same + len(gone), other_at + same + len(come)
        edits += paired(removed[at - len(gone) : at], added[other_at - len(come) : other_at])
    return edits


def paired(removed: list[Block], added: list[Block]) -> list[BlockEdit]:
    """What stands at the same place takes the place of what stood there."""
    waiting: dict[str, list[Block]] = defaultdict(list)
    for block in reversed(added):
        waiting[block.place].append(block)
    edits = [BlockEdit(block, waiting[block.place].pop() if waiting[block.place] else None) for block in removed]
    taken = Counter(edit.added for edit in edits if edit.added)
    for block in added:
        if taken[block]:
            taken[block] -= 1
        else:
            edits.append(BlockEdit(None, block))
    return edits
