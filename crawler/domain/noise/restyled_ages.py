"""Ages whose element is styled by how old they are (`fresh`, then `stale`): by its class it stands at another place.

So the line of before and that of now are not taken for one, and seem to have gone and come. They are one if they stand
in elements of one kind and nothing that stayed is between them, say the same words and speak of the same moment. What
went to another spot of the page (from a list of open matters to that of settled ones) moved, however its age goes on.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.line_diff import line_hunks
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.builtin import AGE, builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moving_values import value_changes

_LONGEST = 200
_MOST = 50
"""Lines that came at one spot of a page, each of which may be the one that is looked for."""


def without_restyled_ages(
    edits: Sequence[BlockEdit], pages: tuple[PageBlocks, PageBlocks], moments: Moments
) -> list[BlockEdit]:
    """Edits without the lines that went and came again with nothing but an age that went on with the clock."""
    gone = Counter(edit.removed for edit in edits if edit.removed and not edit.added)
    come = Counter(edit.added for edit in edits if edit.added and not edit.removed)
    pairs = list(_restyled(gone, come, pages, moments)) if gone and come else []
    quiet_gone, quiet_come = Counter(old for old, _ in pairs), Counter(new for _, new in pairs)
    left: list[BlockEdit] = []
    for edit in edits:
        one = edit.removed or edit.added
        quiet = quiet_gone if edit.removed else quiet_come
        if one and quiet[one] and not (edit.removed and edit.added):
            quiet[one] -= 1
        else:
            left.append(edit)
    return left


def _restyled(
    gone: "Counter[Block]", come: "Counter[Block]", pages: tuple[PageBlocks, PageBlocks], moments: Moments
) -> Iterator[tuple[Block, Block]]:
    old, new = pages
    for removed, added in line_hunks(old.lines, new.lines):
        went = _among(gone, map(old.block, removed))
        came = _among(come, map(new.block, added))[:_MOST] if went else []
        for block in went:
            found = next((one for one in came if _is_older(block, one, moments)), None)
            if found:
                came.remove(found)
                gone[block] -= 1
                come[found] -= 1
                yield block, found


def _among(waiting: "Counter[Block]", blocks: Iterable[Block]) -> list[Block]:
    return [block for block in blocks if waiting[block] and len(block.text) <= _LONGEST]


def _is_older(old: Block, new: Block, moments: Moments) -> bool:
    if old.place == new.place or _tag(old.place) != _tag(new.place):
        return False
    changes = value_changes(old.text, new.text)
    return bool(changes) and all(builtin_rule(change, moments) == AGE for change in changes or ())


def _tag(place: str) -> str:
    """`td` of `table.fleet>tr>td` and of `td.fresh`."""
    return place.rpartition(">")[2].partition(".")[0].partition("#")[0]
