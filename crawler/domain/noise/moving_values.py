"""Values in a line of text that go on by themselves: moments, ages, counts, tokens.

Two lines are set side by side with their values taken out. If the words that are left agree, only values changed, and
each is judged by what stands around it.
"""

import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

_MONTHS = (
    "january february march april may june july august september october november december "
    "januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre "
    "novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre januari februari maart mei augustus "
    "janeiro fevereiro março maio junho julho setembro outubro novembro dezembro "
    "jan feb mar apr jun jul aug sep sept oct nov dec okt dez ene abr ago dic"
)
_MONTH_NUMBERS = {
    name: number
    for number, names in enumerate(
        ("jan ene gen", "feb fév fev", "mar mär maa", "apr avr abr", "may mai mag mei", "jun juin giu", "jul juil lug",
         "aug août ago", "sep set", "oct okt ott out", "nov", "dec dez déc dic"), 1
    )
    for name in names.split()
}  # fmt: skip
_MONTH = f"(?:{'|'.join(sorted(set(_MONTHS.split()), key=len, reverse=True))})\\.?"
_WEEKDAY = (
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:mon|tue|wed|thu|fri|sat|sun)(?=,?\s(?:\d|[a-z]{3}\s\d))\.?)"
)
_CLOCK = r"\d{1,2}(?::|h)\d{2}(?::\d{2}(?:[.,]\d+)?)?"
_DATE = (
    r"(?:\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}/\d{2}/\d{2}|\d{4}\.\d{2}\.\d{2}"
    r"|\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}-\d{1,2}-\d{4}"
    rf"|\d{{1,2}}/\d{{1,2}}/\d{{2}}(?!\d)|\d{{1,2}}-{_MONTH}-\d{{4}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}})?"
    rf"|{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:\s{_CLOCK})?,?\s\d{{4}}|{_MONTH}\s(?:\d{{4}}|\d{{1,2}}(?:st|nd|rd|th)?)\b)"
)
_TIME = rf"(?:{_CLOCK}(?:\s?[ap]\.?m\b\.?)?(?:\s\(?(?:utc|gmt|uhr|ce?s?t|[pcem][sd]t|[+-]\d{{4}})\)?)?)"
_UNIT = r"(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|mos|months?|y|yrs?|years?)"
_ABOUT = r"(?:(?:about|around|over|almost|nearly|less\sthan|more\sthan|a\sfew|some|several)\s)?"
_AGE = (
    rf"(?:just\snow|(?:a\s)?moments?\sago|yesterday|(?<=[a-z,]\s)today(?!:|'|\sis\b)|last\s(?:night|week|month|year)"
    rf"|{_ABOUT}(?:(?:an?|one|\d+)\s?{_UNIT},?\s(?:and\s)?)?(?:(?:an?|one|\d+)\s?)?{_UNIT}\sago"
    r"|vor\s(?:\d+|eine[mr])\s\w+|il\sy\sa\s(?:\d+|une?)\s\w+|hace\s(?:\d+|una?)\s\w+)"
)
_MOMENT = rf"(?:{_AGE}|{_DATE}|{_TIME}|{_WEEKDAY})"
_VALUE = re.compile(
    rf"\b(?P<moment>{_MOMENT}(?:(?:,|\s[–—|-])?\s(?:at\s|on\s|um\s)?{_MOMENT})*)(?!\w)"
    r"|(?P<token>(?<!\w)(?<!\w\.)(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[0-9A-Za-z]+(?:[-_][0-9A-Za-z]+)*(?!\w|\.\w))"
    r"|(?P<number>(?:(?<![\w-])[-−])?\d+(?:[.,'\u202f\u00a0 ]\d{3})*(?:[.,]\d+)*)",
    re.IGNORECASE,
)
_AN_AGE = re.compile(_AGE, re.IGNORECASE)
_A_DATE = re.compile(_DATE, re.IGNORECASE)
_A_TIME = re.compile(rf"({_CLOCK})\s?([ap])?", re.IGNORECASE)
_DAY_SECONDS = 86_400
CLOCK_SLACK_SECONDS = 120
_LEAST_APART = timedelta(hours=12)
_ZONES = tuple(timedelta(hours=hours) for hours in range(-12, 15))
_PLURAL = re.compile(r"(# \w+?)s\b")
_PARTS = re.compile(r"(?<!\bno)(?<!\bnr)[.;!?]\s|[·|•]|\s[–—]\s", re.IGNORECASE)


class ValueKind(StrEnum):
    MOMENT = "moment"
    TOKEN = "token"  # noqa: S105 - a kind of text
    NUMBER = "number"


_MARKS = {ValueKind.MOMENT: "@", ValueKind.TOKEN: "#", ValueKind.NUMBER: "#"}


class ValueChange(NamedTuple):
    kind: ValueKind
    old: str
    new: str
    around: str
    """The part of the line that the value stands in, with marks for values, in small letters."""
    number: int = 0
    """Its number among the values of the line, from 0."""


class Skeleton(NamedTuple):
    words: str
    """The line with marks in place of its values."""
    values: tuple[tuple[ValueKind, str, int], ...]
    """Kind, text, and where its mark stands."""


