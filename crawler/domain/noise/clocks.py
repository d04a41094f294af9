"""Values that follow the clock: each is the moment of its own fetch, in one and the same zone.

How much that says depends on how closely the value tells the time. A day or an hour may be what an author wrote; a
moment to the minute that is ours on both sides, and no round one, is a clock.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from crawler.domain.noise.moments import Shown, dates_in, read_digits, read_moment
from crawler.domain.noise.moving_values import ValueChange, ValueKind

SLACK = timedelta(seconds=120)
"""Between the clock of a server and ours, and until a page is here."""
_DAY = timedelta(days=1)
_DAYS = 7
_HOUR = 3600
_ROUND = 300
"""Seconds: appointments are made for such times, and crawls begin at them."""
_LEAST_APART = timedelta(hours=1)
"""Between two fetches of which a day can tell something: somewhere it is always midnight."""
_HALVES = (-9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75, 13.75)
ZONES = tuple(timedelta(hours=hours) for hours in sorted((*range(-12, 15), *_HALVES)))
"""How far local times are ahead of ours."""
_CLOCKS_CHANGE = frozenset({3, 4, 9, 10, 11})
"""Months in which clocks are put forward or back somewhere, in the night to a Sunday."""
_SUNDAY = 6
_OF_DAYS = re.compile(
    r"# (?:days?|tagen?|jours?|días?|giorni|dias|dagen|dagar|dager|dage|dni|дн\w+|дней)\b|#\s?(?:日|天|일)"
    r"|\b(?:days|tage|jours|días|giorni|dias|dagen|dagar|dni)\b[^#]{0,100}#"
)
_OF_WEEK = re.compile(
    r"\b(?:(?:calendar |iso )?week|kalenderwoche|kw|semaine|semana|settimana|vecka|uke|uge|viikko|tydzień|týden|"
    r"неделя|hafta)(?: (?:no\.?|nr\.?|n°))?[:.]? ?#|第?#\s?[週周주]"
)
_FROM_A_DAY = re.compile(
    r"\b(?:week|woche|semaine|semana|settimana|veckan?|uken?|ugen?|viikko|tydzień|týden|недел[яи]|hafta(?:sı)?)\b"
    r"[^@]{0,20}@"
)
_WEEK_STARTS = (0, 5, 6)
"""Monday, Saturday and Sunday."""
_WHOLE = re.compile(r"\d{1,6}").fullmatch


class Moments(NamedTuple):
    """When both sides were fetched; None where that is not known."""

    old: datetime | None = None
    new: datetime | None = None


class Follows(IntEnum):
    NOT = 0
    MAYBE = 1
    """Other pages or earlier versions must confirm it."""
    SURELY = 2


def follows(change: ValueChange, old_at: datetime, new_at: datetime) -> Follows:
    """Whether a value is that of its fetch on both sides."""
    at = old_at.astimezone(UTC).replace(tzinfo=None), new_at.astimezone(UTC).replace(tzinfo=None)
    sides = _read(change.kind, change.old, at[0]), _read(change.kind, change.new, at[1])
    if at[0] >= at[1]:
        return Follows.NOT
    if all(side.days and side.seconds is not None for side in sides):
        return _full(sides, at)
    if all(side.days for side in sides):
        return _day(sides, at)
    if any(side.days for side in sides) or None in (sides[0].seconds, sides[1].seconds):
        return Follows.NOT
    return _time(sides, at)


def _read(kind: ValueKind, text: str, at: datetime) -> Shown:
    """What a value shows; a date without a year is one of the time of its fetch."""
    if kind is not ValueKind.MOMENT:
        return read_digits(text)
    return read_moment(text, {(at - _DAY).year, (at + _DAY).year})


def counts_days(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether a number of days grew or fell by those that went by: `41 days without an accident`, `12 days to go`."""
    if change.kind is not ValueKind.NUMBER or not (_WHOLE(change.old) and _WHOLE(change.new)):
        return False
    if not _is_of_days(change.around):
        return False
    days, rest = divmod(new_at - old_at, _DAY)
    moved = abs(int(change.new) - int(change.old))
    return moved > 0 and moved in {days, days + bool(rest)}


