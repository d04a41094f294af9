"""Weeks or months along the top of a table that go on with the clock, as statistics show them.

Nobody writes them by hand: three and more in a row, which end with the period of the fetch both times. One that goes
takes its column with it, and one that comes brings a count of what happened in it so far. Both pages are read without
those columns; all that is left is compared as ever. So what was counted in a period that stayed is told when it is
another number, and so are words and prices, and whatever stands under a period that is still to come.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.clocks import ZONES, Moments
from crawler.domain.noise.periods import LONGEST, Period, Unit, period_of, read_period

FEWEST = 3
MOST_TABLES = 50
"""With periods that moved, of one page; further ones are compared as they are."""
_NUMBERED = re.compile(r"\d").search
_COUNT = re.compile(r"\d{1,9}").fullmatch
_NONE = frozenset({"0", "-", "–", "—"})


class _Row(NamedTuple):
    """A row below the periods, with one line in each of their columns."""

    lines: tuple[int, ...]
    """All its lines."""
    cells: dict[int, int]
    """Its lines by the columns of the periods."""


class _Table(NamedTuple):
    """A table with periods in a row along its top."""

    page: PageBlocks
    heads: dict[int, int]
    """The lines that name a period, by it."""
    columns: dict[int, int]
    """Where each period stands."""
    unit: Unit
    is_back: bool
    """Whether the latest one stands first."""
    rows: dict[tuple[str, int], _Row]
    """The rows below, by what their first cell says, and how many before them say the same."""

    @property
    def ends(self) -> tuple[int, int]:
        return min(self.heads), max(self.heads)

    def text(self, row: _Row, period: int) -> str:
        return self.page.lines[row.cells[self.columns[period]]]


def without_moved_periods(
    pages: tuple[PageBlocks, PageBlocks], moments: Moments, is_counted: Callable[[str], bool] = lambda _: False
) -> tuple[PageBlocks, PageBlocks] | None:
    """Both pages without the periods that went and came, and their columns; None where none did.

    `is_counted`: whether the lines of a place are known by their numbers, so that none may be left out.
    """
    if moments.old is None or moments.new is None or moments.old >= moments.new:
        return None
    at = moments.old.astimezone(UTC), moments.new.astimezone(UTC)
    if not _may_have_moved(pages, at[1].date()):
        return None
    old, new = (list(_tables(page, moment.date())) for page, moment in zip(pages, at, strict=True))
    if len(old) != len(new):
        return None
    left_out: tuple[set[int], set[int]] = (set(), set())
    for both in list(zip(old, new, strict=True))[:MOST_TABLES]:
        found = _left_out(*both, at) if _went_on(*both, at) else (set(), set())
        places = {page.block(number).place for page, some in zip(pages, found, strict=True) for number in some}
        if not any(map(is_counted, places)):
            left_out[0].update(found[0])
            left_out[1].update(found[1])
    if not any(left_out):
        return None
    return pages[0].without_lines(left_out[0]), pages[1].without_lines(left_out[1])


def _may_have_moved(pages: tuple[PageBlocks, PageBlocks], today: date) -> bool:
    """Most pages have no such line; this is asked of all that changed."""
    differ = set(pages[0].lines) ^ set(pages[1].lines)
    return any(len(line) <= LONGEST and _NUMBERED(line) and read_period(line, today) for line in differ)


def _tables(page: PageBlocks, today: date) -> Iterator[_Table]:
    for rows in page.tables:
        found = next((found for row in rows[:2] if (found := _periods(page, row, today))), None)
        if found is None:
            continue
        periods, lines = found
        columns = {period.number: page.block(at).column or 0 for period, at in zip(periods, lines, strict=True)}
        heads = {period.number: at for period, at in zip(periods, lines, strict=True)}
        below = [row for row in rows if row[0] > lines[-1]]
        is_back = periods[0].number > periods[-1].number
        yield _Table(page, heads, columns, periods[0].unit, is_back, dict(_rows(page, below, set(columns.values()))))


def _periods(page: PageBlocks, row: Sequence[int], today: date) -> tuple[list[Period], list[int]] | None:
    """The periods of a row, one after the other, and their lines; None where there is anything between them."""
    named = [(at, period) for at in row if (period := read_period(page.lines[at], today))]
    if len(named) < FEWEST or named[-1][0] - named[0][0] != len(named) - 1:
        return None
    lines, periods = [at for at, _ in named], [period for _, period in named]
    columns = [page.block(at).column for at in lines]
    steps = {(one.unit, other.number - one.number) for one, other in zip(periods[1:], periods, strict=False)}
    is_row = None not in columns and len(set(columns)) == len(columns)
    is_one_unit = len({period.unit for period in periods}) == 1
    return (periods, lines) if is_row and is_one_unit and len(steps) == 1 and abs(next(iter(steps))[1]) == 1 else None


def _rows(page: PageBlocks, rows: Sequence[Sequence[int]], columns: set[int]) -> Iterator[tuple[tuple[str, int], _Row]]:
    """Rows with one line in each column: where a cell is empty, or wider, nobody knows which period it is of."""
    seen: Counter[str] = Counter()
    for row in rows:
        name = page.lines[row[0]] if page.block(row[0]).column not in columns else ""
        key = name, seen[name]
        seen[name] += 1
        within = [(column, at) for at in row if (column := page.block(at).column) is not None and column in columns]
        if len(within) == len(columns) == len(dict(within)):
            yield key, _Row(tuple(row), dict(within))


def _went_on(old: _Table, new: _Table, at: tuple[datetime, datetime]) -> bool:
    """Whether periods went on as the fetches did, from that of the one to that of the other, somewhere on earth."""
    if (len(old.heads), old.unit, old.is_back) != (len(new.heads), new.unit, new.is_back) or old.ends == new.ends:
        return False
    return any(_is_of_fetch(old, new, end, at) for end in (0, 1))


def _is_of_fetch(old: _Table, new: _Table, end: int, at: tuple[datetime, datetime]) -> bool:
    """Whether both begin, or end, with the period of their fetch."""
    ends = old.ends[end], new.ends[end]
    return any(
        ends == tuple(period_of((moment + zone).date(), old.unit).number for moment in at) for zone in ZONES
    )  # fmt: skip


def _left_out(old: _Table, new: _Table, at: tuple[datetime, datetime]) -> tuple[set[int], set[int]]:
    """The lines of both pages that only went or came with their period."""
    stayed = sorted(old.heads.keys() & new.heads.keys())
    gone, come = old.heads.keys() - new.heads.keys(), new.heads.keys() - old.heads.keys()
    before, after = {old.heads[one] for one in gone}, {new.heads[one] for one in come}
    if not stayed:
        return before, after  # nothing shows that it is the same table of counts
    went_by = _is_of_fetch(old, new, 1, at)
    for key in old.rows.keys() & new.rows.keys():
        row, now = old.rows[key], new.rows[key]
        usual = {new.text(now, one) for one in stayed}
        before |= {row.cells[old.columns[one]] for one in gone}
        after |= {
            now.cells[new.columns[one]]
            for one in come
            if (went_by and _COUNT(new.text(now, one))) or {new.text(now, one)} == usual
        }
        if went_by:
            before |= _sums(old, row)
            after |= _sums(new, now)
    if went_by:
        left = [row for key, row in old.rows.items() if key not in new.rows]
        before |= {at for row in left if {old.text(row, one) for one in stayed} <= _NONE for at in row.lines}
    return before, after


def _sums(table: _Table, row: _Row) -> set[int]:
    """Lines of a row that are the sum of what it counts in all periods: they say nothing else."""
    counts = [table.page.lines[at] for at in row.cells.values()]
    if not all(map(_COUNT, counts)):
        return set()
    total = str(sum(map(int, counts)))
    others = set(row.lines[1:]) - set(row.cells.values())
    return {at for at in others if table.page.lines[at] == total}
