"""Where a line stands in a table, or in rows like one: its row, its column, and what names them."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler.domain.pages.tag_ids import TEXT, tag_ids

_MOST_LEVELS = 5
_LONGEST_NAME = 100
_TOP = frozenset({"body", "html"})
_ROWS = tag_ids("tr")
_ROW_GROUPS = tag_ids("thead tbody tfoot")
_HEADINGS = tag_ids("th")
_CELLS = tag_ids("td th")
_WIDEST = 1_000
_SPAN = re.compile(r"[0-9]{1,4}").fullmatch


class Rows:
    """Which row of a table each element stands in."""

    def __init__(self) -> None:
        self._known: dict[int | None, int | None] = {}

    def of(self, node: LexborNode) -> int | None:
        passed: list[int] = []
        above = node.parent
        while above is not None and above.tag_id not in _ROWS and above.mem_id not in self._known:
            passed.append(above.mem_id)
            above = above.parent
        number = above.mem_id if above is not None else None
        row = self._known.get(number, number)
        self._known.update(dict.fromkeys(passed, row))
        return row


class Cell(NamedTuple):
    column: int | None = None
    heading: str = ""
    row: str = ""


_NO_CELL = Cell()


class Columns:
    """Where elements stand in their rows. A row is what stands next to another one with as many elements in it."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._widths: dict[int, int] = {}
        self._rows: dict[int, dict[int, Cell]] = {}
        """The cells of each row; of what is no row none."""
        self._headings: dict[int, list[str]] = {}
        """The headings of each table."""

    def of(self, node: LexborNode) -> Cell:
        cell = node.parent
        row = cell.parent if cell is not None else None
        for _ in range(_MOST_LEVELS):
            if cell is None or row is None or row.tag in _TOP:
                return _NO_CELL
            if self._size(row) > 1:
                return self._cells(row).get(cell.mem_id, _NO_CELL)
            cell, row = row, row.parent
        return _NO_CELL

    def _cells(self, row: LexborNode) -> dict[int, Cell]:
        if row.mem_id not in self._rows:
            alike = any(one.tag_id == row.tag_id and self._width(one) == self._width(row) for one in _neighbours(row))
            self._rows[row.mem_id] = dict(self._named_cells(row)) if alike or self._is_below_headings(row) else {}
        return self._rows[row.mem_id]

    def _is_below_headings(self, row: LexborNode) -> bool:
        return row.tag_id in _ROWS and len(self._headings_of(row)) == self._width(row)

    def _named_cells(self, row: LexborNode) -> Iterator[tuple[int, Cell]]:
        headings = self._headings_of(row) if row.tag_id in _ROWS else []
        first = ""
        at = 0
        for cell in row.iter():
            first = first if at else _said(cell)
            yield cell.mem_id, Cell(at, headings[at] if at < len(headings) else "", first if at else "")
            at += _span(cell)

    def _headings_of(self, row: LexborNode) -> list[str]:
        """What the first row of a table says, if all its cells are headings."""
        table = row.parent
        while table is not None and table.tag_id in _ROW_GROUPS:
            table = table.parent
        if table is None:
            return []
        if table.mem_id not in self._headings:
            head = table.css_first("tr")
            cells = list(head.iter()) if head is not None else []
            is_head = len(cells) > 1 and all(cell.tag_id in _HEADINGS for cell in cells)
            self._headings[table.mem_id] = list(islice(_spread(cells), _WIDEST)) if is_head else []
        return self._headings[table.mem_id]

    def _width(self, row: LexborNode) -> int:
        """How many columns a row takes."""
        if row.mem_id not in self._widths:
            self._widths[row.mem_id] = sum(map(_span, row.iter()))
        return self._widths[row.mem_id]

    def _size(self, node: LexborNode) -> int:
        if node.mem_id not in self._sizes:
            self._sizes[node.mem_id] = sum(1 for _ in node.iter())
        return self._sizes[node.mem_id]


def _spread(headings: Iterable[LexborNode]) -> Iterator[str]:
    """What each column's heading says; one may stand above several."""
    for cell in headings:
        yield from repeat(_said(cell), _span(cell))


def _span(cell: LexborNode) -> int:
    """How many columns a cell of a table takes."""
    given = (cell.attributes.get("colspan") or "") if cell.tag_id in _CELLS else ""
    return min(int(given), _WIDEST) or 1 if _SPAN(given) else 1


def _said(cell: LexborNode) -> str:
    return " ".join(cell.text(deep=True).split())[:_LONGEST_NAME]


def _neighbours(node: LexborNode) -> Iterator[LexborNode]:
    """The elements right before and after, with nothing but text in between."""
    for side in ("prev", "next"):
        one: LexborNode | None = getattr(node, side)
        if one is not None and one.tag_id == TEXT:
            one = getattr(one, side)
        if one is not None:
            yield one
