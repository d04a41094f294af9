"""Weeks and months as tables name them, in texts that say nothing else: `W30 2027`, `KW 30`, `2027-W30`, `Jul 2027`."""

import re
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from crawler.domain.noise.moments import month_in

LONGEST = 30
"""Characters of a text that names a period."""
_WEEK = (
    r"(?:w|wk|cw|(?:calendar |iso )?week|kw|kalenderwoche|woche|semaine|semana|settimana|vecka|uke|uge|viikko|tydzień|"
    r"týden|неделя|hafta)"
)
_YEAR = r"(?:19|20)\d\d"
_A_WEEK = re.compile(
    rf"(?:({_YEAR})[ /-]?)?{_WEEK}\.?[ -]?(\d{{1,2}})(?:(?:, |[ /-])({_YEAR}))?", re.IGNORECASE
).fullmatch
_A_MONTH = re.compile(rf"({_YEAR})[-/.](\d\d)|(\d\d)[-/.]({_YEAR})").fullmatch
_DAYS = timedelta(days=7)
_MONTHS = 12
_HALF_A_YEAR = 26


class Unit(StrEnum):
    WEEK = "week"
    MONTH = "month"


class Period(NamedTuple):
    unit: Unit
    number: int
    """Its number among all weeks, or months, since the year 1."""


def read_period(text: str, today: date) -> Period | None:
    """The week or month that is all a text names. A week without a year is the one nearest to today."""
    if len(text) > LONGEST:
        return None
    if found := _A_WEEK(text):
        years = {int(year) for year in (found[1], found[3]) if year}
        return _week(years, int(found[2]), today) if len(years) <= 1 else None
    if found := _A_MONTH(text):
        return _month(int(found[1] or found[4]), int(found[2] or found[3]))
    named = month_in(text)
    return _month(named[0], named[1]) if named and named[0] else None


def period_of(day: date, unit: Unit) -> Period:
    """The week, or the month, of a day."""
    return Period(unit, (day.toordinal() - 1) // 7 if unit is Unit.WEEK else day.year * _MONTHS + day.month - 1)


def _week(years: set[int], number: int, today: date) -> Period | None:
    weeks = [period_of(first, Unit.WEEK) for year in years or _near(today) if (first := _monday(year, number))]
    nearest = period_of(today, Unit.WEEK).number
    return min(weeks, key=lambda week: abs(week.number - nearest), default=None)


def _near(today: date) -> set[int]:
    return {(today + days).year for days in (-_HALF_A_YEAR * _DAYS, timedelta(), _HALF_A_YEAR * _DAYS)}


def _monday(year: int, week: int) -> date | None:
    try:
        return date.fromisocalendar(year, week, 1)
    except ValueError:
        return None


def _month(year: int, number: int) -> Period | None:
    return period_of(date(year, number, 1), Unit.MONTH) if 1 <= number <= _MONTHS else None
