"""What a bare value is a value of: the first cell of its row, or the heading or term above it. Never a guess."""

import re
from collections import Counter
from collections.abc import Sequence

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block, PageBlocks

LONGEST_BARE = 20
MOST_WORDS = 3
FARTHEST = 30
"""Lines between a value and its heading."""
MOST_PLACES = 200
"""Where the same value stands on one page."""
_ABOVE = re.compile(r"(?:^|>)(?:h[1-6]|dt)\b[^>]*$")


def is_bare(edit: BlockEdit) -> bool:
    """Whether an edit says little without the text around it."""
    texts = [block.text for block in edit if block]
    return all(len(text) <= LONGEST_BARE and len(text.split()) <= MOST_WORDS for text in texts)


def contexts(edits: Sequence[BlockEdit], old: PageBlocks, new: PageBlocks, most: int = 10) -> list[str | None]:
    """What the values in the first of these edits are values of."""
    alike, met, found = Counter(edits), Counter[BlockEdit](), list[str | None]()
    for edit in edits[:most]:
        labels = _labels(edit, old, new) if is_bare(edit) else []
        # Several places fit: only if as many edits do, each has one.
        sure = labels and (len(labels) == alike[edit] or len(set(labels)) == 1)
        found.append(labels[min(met[edit], len(labels) - 1)] if sure else None)
        met[edit] += 1
    return found


def _labels(edit: BlockEdit, old: PageBlocks, new: PageBlocks) -> list[str]:
    """The labels of the places where this edit may have been made, in the order of the page."""
    before = _of_all(old, edit.removed) if edit.removed else _of_all(old, edit.added)
    after = _of_all(new, edit.added) if edit.added else _of_all(new, edit.removed)
    if edit.removed and edit.added:
        still = Counter(_of_all(new, edit.removed))
        return [label for label in after if label in before and label not in still]
    mine, other = (after, before) if edit.added else (before, after)
    return list((Counter(mine) - Counter(other)).elements())


def _of_all(page: PageBlocks, block: Block | None) -> list[str]:
    if block is None:
        return []
    places = [at for at in page.at(block.place) if page.lines[at] == block.text]
    # Among so many nobody could tell which is meant.
    return [label for at in places if (label := _label(page, at))] if len(places) <= MOST_PLACES else []


def _label(page: PageBlocks, at: int) -> str | None:
    first = page.row_start(at)
    if first is not None:
        return page.lines[first] if first < at else None
    before = range(at - 1, max(at - FARTHEST, 0), -1)
    return next((page.lines[above] for above in before if _ABOVE.search(page.block(above).place)), None)