def names_week(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether a number is that of the week of its fetch on both sides: `Calendar week 47`."""
    if change.kind is not ValueKind.NUMBER or not (_WHOLE(change.old) and _WHOLE(change.new)):
        return False
    both = (int(change.old), old_at), (int(change.new), new_at)
    return _is_of_week(change.around) and all(week in _weeks(at) for week, at in both)


def begins_week(change: ValueChange, old_at: datetime, new_at: datetime) -> bool:
    """Whether a date is the first day of the week of its fetch on both sides: `Week of 16 November`."""
    if change.kind is not ValueKind.MOMENT or not _FROM_A_DAY.search(change.around):
        return False
    return _is_first_day(change.old, old_at) and _is_first_day(change.new, new_at)


def years_that_ended(old_at: datetime, new_at: datetime) -> set[int]:
    """The year of the first fetch, if the second was in a later one, anywhere."""
    both = ([(at.astimezone(UTC) + zone).year for at in (old_at, new_at)] for zone in (ZONES[0], ZONES[-1]))
    return {then for then, now in both if then < now}


def _weeks(at: datetime) -> set[int]:
    """The weeks that it is at a moment, anywhere."""
    return {(at.astimezone(UTC) + zone).isocalendar().week for zone in (ZONES[0], ZONES[-1])}


def _is_first_day(text: str, at: datetime) -> bool:
    """Whether a date is the first day of the week that it is at a moment, anywhere."""
    todays = {(at.astimezone(UTC) + zone).date() for zone in (ZONES[0], ZONES[-1])}
    firsts = {day - (day.weekday() - start) % _DAYS * _DAY for day in todays for start in _WEEK_STARTS}
    return not firsts.isdisjoint(dates_in(text, {day.year for day in firsts}))


@lru_cache(maxsize=128)
def _is_of_week(around: str) -> bool:
    return _OF_WEEK.search(around) is not None


@lru_cache(maxsize=128)
def _is_of_days(around: str) -> bool:
    return _OF_DAYS.search(around) is not None


def _full(sides: tuple[Shown, Shown], at: tuple[datetime, datetime]) -> Follows:
    old, new = ([shown - at[side] for shown in sides[side].moments] for side in (0, 1))
    step = timedelta(seconds=max(side.step for side in sides))
    if any(_same_zone(one, other, step, at) for one in old for other in new):
        return Follows.MAYBE if _are_round(sides) else Follows.SURELY
    # By the hour: `10:00` as long as it is not eleven.
    hours = all((side.seconds or 0) % _HOUR == 0 for side in sides)
    return Follows.MAYBE if hours and _in_one_zone(sides, at) else Follows.NOT


def _same_zone(old: timedelta, new: timedelta, step: timedelta, at: tuple[datetime, datetime]) -> bool:
    before, after = _zones(old, SLACK + step), _zones(new, SLACK + step)
    if any(zone in after for zone in before):
        return abs(old - new) <= SLACK / 2 + step
    hour = timedelta(hours=1)
    return _may_change_clocks(*at) and any(abs(one - other) == hour for one in before for other in after)


def _zones(ahead: timedelta, slack: timedelta) -> list[timedelta]:
    return [zone for zone in ZONES if abs(ahead - zone) <= slack]


def _may_change_clocks(old_at: datetime, new_at: datetime) -> bool:
    days = (old_at + timedelta(days=day) for day in range(min((new_at - old_at).days, 7) + 2))
    return any(day.weekday() == _SUNDAY and day.month in _CLOCKS_CHANGE for day in (old_at, new_at, *days))


def _in_one_zone(sides: tuple[Shown, Shown], at: tuple[datetime, datetime]) -> bool:
    def fits(zone: timedelta) -> bool:
        local = [(moment + zone).replace(minute=0, second=0, microsecond=0) for moment in at]
        return all(hour in side.moments for hour, side in zip(local, sides, strict=True))

    return any(map(fits, ZONES))


def _day(sides: tuple[Shown, Shown], at: tuple[datetime, datetime]) -> Follows:
    if at[1] - at[0] < _LEAST_APART or any(side.seconds is not None for side in sides):
        return Follows.NOT

    def fits(zone: timedelta) -> bool:
        return all((moment + zone).date() in side.days for moment, side in zip(at, sides, strict=True))

    return Follows.MAYBE if any(map(fits, ZONES)) else Follows.NOT


def _time(sides: tuple[Shown, Shown], at: tuple[datetime, datetime]) -> Follows:
    """A mere time of the day must be as far from ours as it was."""
    ahead = [timedelta(seconds=side.seconds or 0) - _of_day(moment) for side, moment in zip(sides, at, strict=True)]
    is_zone = _is_zone(ahead)
    if abs(_apart(ahead[1] - ahead[0])) > SLACK:
        return Follows.NOT
    if abs(_apart(_of_day(at[1]) - _of_day(at[0]))) <= 2 * SLACK:
        # At the same time of another day a clock says nothing: any small edit would look like one.
        return Follows.MAYBE if is_zone and at[1] - at[0] < _LEAST_APART else Follows.NOT
    to_the_second = all(side.step == 1 for side in sides) and not _are_round(sides)
    return Follows.SURELY if to_the_second and is_zone else Follows.MAYBE


def _is_zone(ahead: Iterable[timedelta]) -> bool:
    return all(any(abs(_apart(one - zone)) <= SLACK for zone in ZONES) for one in ahead)


def _are_round(sides: tuple[Shown, Shown]) -> bool:
    return all((side.seconds or 0) % _ROUND == 0 for side in sides)


def _of_day(at: datetime) -> timedelta:
    return timedelta(hours=at.hour, minutes=at.minute, seconds=at.second)


def _apart(span: timedelta) -> timedelta:
    """The shorter way around the day."""
    return (span + _DAY / 2) % _DAY - _DAY / 2
