"""Which blocks of a page went, came or took another's place. In a bounded time whatever the pages are."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from crawler.domain.diffs.page_blocks import Block, PageBlocks

MOST_EDITS = 400
"""Lines that differ, beyond which order is no longer looked at."""


class BlockEdit(NamedTuple):
    removed: Block | None
    added: Block | None

    @property
    def place(self) -> str:
        block = self.removed or self.added
        return block.place if block else ""


Hunk = tuple[list[int], list[int]]
"""Lines of the one and of the other that stand in for each other."""


def diff_blocks(old: PageBlocks, new: PageBlocks) -> list[BlockEdit]:
    edits: list[BlockEdit] = []
    for removed, added in line_hunks(old.lines, new.lines):
        edits += _paired([old.block(at) for at in removed], [new.block(at) for at in added])
    return edits


def _paired(removed: list[Block], added: list[Block]) -> list[BlockEdit]:
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


def line_hunks(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    before, after = old[start : len(old) - end], new[start : len(new) - end]
    hunks = _shortest(before, after)
    if hunks is None:
        hunks = [_regardless_of_order(before, after)]
    return [([at + start for at in gone], [at + start for at in come]) for gone, come in hunks]


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _shortest(old: Sequence[str], new: Sequence[str]) -> list[Hunk] | None:
    """Myers' greedy search for the fewest edits; None when they are too many."""
    reach = {1: 0}
    trail: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), MOST_EDITS) + 1):
        trail.append(dict(reach))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
            at = reach[diagonal + 1] if down else reach[diagonal - 1] + 1
            while at < len(old) and at - diagonal < len(new) and old[at] == new[at - diagonal]:
                at += 1
            reach[diagonal] = at
            if at >= len(old) and at - diagonal >= len(new):
                return _gathered(_walk_back(trail, len(old), len(new)))
    return None


def _walk_back(trail: list[dict[int, int]], at_old: int, at_new: int) -> list[tuple[str, int, int]]:
    """The edits from the first to the last: which side, and where on both."""
    found: list[tuple[str, int, int]] = []
    for edits in range(len(trail) - 1, 0, -1):
        reach, diagonal = trail[edits], at_old - at_new
        down = diagonal == -edits or (diagonal != edits and reach[diagonal - 1] < reach[diagonal + 1])
        came = diagonal + 1 if down else diagonal - 1
        at_old = reach[came]
        at_new = at_old - came
        found.append(("+" if down else "-", at_old, at_new))
    return found[::-1]


def _gathered(edits: list[tuple[str, int, int]]) -> list[Hunk]:
    """Edits with nothing in between belong together."""
    hunks: list[Hunk] = []
    expected = (-1, -1)
    for sign, at_old, at_new in edits:
        if (at_old, at_new) != expected:
            hunks.append(([], []))
        hunks[-1][sign == "+"].append(at_new if sign == "+" else at_old)
        expected = (at_old, at_new + 1) if sign == "+" else (at_old + 1, at_new)
    return hunks


def _regardless_of_order(old: Sequence[str], new: Sequence[str]) -> Hunk:
    return _surplus(old, new), _surplus(new, old)


def _surplus(mine: Sequence[str], other: Sequence[str]) -> list[int]:
    left, found = Counter(other), []
    for at, line in enumerate(mine):
        if left[line]:
            left[line] -= 1
        else:
            found.append(at)
    return found
