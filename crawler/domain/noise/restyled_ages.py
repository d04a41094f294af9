"""Ages whose element is styled by how old they are (`fresh`, then `stale`): by its class it stands at another place.

So the line of before and that of now are not taken for one, and seem to have gone and come. They are one if they stand
in elements of one kind, say the same words and speak of the same moment.
"""

from collections.abc import Iterator, Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.builtin import AGE, builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moving_values import value_changes

_LONGEST = 200
_MOST = 50
"""Lines that came at one spot of a page, each of which may be the one that is looked for."""


def without_restyled_ages(edits: Sequence[BlockEdit], moments: Moments) -> list[BlockEdit]:
    """Edits without the lines that went and came again with nothing but an age that went on with the clock."""
    left: list[BlockEdit] = []
    for spot in _spots(edits):
        come = [edit.added for edit in spot if edit.removed is None and edit.added]
        quiet: list[Block] = []
        for edit in spot if come else ():
            gone = edit.removed
            if gone and not edit.added and len(gone.text) <= _LONGEST:
                found = next((block for block in come[:_MOST] if _is_older(gone, block, moments)), None)
                if found:
                    come.remove(found)
                    quiet += [gone, found]
        for edit in spot:
            one = edit.removed or edit.added
            if one in quiet and not (edit.removed and edit.added):
                quiet.remove(one)
            else:
                left.append(edit)
    return left


def _spots(edits: Sequence[BlockEdit]) -> Iterator[list[BlockEdit]]:
    """Edits that stand together: of each spot those that came are the last."""
    spot: list[BlockEdit] = []
    for edit in edits:
        if spot and spot[-1].removed is None and edit.removed:
            yield spot
            spot = []
        spot.append(edit)
    yield spot


def _is_older(old: Block, new: Block, moments: Moments) -> bool:
    if len(new.text) > _LONGEST or _tag(old.place) != _tag(new.place):
        return False
    changes = value_changes(old.text, new.text)
    return bool(changes) and all(builtin_rule(change, moments) == AGE for change in changes or ())


def _tag(place: str) -> str:
    """`td` of `table.fleet>tr>td` and of `td.fresh`."""
    return place.rpartition(">")[2].partition(".")[0].partition("#")[0]
