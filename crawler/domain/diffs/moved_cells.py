"""Cells of a table that stand in other columns than before, in rows that say the same.

Their lines are the same, in the same order, so that a comparison of lines alone cannot see it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.diffs.table_cells import Placed

MOST_MOVED = 1_000


def moved_cells(old: PageBlocks, new: PageBlocks, same: Iterable[tuple[int, int]]) -> list[tuple[Block, Block]]:
    """Where each stood, and stands now. `same`: lines of both pages that are the same, in their order."""
    if old.cell_gaps == new.cell_gaps:
        return []
    return list(islice(_moved(old, new, dict(same)), MOST_MOVED))


def _moved(old: PageBlocks, new: PageBlocks, same: dict[int, int]) -> Iterator[tuple[Block, Block]]:
    rows = {lines.start: lines for lines in new.rows()}
    for lines in old.rows():
        others = rows.get(same.get(lines.start, -1))
        if others is None or [same.get(at) for at in lines] != list(others):
            continue
        is_as_wide = old.row_width(lines.start) == new.row_width(others.start)
        for at, other in zip(lines, others, strict=True):
            cell, now = old.cell(at), new.cell(other)
            if _is_elsewhere(cell, now, is_as_wide=is_as_wide):
                yield _named(old.block(at), cell), _named(new.block(other), now)


def _is_elsewhere(cell: Placed, now: Placed, *, is_as_wide: bool) -> bool:
    """Where a column came or went, the others move with their headings; without headings nobody can tell."""
    if cell.column == now.column and (cell.columns == now.columns or not cell.column):  # the first one names the row
        return False
    if cell.heading and now.heading:
        return (cell.heading, cell.last_heading) != (now.heading, now.last_heading)
    return is_as_wide


def _named(block: Block, cell: Placed) -> Block:
    """The same words stand in both columns, so the column has to be said."""
    first = cell.heading or f"column {(cell.column or 0) + 1}"
    last = cell.last_heading or f"{(cell.column or 0) + cell.columns}"
    column = first if cell.columns == 1 or first == last else f"{first} to {last}"
    where = f"{cell.row}, {column}" if cell.row and cell.row != block.text else column
    return replace(block, text=f"{where}: {block.text}")
