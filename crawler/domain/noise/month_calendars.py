"""A calendar that always shows the month in which the page is fetched: when that ends, it shows the next one.

It is known by what nobody writes by hand: a line for each day of the month, all in a row, with the name of the month
beside them, and both are those of the fetch, on both sides. What stands beside a day is compared as ever; so is a
calendar with a line between its days.
"""

import calendar
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.clocks import ZONES, Moments
from crawler.domain.noise.moments import month_in

_SHORTEST = 28
_NEAR_BEFORE, _NEAR_AFTER = 12, 3
"""Lines between the days and the names of months: those of the week stand there, too."""
_MONTHS = 12
_DAYS = frozenset(map(str, range(1, 32)))


class _Month(NamedTuple):
    year: int
    number: int

    @property
    def days(self) -> int:
        return calendar.monthrange(*self)[1]

    def neighbour(self, by: int) -> "_Month":
        year, number = divmod(self.year * _MONTHS + self.number - 1 + by, _MONTHS)
        return _Month(year, number + 1)


class _Shown(NamedTuple):
    """The calendar of one page."""

    month: _Month
    first: int
    """Its first line with a day. Days of the month before may stand there."""
    end: int


def without_month_calendar(
    edits: Sequence[BlockEdit], pages: tuple[PageBlocks, PageBlocks], moments: Moments
) -> list[BlockEdit]:
    """Edits without those that only make the calendar of one month that of another."""
    if not edits or moments.old is None or moments.new is None:
        return list(edits)
    shown = _shown(pages[0], moments.old), _shown(pages[1], moments.new)
    if shown[0] is None or shown[1] is None or shown[0].month == shown[1].month:
        return list(edits)
    turned = _Turned(pages, (shown[0], shown[1]))
    return [edit for edit in edits if not turned.explains(edit)]


class _Turned:
    """A calendar whose page was turned."""

    def __init__(self, pages: tuple[PageBlocks, PageBlocks], shown: tuple[_Shown, _Shown]) -> None:
        self._shown = shown
        days = [range(one.first, one.end) for one in shown]
        self._days = [Counter(map(page.block, lines)) for page, lines in zip(pages, days, strict=True)]
        self._names = [Counter(map(page.block, _near(page, one))) for page, one in zip(pages, shown, strict=True)]
        self._all = [_counted(page) for page in pages]

    def explains(self, edit: BlockEdit) -> bool:
        sides = list(enumerate(edit))
        if all(block is None or self._is_day(side, block) for side, block in sides):
            return True
        return all(block and self._is_name(side, block) for side, block in sides) and self._name_alike(edit)

    def _is_day(self, side: int, block: Block) -> bool:
        """Whether a line is a day of the calendar, and no line like it went or came elsewhere."""
        elsewhere = [all_[block] - days[block] for all_, days in zip(self._all, self._days, strict=True)]
        return block in self._days[side] and elsewhere[0] == elsewhere[1]

    def _is_name(self, side: int, block: Block) -> bool:
        """Whether a line stands beside the calendar, and nowhere else."""
        return block in self._names[side] and self._all[side][block] == self._names[side][block]

    def _name_alike(self, edit: BlockEdit) -> bool:
        """Whether both sides name the month of the calendar, or that before it, or the next."""
        old, new = (month_in(block.text) if block else None for block in edit)
        if not old or not new:
            return False
        before, after = self._shown
        return any(_is(old, before.month.neighbour(by)) and _is(new, after.month.neighbour(by)) for by in (0, -1, 1))


def _shown(page: PageBlocks, at: datetime) -> _Shown | None:
    """The only calendar of a page, if it is that of the month of the fetch and says so."""
    runs = list(_runs(page.lines))
    if len(runs) != 1:
        return None
    first, end = runs[0]
    local = [at.astimezone(UTC) + zone for zone in (ZONES[0], ZONES[-1])]
    months = [month for month in sorted({_Month(one.year, one.month) for one in local}) if month.days == end - first]
    for month in months:
        shown = _Shown(month, _back(page.lines, first, month.neighbour(-1).days), _on(page.lines, end))
        if any(name and _is(name, month) for name in (month_in(page.lines[at]) for at in _near(page, shown))):
            return shown
    return None


def _runs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lines that count from one to the length of a month."""
    for first in (at for at, line in enumerate(lines) if line == "1"):
        end = _on(lines, first)
        if end - first >= _SHORTEST:
            yield first, end


def _on(lines: Sequence[str], first: int) -> int:
    """Where lines end that count from one."""
    end = first
    while end < len(lines) and lines[end] == str(end - first + 1):
        end += 1
    return end


def _back(lines: Sequence[str], first: int, last_day: int) -> int:
    """Where lines begin that count up to the last day of the month before."""
    start, day = first, last_day
    while start > 0 and day > 0 and lines[start - 1] == str(day):
        start, day = start - 1, day - 1
    return start


def _near(page: PageBlocks, shown: _Shown) -> list[int]:
    """The lines right before and after the days."""
    before = range(max(shown.first - _NEAR_BEFORE, 0), shown.first)
    return [*before, *range(shown.end, min(shown.end + _NEAR_AFTER, len(page)))]


def _counted(page: PageBlocks) -> "Counter[Block]":
    """All lines of a page that may be of a calendar, a day or the name of a month."""
    return Counter(page.block(at) for at, line in enumerate(page.lines) if line in _DAYS or month_in(line))


def _is(name: tuple[int | None, int], month: _Month) -> bool:
    year, number = name
    return number == month.number and year in (None, month.year)
