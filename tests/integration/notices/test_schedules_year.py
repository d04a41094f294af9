"""A simulated year of schedules, through the real store: no slot is missed, none is run twice."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from crawler.domain.notices.schedule import Schedule
from crawler.handlers.notices.run_schedules import RunSchedules
from tests.integration.live_engine import Engine

pytestmark = pytest.mark.slow

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
# Both hold a day on which clocks go forward and one on which they go back.
SPRING = datetime(2026, 3, 5, tzinfo=UTC), timedelta(days=33)
AUTUMN = datetime(2026, 10, 1, tzinfo=UTC), timedelta(days=33)
# Times that their zones skip in spring, or have twice in autumn.
PLACES = [
    ("America/New_York", "02:30"),
    ("Australia/Lord_Howe", "01:45"),
    ("Asia/Kathmandu", "00:00"),
    ("UTC", "23:59"),
]


class Started:
    """Takes the place of StartCrawl: which run was asked for, by its key."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, _: UUID, *, idempotency_key: str, **__: Any) -> Any:
        self.keys.append(idempotency_key)
        return type("Crawl", (), {"id": uuid4()})


class NoEntries:
    def mirror(self, schedule: Schedule) -> None: ...
    def remove(self, project_id: UUID) -> None: ...


def moments(zone: str, time: str) -> set[datetime]:
    """By plain arithmetic with the clock on the wall: once a local day, right after a gap that swallows it."""
    hour, minute = map(int, time.split(":"))
    found = set()
    for number in range(-2, 368):
        day = date(2026, 1, 1) + timedelta(days=number)
        wall = datetime(day.year, day.month, day.day, hour, minute, tzinfo=ZoneInfo(zone))
        moment = wall.astimezone(UTC)
        back = moment.astimezone(ZoneInfo(zone))
        while (back.hour, back.minute) != (hour, minute):  # it does not exist on this day
            moment -= timedelta(minutes=1)
            earlier = moment.astimezone(ZoneInfo(zone))
            if earlier.replace(tzinfo=None) < wall.replace(tzinfo=None):
                moment += timedelta(minutes=1)
                break
        if NEW_YEAR < moment <= NEW_YEAR + YEAR:
            found.add(moment)
    return found


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("begin", "length"),
    [SPRING, AUTUMN, pytest.param(NEW_YEAR, YEAR, marks=pytest.mark.long)],
    ids=["spring", "autumn", "all of it"],
)
def test_in_a_year_no_slot_is_missed_and_none_is_run_twice(crawler: Engine, begin: datetime, length: timedelta) -> None:
    rng = Random(20260101)
    tools, started, now, end = crawler.tools, Started(), begin, begin + length
    tools.notices.set_schedule._clock = lambda: now
    expected: dict[str, set[datetime]] = {}
    for zone, time in PLACES:
        project = crawler.project("http://example.org/")
        daily = {"enabled": True, "frequency": "daily", "time": time, "timezone": zone}
        expected[str(tools.notices.set_schedule(project.id, daily).id)] = {
            moment for moment in moments(zone, time) if begin < moment <= end
        }
    runners = [RunSchedules(tools.notices.schedules, started, NoEntries(), lambda: now) for _ in range(2)]  # type: ignore[arg-type]
    with tools.database.begin() as db:
        db.exec_driver_sql(f"ALTER DATABASE {tools.database.url.database} SET synchronous_commit = off")
    tools.database.dispose()  # new connections need not wait for the disk
    while (due := _next(crawler)) <= end:
        now = due + _delay(rng)
        for run in runners[: 1 + (rng.random() < 0.1)]:
            run()
    runs: dict[str, list[datetime]] = {name: [] for name in expected}
    for key in started.keys:
        _, schedule, slot = key.split(":", 2)
        runs[schedule].append(datetime.fromisoformat(slot))
    for name, slots in runs.items():
        done = [slot for slot in slots if slot <= end]
        assert len(done) == len(set(done)), "none twice"
        assert set(done) == expected[name], "none missed"


def _delay(rng: Random) -> timedelta:
    """Never a whole day: of days that were slept through one is made up for, and that is another test."""
    if rng.random() < 0.05:
        return timedelta(hours=rng.uniform(1, 20))
    return timedelta(seconds=rng.uniform(0, 15))


def _next(engine: Engine) -> datetime:
    (row,) = engine.rows("SELECT min(next_run_at) AS at FROM crawl_schedules")
    found: datetime = row["at"]
    return found


def test_the_arithmetic_knows_gaps_and_repeated_hours() -> None:
    found: Callable[[str, str], list[datetime]] = lambda zone, time: sorted(moments(zone, time))  # noqa: E731
    assert datetime(2026, 3, 8, 7, tzinfo=UTC) in found("America/New_York", "02:30"), "3:00 there, when 2:30 is not"
    assert len(found("America/New_York", "01:30")) == 365
    assert datetime(2026, 10, 3, 15, 30, tzinfo=UTC) in found("Australia/Lord_Howe", "02:10"), "2:30 there"
