"""Cells of a table that stand in other columns than before, in rows that say the same.

Their lines are the same, in the same order, so that a comparison of lines alone cannot see it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.diffs.table_cells import Cell

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


def _is_elsewhere(cell: Cell, now: Cell, *, is_as_wide: bool) -> bool:
    """Where a column came or went, the others move with their headings; without headings nobody can tell."""
    if cell.column == now.column:
        return False
    return cell.heading != now.heading if cell.heading and now.heading else is_as_wide


def _named(block: Block, cell: Cell) -> Block:
    """The same words stand in both columns, so the column has to be said."""
    column = cell.heading or f"column {(cell.column or 0) + 1}"
    where = f"{cell.row}, {column}" if cell.row and cell.row != block.text else column
    return replace(block, text=f"{where}: {block.text}")