def skeleton(text: str) -> Skeleton:
    values: list[tuple[ValueKind, str, int]] = []
    parts: list[str] = []
    length = end = 0
    for found in _VALUE.finditer(text):
        kind = ValueKind(found.lastgroup or "")
        parts += [text[end : found.start()], _MARKS[kind]]
        length += found.start() - end
        values.append((kind, found[0], length))
        length, end = length + 1, found.end()
    parts.append(text[end:])
    return Skeleton("".join(parts), tuple(values))


def value_changes(old: str, new: str) -> list[ValueChange] | None:
    """What differs, if only values do; None when words differ too."""
    before, after = skeleton(old), skeleton(new)
    if _singular(before.words) != _singular(after.words) or _places(before) != _places(after):
        return None
    pairs = enumerate(zip(before.values, after.values, strict=True))
    return [
        ValueChange(kind if kind == other else ValueKind.TOKEN, text, changed, _around(before.words, at), number)
        for number, ((kind, text, at), (other, changed, _at)) in pairs
        if text != changed
    ]


def _places(found: Skeleton) -> list[int]:
    """Which of the line's marks stand for values: a page may have such characters of its own (`Rank: #`)."""
    marks = {at: number for number, at in enumerate(at for at, letter in enumerate(found.words) if letter in "@#")}
    return [marks[at] for _, _, at in found.values]


def same_words(line: str, other: str) -> bool:
    """Whether two lines with marks for their values read alike; `1 view` and `2 views` do."""
    return line == other or _singular(line) == _singular(other)


def is_age(moment: str) -> bool:
    """`yesterday at 14:05`, too."""
    return _AN_AGE.match(moment) is not None or moment.lower().startswith("today")


def dates_in(moment: str) -> list[date]:
    """Every reading of every date in it: some are written so that day and month could be either."""
    return [day for found in _A_DATE.findall(moment) for day in _readings(found)]


def seconds_in(moment: str) -> int | None:
    """The time of day it names."""
    found = _A_TIME.search(moment)
    if found is None:
        return None
    hours, minutes, *rest = (int(number) for number in re.findall(r"\d+", found[1])[:3])
    half = {"a": 0, "p": 12}.get((found[2] or "").lower())
    hours = hours if half is None else hours % 12 + half
    return hours * 3600 + minutes * 60 + (rest[0] if rest else 0)


def runs_with_clock(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether each day shown is that of its own fetch, in one zone; a mere time must be as far from ours as it was.

    An author may write such a day, too: this alone is no evidence.
    """
    sides = ((change.old, old_at), (change.new, new_at))
    if any(dates_in(shown) for shown, _ in sides):
        times = [seconds_in(shown) for shown, _ in sides]
        if new_at - old_at < _LEAST_APART or (times[0] is not None and times[0] == times[1]):
            return False  # somewhere it is always midnight; and a day at a fixed time is an appointment
        return any(all((at + zone).date() in dates_in(shown) for shown, at in sides) for zone in _ZONES)
    ahead = [_ahead(shown, at) for shown, at in sides]
    if None in ahead or _apart(_time_of_day(old_at), _time_of_day(new_at)) <= 2 * CLOCK_SLACK_SECONDS:
        return False  # at the same time of the day a clock says nothing: any small edit would look like one
    return _apart(ahead[0] or 0, ahead[1] or 0) <= CLOCK_SLACK_SECONDS


def _apart(one: int, other: int) -> int:
    apart = abs(one - other) % _DAY_SECONDS
    return min(apart, _DAY_SECONDS - apart)


def _time_of_day(at: datetime) -> int:
    return at.hour * 3600 + at.minute * 60 + at.second


def _ahead(shown: str, at: datetime) -> int | None:
    seconds = seconds_in(shown)
    return None if seconds is None else seconds - _time_of_day(at)


def _singular(words: str) -> str:
    return _PLURAL.sub(r"\1", words)


def _around(words: str, at: int) -> str:
    start = max((found.end() for found in _PARTS.finditer(words, 0, at)), default=0)
    found = _PARTS.search(words, at)
    end = found.start() if found else len(words)
    return words[start:end].strip().lower()


def _readings(text: str) -> list[date]:
    plain = re.sub(rf"(?<=\d)T.*|\b{_CLOCK}", "", text) if ":" in text else text
    named = re.search(r"[^\W\d_]{3,}", plain)
    numbers = [int(number) for number in re.findall(r"\d+", plain)]
    if named:
        month, year = _month(named[0].lower()), max(numbers)
        days = [number for number in numbers if number != year] or range(1, 32)  # a month alone is all its days
        return _dates(*((year, month, day) for day in days)) if year > 31 else []
    if len(numbers) < 3:
        return []
    if numbers[0] > 31:
        return _dates((numbers[0], numbers[1], numbers[2]))
    first, second, year = numbers[:3]
    year += 2000 if year < 100 else 0
    return _dates((year, second, first), (year, first, second))


def _month(name: str) -> int:
    return next((number for start, number in _MONTH_NUMBERS.items() if name.startswith(start)), 0)


def _dates(*given: tuple[int, int, int]) -> list[date]:
    found = []
    for one in given:
        with suppress(ValueError):
            found.append(date(*one))
    return found
