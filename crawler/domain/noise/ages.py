"""Ages (`3 days ago`): when it was that they speak of, as closely as they say it."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from crawler.domain.late_pattern import late
from crawler.domain.noise.age_lengths import COUNT, length_of, unit_of
from crawler.domain.noise.moments import DATE, LONGEST, YEAR, dates_in, times_in
from crawler.domain.word_tries import LETTER

_UNIT = rf"{LETTER}(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?|mo|mos|months?|y|yrs?|years?)"
_COUNTED = rf"(?:{COUNT}\s?)?{_UNIT}(?:\sand\sa\s(?:half|quarter))?"
_ABOUT = rf"(?:{LETTER}(?:about|around|over|almost|nearly|less\sthan|more\sthan|a\sfew|some|several)\s)?"
_ONE = rf"(?:\d+|{LETTER}(?:eine[mr]|une?|una?|um|uma|een|en|ett|et|jeden|jedną))"
_AFTER = "fa|geleden|temu|назад|önce|sedan|siden|sitten"
AGE = (
    rf"(?:{LETTER}(?:(?:just|right)\snow|(?:a\s)?moments?\sago|yesterday|(?<=[a-z,]\s)today(?!:|'|\sis\b)|last\s(?:night|week|month|year))"
    rf"|{_ABOUT}(?:{COUNT}\s?{_UNIT},?\s(?:and\s)?)?{_COUNTED}\sago"
    rf"|{LETTER}(?:vor|il\sy\sa|hace)\s{_ONE}\s\w+|há\s{_ONE}\s(?:seg|min|hora|dia|seman|mes|mês|ano)\w*"
    rf"|(?:(?:för|for)\s)?{_ONE}\s[^\W\d_]+\.?\s(?:{_AFTER})"
    rf"|\d+\s?{LETTER}(?:秒|分钟|分鐘|分|小时|小時|時間|日|天|週間|週|周|か月|ヶ月|个月|個月|年|초|분|시간|일|주|개월|년)\s?(?:前|전))"
)
_SHORTEST_END = 3
GLUED = "|".join(rf"(?<=\s{word})" for word in ("ago", "now", *_AFTER.split("|")) if len(word) >= _SHORTEST_END)
"""Ages end here, though the name in the next element follows without a space: `3 hours agoanna`."""
_AN_AGE = late(AGE, re.IGNORECASE)
_BARE = re.compile(
    rf"{_ABOUT}(?:{COUNT}|eine?|une?|una?|uma?|een|en|ett?)\s?([^\W\d_]{{1,10}})\.?"
    + 3 * r"(?:,?\s(?:and\s|und\s|et\s|y\s|e\s)?\d{1,2}\s?([^\W\d_]{1,10})\.?)?"
    + r"(?:\s(?:old|alt|oud))?",
    re.IGNORECASE,
)
_WEEK = (
    "monday|mon|montag|lundi|lunes|lunedì|segunda-feira|maandag|måndag|mandag",
    "tuesday|tue|dienstag|mardi|martes|martedì|terça-feira|dinsdag|tisdag|tirsdag",
    "wednesday|wed|mittwoch|mercredi|miércoles|mercoledì|quarta-feira|woensdag|onsdag",
    "thursday|thu|donnerstag|jeudi|jueves|giovedì|quinta-feira|donderdag|torsdag",
    "friday|fri|freitag|vendredi|viernes|venerdì|sexta-feira|vrijdag|fredag",
    "saturday|sat|samstag|sonnabend|samedi|sábado|sabato|zaterdag|lördag|lørdag",
    "sunday|sun|sonntag|dimanche|domingo|domenica|zondag|söndag|søndag",
)
_A_WEEKDAY = re.compile(rf"(?:{'|'.join(sorted('|'.join(_WEEK).split('|'), key=len, reverse=True))})\b").match
_DATED = late(rf"(?:{DATE})\Z", re.IGNORECASE)
_WITHOUT_YEAR = re.compile(YEAR, re.IGNORECASE)
_YEAR = timedelta(days=365)
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_NAMED = (
    ("yesterday", timedelta(), 2 * _DAY),
    ("night", timedelta(), 2 * _DAY),
    ("today", -_DAY / 2, 1.5 * _DAY),
    ("just", timedelta(), _HOUR),
    ("right", timedelta(), _HOUR),
    ("moment", timedelta(), _HOUR),
)
_NUMBERED = re.compile(rf"\d|\b(?:{COUNT}|une?|una|eine[mr])\b", re.IGNORECASE)
_VAGUE = re.compile(r"\b(?:few|some|several)\b")
_FEW = 12
_LONGEST_AGO = 365_000 * _DAY


class Span(NamedTuple):
    """A time in the past, as two moments between which it lies."""

    first: datetime
    last: datetime

    def meets(self, other: "Span") -> bool:
        return self.first <= other.last and other.first <= self.last


def is_age(moment: str) -> bool:
    """`yesterday at 14:05`, too."""
    return _AN_AGE.match(moment) is not None or moment.lower().startswith("today")


def same_instant(old: str, old_at: datetime, new: str, new_at: datetime) -> bool:
    """Whether two ages, or an age and a date, speak of the same moment: then only the clock went on."""
    if not is_age(old) and not is_age(new):
        return False
    if not _counts(old) and not _counts(new):
        return False  # `yesterday` and `last night` are words like others
    if _other_times(old, new) or any(day in old.lower() and day in new.lower() for day in ("today", "yesterday")):
        return False  # `today at 19:00` and `today at 21:00`, or no time at all
    if old_at <= new_at and went_back(old, new):
        return False
    before, after = spans_of(old, old_at), spans_of(new, new_at)
    return any(one.meets(other) for one in before for other in after)


def same_day(old: str, old_at: datetime, new: str) -> bool:
    """Whether a day of the last week, by its name, or by an age, became the date of that day, or its name.

    `Friday at 14:05` became `13 November 2026`: sites write so of what lies longer back. A Friday to come is no age,
    and one that is called Friday still did not age: somebody wrote other hours.
    """
    name, told = _weekday_of(old), _weekday_of(new)
    if _other_times(old, new) or (told is not None if name is not None else not is_age(old)):
        return False
    week = [old_at.date() - days * _DAY for days in range(-1, 9)]
    if name is None:
        spans = spans_of(old, old_at)
        known = {day for day in week if any(span.meets(_whole(day)) for span in spans)}
    else:
        known = {day for day in week if day.weekday() == name}
    days = set(dates_in(new)) if told is None else {day for day in week if day.weekday() == told}
    return bool(known & days)


def gained_year(old: str, new: str, years: Iterable[int]) -> bool:
    """Whether a date without a year got one of these, and nothing else changed: sites leave out the year it is."""
    if dates_in(old) or _WITHOUT_YEAR.sub("", new, count=1).replace(",", "") != old.replace(",", ""):
        return False
    return any(dates_in(old, {year}) == dates_in(new) != [] for year in years)


def _other_times(old: str, new: str) -> bool:
    """Whether both say a time of the day, and not the same: `9:00-13:00` and `9:00-14:00`. A date may do without."""
    before, after = times_in(old), times_in(new)
    return bool(before and after) and before != after


def _whole(day: date) -> Span:
    first = datetime(day.year, day.month, day.day, tzinfo=UTC)
    return Span(first, first + _DAY)


def _weekday_of(moment: str) -> int | None:
    """The day of the week, from 0, that a moment names instead of a date."""
    found = _A_WEEKDAY(moment.lower())
    if found is None or dates_in(moment):
        return None
    return next(at for at, names in enumerate(_WEEK) if found[0] in names.split("|"))


def is_younger(old: str, new: str) -> bool:
    """Whether the second of two ages is the shorter one, however little."""
    return length_of(new.lower())[0] < length_of(old.lower())[0]


def went_back(old: str, new: str) -> bool:
    """Whether an age is shorter than it was, though said as closely: however a site rounds, no clock does that.

    `10 days` may be `1 week` later, but `3 hours` are never 2 again.
    """
    if any(_VAGUE.search(text) or dates_in(text) for text in (old, new)):
        return False
    (before, unit), (after, later_unit) = length_of(old.lower()), length_of(new.lower())
    return bool(later_unit) and later_unit <= unit and after < before


def is_bare_age(text: str) -> bool:
    """Whether a text is an age without a word that says so: `43 minutes`. It may be a mere duration, and `16 years old`
    what somebody has to be."""
    found = _BARE.fullmatch(text)
    return found is not None and all(unit_of(name.lower()) for name in found.groups() if name)


def is_bare_date(text: str) -> bool:
    """Whether a text is nothing but a day, with its year or without: `12 Nov`."""
    return len(text) <= LONGEST and _DATED.match(text) is not None


def bare_span(text: str, at: datetime) -> Span:
    """When it was that such a text speaks of. A day without its year is the last one before it was fetched."""
    if is_bare_date(text):
        days = dates_in(text) or [*dates_in(f"{text} {at.year}"), *dates_in(f"{text}, {at.year}")]
        past = [day if day <= at.date() + _DAY else day - _YEAR for day in days]
        return Span(_whole(past[0]).first - _DAY, _whole(past[0]).last + _DAY) if past else Span(at, at)
    (span,) = _ages(text.lower(), at) or [Span(at, at)]
    return span


def _counts(moment: str) -> bool:
    """Whether a text names a number of days or the like, or a day."""
    return bool(dates_in(moment)) or _NUMBERED.search(moment) is not None


def spans_of(moment: str, at: datetime) -> list[Span]:
    """Between which moments that lies which a date or an age names, in whatever zone."""
    days = [datetime(day.year, day.month, day.day, tzinfo=UTC) for day in dates_in(moment)]
    dated = [Span(day - _DAY, day + 2 * _DAY) for day in days]  # of any zone
    if not is_age(moment) or len(moment) > LONGEST:
        return dated
    named = _ages(moment.lower(), at)
    return [span for span in dated if any(map(span.meets, named))] if dated else named


def _ages(text: str, at: datetime) -> list[Span]:
    for name, least, most in _NAMED:
        if name in text:
            return [Span(at - most, at - least)]
    ago, unit = length_of(text)
    if not unit or ago > _LONGEST_AGO:
        return []
    is_vague = _VAGUE.search(text) is not None
    if is_vague and unit > _MINUTE:
        return []  # `several days` may be any
    # Some sites round and some cut off: `2 days` are one and a half to three, `1/4 hour` is up to half of one.
    most = ago + unit * (_FEW if is_vague else 1)
    return [Span(at - most, at - ago + unit / 2)]
