"""Which blocks of a page went, came or took another's place. How lines are matched: `line_diff.py`."""

from collections import Counter, defaultdict
from typing import NamedTuple

from crawler.domain.diffs.line_diff import line_hunks
from crawler.domain.diffs.page_blocks import Block, PageBlocks


class BlockEdit(NamedTuple):
    removed: Block | None
    added: Block | None

    @property
    def place(self) -> str:
        block = self.removed or self.added
        return block.place if block else ""


def diff_blocks(old: PageBlocks, new: PageBlocks) -> list[BlockEdit]:
    edits: list[BlockEdit] = []
    for removed, added in line_hunks(old.lines, new.lines):
        edits += paired([old.block(at) for at in removed], [new.block(at) for at in added])
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
