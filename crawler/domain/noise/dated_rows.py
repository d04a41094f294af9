"""Rows of dates on a page: lines at one place that each name a day, forward or back, one after the other."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.late_pattern import late
from crawler.domain.noise.moments import DATE, WEEKDAY, dates_in

FEWEST = 3
WORKING_WEEK = 5
_LONGEST = 80
"""Characters of a line that is a date and hardly more."""
_LONGEST_ROW = 400
_NEAR = 45
"""Days between the fetch and the first date of a row."""
ONE_DAY = timedelta(days=1)
WEEK_STARTS = (0, 5, 6)
"""Monday, Saturday and Sunday."""
_LEAP_YEAR = 2000
"""Stands for any year, where none is written."""
# Elements without a blank between them make one word: `Mon16`.
ANY_DATE = late(rf"(?<!\d)(?:{DATE})(?!\w)", re.IGNORECASE)
_WEEKDAY = late(rf"\b{WEEKDAY}", re.IGNORECASE)
_DAY_AND_MONTH = re.compile(r"(?<![\d.,:/-])(\d{1,2})([./-])(\d{1,2})(?:\.|(?![\d:/]|[.,]\d))")
_BARE_DAY = re.compile(r"(?<![\d.,:/-])(\d{1,2})(?:\.|st|nd|rd|th)?(?![\d:/-]|[.,]\d)")
LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
_MARK = "@"
Reading = tuple[int | None, int | None, int]
"""Year, month and day; None where a line does not say."""


class Dated(NamedTuple):
    """A line with one date."""

    block: Block
    at: int
    """Which line of the page it is."""
    readings: tuple[Reading, ...]
    rest: str
    """The line without the date."""
    alone: str
    """The same without the name of the day, as far as we know it."""

    def may_be(self, day: date) -> bool:
        return any((year or day.year, month or day.month, one) == (day.year, day.month, day.day)
                   for year, month, one in self.readings)  # fmt: skip

    @property
    def is_bare(self) -> bool:
        """Whether it has the number of the day alone, which beside other words may be one of anything."""
        return self.readings[0][1] is None and LETTER.search(self.rest) is not None


class Row(NamedTuple):
    """Days in a row, forward or back."""

    lines: tuple[Dated, ...]
    first: date
    step: int

    def day(self, number: int) -> date:
        return self.first + number * self.step * ONE_DAY

    @property
    def ends(self) -> tuple[date, date]:
        """The earliest day and the latest one."""
        both = sorted((self.first, self.day(len(self.lines) - 1)))
        return both[0], both[1]

    @property
    def is_week(self) -> bool:
        """Whether it begins with a week, and goes on to its last working day."""
        return len(self.lines) >= WORKING_WEEK and self.ends[0].weekday() in WEEK_STARTS

    def numbers(self) -> dict[date, int]:
        return {self.day(number): number for number in range(len(self.lines))}

    @property
    def by_weekday(self) -> set[tuple[int, str]]:
        return {(self.day(number).weekday(), line.rest) for number, line in enumerate(self.lines)}


def rows_of_dates(page: PageBlocks, place: str, at: datetime) -> Iterator[Row]:
    lines = [line for number in page.at(place) if (line := read_dated(page.block(number), number))]
    start = 0
    while start < len(lines):
        row = _longest(lines[start : start + _LONGEST_ROW], at.date())
        if row is None:
            start += 1
            continue
        yield row
        start += len(row.lines)


def _longest(lines: Sequence[Dated], today: date) -> Row | None:
    """The longest row that begins with the first line; of several, that which begins nearest to the fetch."""
    near = sorted((today + number * ONE_DAY for number in range(-_NEAR, _NEAR + 1)), key=lambda day: abs(day - today))
    best: Row | None = None
    for first in (day for day in near if lines[0].may_be(day)):
        for step in (1, -1):
            length = next(
                (n for n, line in enumerate(lines) if not line.may_be(first + n * step * ONE_DAY)), len(lines)
            )
            if length >= max(FEWEST, len(best.lines) + 1 if best else 0):
                best = Row(tuple(lines[:length]), first, step)
    return best


def read_dated(block: Block, at: int = 0) -> Dated | None:
    text = block.text
    if len(text) > _LONGEST or not _DIGIT.search(text):
        return None
    found, readings = _read_date(text)
    if found is None or not readings:
        return None
    rest, alone = (f"{before}{_MARK}{text[found.end() :]}" for before in _before(text, found.start()))
    return Dated(block, at, readings, rest, alone)


def _before(text: str, start: int) -> tuple[str, str]:
    """What stands before the date, as it is and without the name of the day."""
    before = text[:start]
    named = [one for one in _WEEKDAY.finditer(text) if one.end() <= start]
    if not named or LETTER.search(before[named[-1].end() :]):
        return before, before
    return before, before[: named[-1].start()]


def _read_date(text: str) -> tuple[re.Match[str] | None, tuple[Reading, ...]]:
    """The only date of a line, and how it can be read."""
    if found := list(ANY_DATE.finditer(text)):
        days = dates_in(found[0][0], {_LEAP_YEAR}) if len(found) == 1 and ":" not in found[0][0] else []
        readings = [(None if day.year == _LEAP_YEAR else day.year, day.month, day.day) for day in days]
        return found[0], tuple(readings) if len(readings) <= 2 else ()
    if found := list(_DAY_AND_MONTH.finditer(text)):
        one, other = int(found[0][1]), int(found[0][3])
        return found[0], ((None, other, one), (None, one, other)) if len(found) == 1 else ()
    found = list(_BARE_DAY.finditer(text))
    return (found[0], ((None, None, int(found[0][1])),)) if len(found) == 1 else (None, ())
