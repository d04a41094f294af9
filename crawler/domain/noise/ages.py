"""Ages (`3 days ago`): when it was that they speak of, as closely as they say it."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from crawler.domain.noise.moving_values import dates_in, is_age

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# How units begin, in the languages in which ages are known. Months before minutes: both begin with m.
_LENGTHS = (
    (("mo", "mois", "mes"), 30.5 * _DAY),
    (("s", "sec", "sek", "seg"), _MINUTE),
    (("m", "min"), _MINUTE),
    (("h", "hour", "hr", "stund", "heure", "hora"), _HOUR),
    (("w", "week", "woche", "semain", "seman"), 7 * _DAY),
    (("d", "day", "tag", "jour", "día", "dia"), _DAY),
    (("y", "year", "yr", "jahr", "an", "año"), 365.25 * _DAY),
)
_NAMED = (
    ("yesterday", timedelta(), 2 * _DAY),
    ("night", timedelta(), 2 * _DAY),
    ("today", -_DAY / 2, 1.5 * _DAY),
    ("just", timedelta(), _HOUR),
    ("moment", timedelta(), _HOUR),
)
_COUNTED = re.compile(r"(\d+)?\s?([^\W\d_]+)")
_NO_UNITS = frozenset({"ago", "and", "at", "a", "an", "one", "y", "vor", "il", "hace", "un", "una", "une", "on"})
_NUMBERED = re.compile(r"\d|\b(?:an?|one|une?|una|eine[mr])\b", re.IGNORECASE)
_VAGUE = re.compile(r"\b(?:few|some|several)\b")
_FEW = 12


class Span(NamedTuple):
    """A time in the past, as two moments between which it lies."""

    first: datetime
    last: datetime

    def meets(self, other: "Span") -> bool:
        return self.first <= other.last and other.first <= self.last


def same_instant(old: str, old_at: datetime, new: str, new_at: datetime) -> bool:
    """Whether two ages, or an age and a date, speak of the same moment: then only the clock went on."""
    if not is_age(old) and not is_age(new):
        return False
    if not _counts(old) and not _counts(new):
        return False  # `yesterday` and `last night` are words like others
    before, after = _spans(old, old_at), _spans(new, new_at)
    return any(one.meets(other) for one in before for other in after)


def _counts(moment: str) -> bool:
    """Whether a text names a number of days or the like, or a day."""
    return bool(dates_in(moment)) or _NUMBERED.search(moment) is not None


def _spans(moment: str, at: datetime) -> list[Span]:
    if not is_age(moment):
        days = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in dates_in(moment)]
        return [Span(day - _DAY, day + 2 * _DAY) for day in days]  # of any zone
    text = moment.lower()
    for name, least, most in _NAMED:
        if name in text:
            return [Span(at - most, at - least)]
    ago, unit = _length(text)
    if not unit:
        return []
    is_vague = _VAGUE.search(text) is not None
    if is_vague and unit > _MINUTE:
        return []  # `several days` may be any
    # Some sites round and some cut off: `2 days` are one and a half to three.
    most = ago + unit * (_FEW if is_vague else 1)
    return [Span(at - most, at - ago + unit / 2)]


def _length(text: str) -> tuple[timedelta, timedelta]:
    """The length of all parts of an age together, and the smallest unit among them."""
    ago, smallest = timedelta(), timedelta()
    for number, name in _COUNTED.findall(text):
        unit = None if name in _NO_UNITS and not number else _unit(name)
        if unit:
            ago += int(number or 1) * unit if not name.startswith("s") or unit != _MINUTE else timedelta()
            smallest = min(smallest, unit) if smallest else unit
    return ago, smallest


def _unit(name: str) -> timedelta | None:
    for starts, length in _LENGTHS:
        if name in starts or any(len(start) > 1 and name.startswith(start) for start in starts):
            return length
    return None
