"""The moments of a cron expression in a zone, with the hours its clock skips and repeats.

A time that does not exist on a day comes right after the gap, one that exists twice comes once: the first. What runs
every hour anyway runs whenever the clock shows its time: not in a gap, and in a repeated hour again.
"""

from collections.abc import Iterator, Set
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import NamedTuple
from zoneinfo import ZoneInfo

from cronsim import CronSim

LARGEST_SHIFT = timedelta(hours=3)
"""No clock is put forward or back by more."""
ALL_HOURS = 24


class Moment(NamedTuple):
    at: datetime
    wall: datetime
    """What was asked for, without a zone; on a day with a gap the clock may never show it."""


def moments(
    expression: str, zone: ZoneInfo, after: datetime, hours: Set[int] = frozenset(range(ALL_HOURS))
) -> Iterator[Moment]:
    """The moments after this one, in order. CronSim knows the clock's times; which moments they are is our rule.

    Those that were asked for in other `hours` are left out, at no cost: a day may have a thousand.
    """
    begin = after.astimezone(zone).replace(tzinfo=None, fold=0)
    if _shifts(zone, after):  # what the clock has shown already it may show again
        begin -= LARGEST_SHIFT
    times = CronSim(expression, begin)
    hourly = len(times.hours) == ALL_HOURS
    times.hours &= hours
    waiting: list[Moment] = []
    last = after
    for wall in times:
        found = _moments_of(wall, zone, hourly=hourly)
        # Nothing that comes later in the wall's order comes before the first occurrence of this.
        while waiting and waiting[0].at < _first(wall, zone):
            moment = heappop(waiting)
            if moment.at > last:
                last = moment.at
                yield moment
        for moment in found:
            heappush(waiting, moment)


def _moments_of(wall: datetime, zone: ZoneInfo, *, hourly: bool) -> list[Moment]:
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if first.astimezone(zone).replace(tzinfo=None, fold=0) != wall:  # in a gap
        return [] if hourly else [Moment(_end_of_gap(wall, zone), wall)]
    return [Moment(at, wall) for at in ({first, second} if hourly else {first})]


def _first(wall: datetime, zone: ZoneInfo) -> datetime:
    at = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return at if at.astimezone(zone).replace(tzinfo=None, fold=0) == wall else _end_of_gap(wall, zone)


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """The moment the clock jumps over this time: found by halving, to the second."""
    before, after = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (1, 0))
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).replace(tzinfo=None) < wall:
            before = middle
        else:
            after = middle
    return after


def _shifts(zone: ZoneInfo, around: datetime) -> bool:
    return len({(around + shift).astimezone(zone).utcoffset() for shift in (-LARGEST_SHIFT, LARGEST_SHIFT)}) > 1
