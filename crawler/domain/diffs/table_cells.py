"""Where a line stands in a table, or in rows like one: its row, its column, and what names them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice, repeat
from types import MappingProxyType
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler.domain.pages.cell_gaps import column_span, row_span
from crawler.domain.pages.table_roles import HEADING_ROLE, TABLE_ROLES, role_of
from crawler.domain.pages.tag_ids import TEXT, tag_ids

_MOST_LEVELS = 5
_LONGEST_NAME = 100
_TOP = frozenset({"body", "html"})
_ROWS = tag_ids("tr")
_ROW_GROUPS = tag_ids("thead tbody tfoot")
_HEADINGS = tag_ids("th")
_CELLS = tag_ids("td th")
_WIDEST = 1_000
_MOST_PLACES = 100_000
"""Of a table, that cells take which take several rows; beyond, they are taken for cells of one row."""
_TITLES = tag_ids("h1 h2 h3 h4 h5 h6 caption legend summary figcaption")
_HOLD_TITLES = tag_ids("header hgroup")
_TERMS, _MEANINGS = tag_ids("dt"), tag_ids("dd")
FARTHEST = 40
"""Elements between a table and the heading that names it."""
_DIGITS = re.compile(r"\d+")


class RoleTables:
    """Rows and cells of tables that are no tables by their tags."""

    def __init__(self, rows: Mapping[int, Sequence[LexborNode]] = MappingProxyType({})) -> None:
        self._rows = rows
        self._cells = {cell.mem_id for cells in rows.values() for cell in cells}

    def is_row(self, node: LexborNode) -> bool:
        return node.tag_id in _ROWS or node.mem_id in self._rows

    def is_cell(self, node: LexborNode) -> bool:
        if node.tag_id in _CELLS and node.parent is not None and node.parent.tag_id in _ROWS:
            return True
        return node.mem_id in self._cells

    def cells(self, row: LexborNode) -> Iterable[LexborNode]:
        return self._rows.get(row.mem_id) or row.iter()

    def table_of(self, row: LexborNode) -> LexborNode | None:
        """What a row stands in, with others."""
        table = row.parent
        if row.mem_id in self._rows:
            for _ in range(FARTHEST):
                if table is None or role_of(table) in TABLE_ROLES:
                    return table or row.parent
                table = table.parent
            return row.parent
        while table is not None and table.tag_id in _ROW_GROUPS:
            table = table.parent
        return table

    def head_of(self, table: LexborNode) -> list[LexborNode]:
        """The cells of its first row, if all are headings."""
        if self._rows and role_of(table) in TABLE_ROLES:
            rows = (self._rows.get(row.mem_id, ()) for row in table.css("[role=row i]")[:FARTHEST])
            cells = list(next(filter(None, rows), ()))
            return cells if len(cells) > 1 and all(role_of(cell) == HEADING_ROLE for cell in cells) else []
        head = table.css_first("tr")
        cells = list(head.iter()) if head is not None else []
        return cells if len(cells) > 1 and all(cell.tag_id in _HEADINGS for cell in cells) else []


NO_ROLES = RoleTables()


class Rows:
    """Which row of a table each element stands in."""

    def __init__(self, roles: RoleTables = NO_ROLES) -> None:
        self._roles = roles
        self._known: dict[int | None, int | None] = {}
        self.tables: dict[int, int] = {}
        """Which table each of these rows stands in."""

    def of(self, node: LexborNode) -> int | None:
        passed: list[int] = []
        above = node.parent
        is_row, known = self._roles.is_row, self._known
        while above is not None and not is_row(above) and above.mem_id not in known:
            passed.append(above.mem_id)
            above = above.parent
        number = above.mem_id if above is not None else None
        row = self._known.get(number, number)
        if above is not None and row is not None and row not in self.tables:
            self.tables[row] = table.mem_id if (table := self._roles.table_of(above)) is not None else row
        self._known.update(dict.fromkeys(passed, row))
        return row


class Cell(NamedTuple):
    column: int | None = None
    heading: str = ""
    row: str = ""
    table: str = ""


_NO_CELL = Cell()


class Placed(NamedTuple):
    """Which columns of a table a cell takes."""

    column: int | None = None
    columns: int = 1
    heading: str = ""
    """What the first of them is called."""
    last_heading: str = ""
    row: str = ""


class Columns:
    """Where elements stand in their rows. A row is what stands next to another one with as many elements in it."""

    def __init__(self, roles: RoleTables = NO_ROLES) -> None:
        self._roles = roles
        self._sizes: dict[int, int] = {}
        self._widths: dict[int, int] = {}
        self._rows: dict[int, dict[int, Cell]] = {}
        """The cells of each row; of what is no row none."""
        self._in_tables: dict[int, dict[int, Placed]] = {}
        self._grids: dict[int, dict[int, list[int]]] = {}
        """Where the cells of each row begin, in tables in which some take several rows."""
        self._headings: dict[int, list[str]] = {}
        """The headings of each table."""
        self._tables: dict[int, str] = {}
        """What each table is called."""

    def of(self, node: LexborNode) -> Cell:
        cell = node.parent
        row = cell.parent if cell is not None else None
        for _ in range(_MOST_LEVELS):
            if cell is None or row is None or row.tag in _TOP:
                return _NO_CELL
            if cell.tag_id in _TERMS or cell.tag_id in _MEANINGS:
                return self._term(cell, row)
            if self._size(row) > 1:
                return self._cells(row).get(cell.mem_id, _NO_CELL)
            cell, row = row, row.parent
        return _NO_CELL

    def in_table(self, node: LexborNode) -> Placed:
        """Of a line in a row of a table, whatever the rows beside it are."""
        cell, is_cell = node.parent, self._roles.is_cell
        while cell is not None and not is_cell(cell):
            cell = cell.parent
        if cell is None or cell.parent is None:
            return Placed()
        row = cell.parent
        if row.mem_id not in self._in_tables:
            self._in_tables[row.mem_id] = dict(self._placed_cells(row))
        return self._in_tables[row.mem_id].get(cell.mem_id, Placed())

    def _placed_cells(self, row: LexborNode) -> Iterator[tuple[int, Placed]]:
        headings = self._headings_of(row)
        cells = list(self._roles.cells(row))
        first = _said(cells[0]) if cells else ""
        starts = self._grid_of(row).get(row.mem_id) or [0, *accumulate(map(column_span, cells))]
        for number, (cell, at) in enumerate(zip(cells, starts, strict=False)):
            columns = column_span(cell)
            covered = headings[at : at + columns] or [""]
            yield cell.mem_id, Placed(at, columns, covered[0], covered[-1], first if number else "")

    def _grid_of(self, row: LexborNode) -> dict[int, list[int]]:
        table = self._roles.table_of(row)
        if table is None or row.tag_id not in _ROWS:
            return {}
        if table.mem_id not in self._grids:
            self._grids[table.mem_id] = _grid(table) if table.css_first("[rowspan]") is not None else {}
        return self._grids[table.mem_id]

    def width(self, node: LexborNode) -> int:
        """Of the row of a table that a line stands in."""
        row, is_row = node.parent, self._roles.is_row
        while row is not None and not is_row(row):
            row = row.parent
        return self._width(row) if row is not None else 0

    def _cells(self, row: LexborNode) -> dict[int, Cell]:
        if row.mem_id not in self._rows:
            alike = any(one.tag_id == row.tag_id and self._width(one) == self._width(row) for one in _neighbours(row))
            self._rows[row.mem_id] = dict(self._named_cells(row)) if alike or self._is_below_headings(row) else {}
        return self._rows[row.mem_id]

    def _is_below_headings(self, row: LexborNode) -> bool:
        return self._roles.is_row(row) and len(self._headings_of(row)) == self._width(row)

    def _term(self, cell: LexborNode, terms: LexborNode) -> Cell:
        """A term and what is said of it are a row, too."""
        known = self._rows.setdefault(terms.mem_id, {})
        if cell.mem_id not in known:
            place = (0, "", "") if cell.tag_id in _TERMS else (1, "", _said(term_of(cell)))
            known[cell.mem_id] = Cell(*place, self._table(terms))
        return known[cell.mem_id]

    def _table(self, table: LexborNode | None) -> str:
        if table is None:
            return ""
        if table.mem_id not in self._tables:
            self._tables[table.mem_id] = _name_of_table(table)
        return self._tables[table.mem_id]

    def _named_cells(self, row: LexborNode) -> Iterator[tuple[int, Cell]]:
        headings = self._headings_of(row) if self._roles.is_row(row) else []
        table = self._table(self._roles.table_of(row))
        first = ""
        at = 0
        for cell in self._roles.cells(row):
            first = first if at else _said(cell)
            yield cell.mem_id, Cell(at, headings[at] if at < len(headings) else "", first if at else "", table)
            at += column_span(cell)

    def _headings_of(self, row: LexborNode) -> list[str]:
        """What the first row of a table says, if all its cells are headings."""
        table = self._roles.table_of(row)
        if table is None:
            return []
        if table.mem_id not in self._headings:
            self._headings[table.mem_id] = list(islice(_spread(self._roles.head_of(table)), _WIDEST))
        return self._headings[table.mem_id]

    def _width(self, row: LexborNode) -> int:
        """How many columns a row takes."""
        if row.mem_id not in self._widths:
            self._widths[row.mem_id] = sum(map(column_span, self._roles.cells(row)))
        return self._widths[row.mem_id]

    def _size(self, node: LexborNode) -> int:
        if node.mem_id not in self._sizes:
            self._sizes[node.mem_id] = sum(1 for _ in node.iter())
        return self._sizes[node.mem_id]


def term_of(node: LexborNode) -> LexborNode:
    """The first of the terms that something is said of; itself where there is none."""
    term = node if node.tag_id in _TERMS else None
    for one in islice(before(node), FARTHEST):
        if one.tag_id in _TERMS:
            term = one
        elif term is not None:
            break
    return term or node


def _name_of_table(table: LexborNode) -> str:
    """Its caption, or the heading before it, and which it is of those that stand there. Numbers in them may move."""
    title, number = _first_if_title(table), 1
    steps, here = FARTHEST, table
    while title is None and here.parent is not None and here.tag not in _TOP and steps > 0:
        for one in islice(before(here), steps):
            steps -= 1
            title = _title_of(one)
            if title is not None:
                break
            number += one.tag_id == here.tag_id and _class(one) == _class(here)
        here = here.parent
    name = _DIGITS.sub("#", _said(title)) if title is not None else ""
    return name if name and number == 1 else f"{name} ({number})".lstrip()


def _title_of(node: LexborNode) -> LexborNode | None:
    """The heading that an element is, or that it is there for."""
    if node.tag_id in _TITLES:
        return node
    return _first_if_title(node) if node.tag_id in _HOLD_TITLES else None


def _first_if_title(node: LexborNode) -> LexborNode | None:
    first = node.first_child
    while first is not None and first.tag_id == TEXT:
        first = first.next
    return first if first is not None and first.tag_id in _TITLES else None


def _class(node: LexborNode) -> str:
    return node.attributes.get("class") or ""


def before(node: LexborNode) -> Iterator[LexborNode]:
    """The elements before one, the nearest first."""
    one = node.prev
    while one is not None:
        if one.tag_id != TEXT:
            yield one
        one = one.prev


def _grid(table: LexborNode) -> dict[int, list[int]]:
    """Where the cells of each row begin, beside those of rows above that reach down to it."""
    found: dict[int, list[int]] = {}
    left = _MOST_PLACES
    for group in (table, *(part for part in table.iter() if part.tag_id in _ROW_GROUPS)):
        taken: dict[int, int] = {}
        """For so many more rows, by column."""
        for row in (part for part in group.iter() if part.tag_id in _ROWS):
            at, starts, below = 0, list[int](), dict[int, int]()
            for cell in row.iter():
                while at in taken:
                    at += 1
                starts.append(at)
                columns, rows = column_span(cell), row_span(cell)
                left -= columns if rows > 1 else 1
                if left < 0:
                    return {}
                if rows > 1:
                    below |= dict.fromkeys(range(at, at + columns), rows - 1)
                at += columns
            left -= len(taken)
            found[row.mem_id] = starts
            taken = {column: rows - 1 for column, rows in taken.items() if rows > 1} | below
    return found


def _spread(headings: Iterable[LexborNode]) -> Iterator[str]:
    """What each column's heading says; one may stand above several."""
    for cell in headings:
        yield from repeat(_said(cell), column_span(cell))


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
