"""Which cells of a table, or of rows like one, vary by themselves: a price beside a counter reads like it.

A cell is known by its column, by what the column's heading says, by the first cell of its row, and by what the table is
called. Only what was seen to stay in one column, row or table while it varied in another keeps them apart.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.moving_values import LONGEST_LINE, skeleton

MOST_TEXT = 300
MOST_ROWS = 50
"""Rows that a rule names; with more of them it holds for all."""
MOST_TABLES = 20
"""The same of tables."""
MOST_PROPERTIES = 12
"""A longer list of names and values is one of items."""
_NO_DIGIT = re.compile(r"[^0-9]+")


def line_words(text: str) -> str:
    """How a line reads, with marks for its values."""
    return skeleton(text).words[:MOST_TEXT]


class Cell(NamedTuple):
    """Where a line stands in a table."""

    column: int
    heading: str
    row: str
    table: str


class Cells(NamedTuple):
    """The cells that a rule holds for."""

    columns: tuple[int, ...] = ()
    headings: tuple[str, ...] = ()
    """"" is the heading of a table without headings; none are all."""
    rows: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()

    def hold(self, edit: BlockEdit) -> bool:
        """Whether both sides of an edit stand in one of these cells."""
        return all(block is None or self.have(block) for block in (edit.removed, edit.added))

    def have(self, cell: Block | Cell) -> bool:
        return (
            (not self.columns or cell.column in self.columns)
            and (not self.headings or cell.heading in self.headings)
            and (not self.rows or cell.row in self.rows)
            and (not self.tables or cell.table in self.tables)
        )

    @property
    def name_it(self) -> bool:
        """Whether words of the table say what stands there."""
        return any(self.headings) or bool(self.rows) or any(any(map(str.isalpha, table)) for table in self.tables)


class Columns:
    """In which cells lines of one place stand, by how they read, and in which of them values varied."""

    def __init__(self) -> None:
        self._seen: dict[str, set[int]] = defaultdict(set)
        self._varied: dict[str, set[Cell | None]] = defaultdict(set)
        self._stayed: dict[str, set[Cell]] = defaultdict(set)

    def saw(self, looks: Sequence[Sequence[Block]]) -> None:
        """Take in the blocks at the place on one page, in all looks, the earliest first.

        What was the same in two looks that followed each other stayed: an edit may lie before or after them. Only in a
        column of nothing but counters a row that moved once is one more of them, though nobody came for a while.
        """
        pages = [{cell: block.text for block in blocks if (cell := _cell(block))} for blocks in looks]
        shown = {cell: [page.get(cell) for page in pages] for cell in pages[1]}
        moved = [(cell, texts) for cell, texts in shown.items() if len(set(texts)) > 1]
        others = {cell[:2] for cell, texts in moved if not _grew(texts)}
        for cell, texts in shown.items():
            line = line_words(pages[1][cell])
            self._seen[line].add(cell.column)
            if len(set(texts)) == 1 or (cell[:2] in others and any(one == two for one, two in pairwise(texts))):
                self._stayed[line].add(cell)

    def varied(self, edit: BlockEdit) -> None:
        if edit.removed:
            self._varied[line_words(edit.removed.text)].add(_cell(edit.removed))

    def apart(self, line: str, *, kind: bool = False, said: bool = False) -> list[Cells]:
        """The cells in which such lines varied, as far as there are others in which they never did.

        `kind`: the class of the value says what kind it is, as in a list of topics with their views. That holds for
        all items of a list, but not for a few properties of one thing, which are of one class only by their looks.
        `said`: the line's own words say what varies.
        """
        varied = self._varied[line]
        known = {cell for cell in varied if cell is not None}
        if not known or known != varied:
            return [Cells()]
        together = self._named(line, known, kind=kind, said=said)
        if said or not self._takes_others(line, together, known):
            return [together]
        # The second column of one table and the third of another are not both live in each of them.
        columns = sorted({cell[:2] for cell in known})
        parts = [{cell for cell in known if cell[:2] == column} for column in columns]
        return [self._by_rows(self._named(line, part, kind=kind), part) for part in parts]

    def _named(self, line: str, known: set[Cell], *, kind: bool, said: bool = False) -> Cells:
        columns = {cell.column for cell in known}
        apart = tuple(sorted(columns)) if self._seen[line] - columns else ()
        if said:
            return Cells(apart)
        is_list = kind and len(known | self._stayed[line]) > MOST_PROPERTIES
        if is_list:
            return Cells(apart)
        tables = self._tables(line, known)
        rows = self._rows(line, known, tables)
        headings = () if kind else tuple(sorted({cell.heading for cell in known}))
        return Cells(apart, headings, rows, tables)

    def _tables(self, line: str, known: Iterable[Cell]) -> tuple[str, ...]:
        """The tables in which such cells varied, if they stayed in others; none are all."""
        columns, tables = {cell[:2] for cell in known}, {cell.table for cell in known}
        others = any(cell[:2] in columns and cell.table not in tables for cell in self._stayed[line])
        return tuple(sorted(tables)) if others and len(tables) <= MOST_TABLES else ()

    def _takes_others(self, line: str, cells: Cells, known: set[Cell]) -> bool:
        """Whether these are also cells that stayed, in columns in which no value of theirs was seen to vary."""
        columns = {cell[:2] for cell in known}
        return any(cell[:2] not in columns and cells.have(cell) for cell in self._stayed[line])

    def _rows(self, line: str, known: Iterable[Cell], tables: Sequence[str]) -> tuple[str, ...]:
        """The rows that varied, if others in the same columns stayed; none are all."""
        columns, rows = {cell[:2] for cell in known}, {cell.row for cell in known}
        stayed = (cell for cell in self._stayed[line] if not tables or cell.table in tables)
        others = any(cell[:2] in columns and cell.row not in rows for cell in stayed)
        return _names(rows) if others else ()

    @staticmethod
    def _by_rows(cells: Cells, known: Iterable[Cell]) -> Cells:
        """A column without a heading is known by its rows."""
        return cells if cells.name_it else cells._replace(rows=_names({cell.row for cell in known}))


def _names(rows: set[str]) -> tuple[str, ...]:
    """Rows as a rule names them; none if they have no names, or too many."""
    return tuple(sorted(rows)) if all(rows) and len(rows) <= MOST_ROWS else ()


def _grew(texts: Iterable[str | None]) -> bool:
    """Whether the number in a cell never fell, as that of views."""
    numbers = [int(digits) if (digits := _NO_DIGIT.sub("", text or "")) else -1 for text in texts]
    return numbers == sorted(numbers)


def _cell(block: Block) -> Cell | None:
    if block.column is None or len(block.text) > LONGEST_LINE:
        return None
    return Cell(block.column, block.heading, block.row, block.table)
