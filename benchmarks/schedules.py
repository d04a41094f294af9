"""10,000 schedules: what a tick costs, a thousand runs due in the same minute, and a year of slots."""

import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from redbeat.schedulers import get_redis
from sqlalchemy import Table, text

from benchmarks.children import child
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from crawler.adapters.postgres import tables as t
from crawler.bootstrap import App
from crawler.domain.notices.schedule import Frequency, Schedule, ScheduleConfig
from crawler.entrypoints.processes import all_processes
from crawler.handlers.notices.run_schedules import RunSchedules
from crawler.telemetry import configure_logs
from workers.beat import BeatScheduler

TITLE = "10,000 schedules"
SCHEDULES = 10_000
DUE_AT_ONCE = 50
DUE_IN_A_MINUTE = 1_000
TICKS = 9
ZONES = ("America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
START_SECONDS = 120.0


@dataclass(frozen=True)
class Ticks:
    rebuild_seconds: float
    idle_ms: float
    beat_ms: float
    run_ms: float


@dataclass(frozen=True)
class Rush:
    due: int
    begun: int
    doubled: int
    last_row_seconds: float
    """From the minute until the last crawl's row."""
    last_start_seconds: float
    """Until the last was seeded and its first hint sent."""
    beat_lives: bool


class Year(NamedTuple):
    slots: int
    missed: int
    doubled: int


def run(options: Options) -> str:
    configure_logs("warning")
    schedules, due = options.size(SCHEDULES, 500), options.size(DUE_IN_A_MINUTE, 60)
    years = {zone: simulate_year(zone, days=options.size(365, 20)) for zone in ZONES}
    with ours(up=True) as crawler:
        projects = populate(crawler, schedules)
        ticks = measure_ticks(crawler.tools, projects, options.size(TICKS, 2))
        rush = measure_rush(crawler, projects[:due])
    return table(schedules, ticks, rush, years)


def populate(crawler: Ours, count: int) -> list[UUID]:
    """One project with a daily schedule as anybody makes it, and copies of it."""
    tools = crawler.tools
    first = crawler.project("http://127.0.0.2:9/", delay_seconds=1)
    daily = {"enabled": True, "frequency": "daily", "time": f"{datetime.now(UTC) - timedelta(hours=2):%H:%M}"}
    tools.notices.set_schedule(first.id, daily)
    with tools.database.begin() as db:
        given = {"first": first.id, "count": count - 1}
        copied = _copy(t.projects, id="gen_random_uuid()", name="gen_random_uuid()::text")
        db.execute(text(f"{copied}, generate_series(1, :count) WHERE f.id = :first"), given)
        copied = _copy(t.crawl_schedules, id="gen_random_uuid()", project_id="p.id")
        db.execute(text(f"{copied}, projects p WHERE f.project_id = :first AND p.id <> :first"), given)
        return list(db.execute(text("SELECT project_id FROM crawl_schedules ORDER BY id")).scalars())


def _copy(table: Table, **new: str) -> str:
    columns = table.columns.keys()
    values = ", ".join(new.get(name, f"f.{name}") for name in columns)
    return f"INSERT INTO {table.name} ({', '.join(columns)}) SELECT {values} FROM {table.name} f"


def measure_ticks(tools: App, projects: Sequence[UUID], times: int) -> Ticks:
    began = time.monotonic()
    tools.notices.set_schedule.rebuild_entries()
    rebuilt = time.monotonic() - began
    beat = BeatScheduler(app=tools.celery)
    beat.lock_key = None  # nobody else ticks here
    tools.celery.conf.task_send_sent_event = False  # as the real one has it
    beat.tick()
    idle = [_timed(beat.tick) for _ in range(times)]
    sent, run = [], []
    for number in range(times):
        chosen = projects[-DUE_AT_ONCE * (number + 1) :][:DUE_AT_ONCE]
        at = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=2)
        for project in chosen:
            tools.notices.beat_entries._write(project, at)
        time.sleep(max(0.0, (at - datetime.now(UTC)).total_seconds() + 0.1))
        sent.append(_timed(beat.tick))
        _make_due(tools, chosen)
        run.append(_timed(tools.notices.run_schedules))
        _end_crawls(tools)
    return Ticks(rebuilt, *(statistics.median(taken) for taken in (idle, sent, run)))


def _timed(what: Any) -> float:
    """In milliseconds."""
    began = time.perf_counter()
    what()
    return (time.perf_counter() - began) * 1000


def _make_due(tools: App, projects: Sequence[UUID], at: datetime | None = None) -> None:
    """By their own rule: their daily time is this minute's, or that of `at`."""
    slot = (at or datetime.now(UTC)).replace(second=0, microsecond=0)
    change = "UPDATE crawl_schedules SET time_of_day = :time, next_run_at = :at WHERE project_id = ANY(:ids)"
    with tools.database.begin() as db:
        db.execute(text(change), {"time": slot.time(), "at": slot, "ids": list(projects)})


def _end_crawls(tools: App) -> None:
    with tools.database.begin() as db:
        db.execute(text("DELETE FROM crawl_jobs"))
        db.execute(text("DELETE FROM schedule_slots"))


def measure_rush(crawler: Ours, projects: Sequence[UUID]) -> Rush:
    """Real beat and a real coordinator, as `crawler up` starts them."""
    tools = crawler.tools
    get_redis(tools.celery).flushdb()
    minute = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    if minute - datetime.now(UTC) < timedelta(seconds=25):  # time for beat to write its entries
        minute += timedelta(minutes=1)
    _make_due(tools, projects, minute)
    spec = next(spec for spec in all_processes(tools.settings, "127.0.0.1", 0) if spec.name == "beat")
    with child(spec.argv, env=dict(spec.env or {}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as beat:
        crawler.attend((minute - datetime.now(UTC)).total_seconds())
        until = time.monotonic() + START_SECONDS
        while (found := _starts(tools, minute))[1] < len(projects) and time.monotonic() < until:
            crawler.attend(0.5)
        lives = beat.poll() is None
    rows, begun, doubled, last_row, last_start = found
    print(f"  {rows} of {len(projects)} begun, the last after {last_row:.1f} s; started {begun} in {last_start:.1f} s")
    return Rush(len(projects), begun, doubled, last_row, last_start, lives)


def _starts(tools: App, minute: datetime) -> tuple[int, int, int, float, float]:
    query = """
        SELECT count(*), count(started_at), count(*) - count(DISTINCT project_id),
            coalesce(extract(epoch FROM max(created_at) - :minute), 0),
            coalesce(extract(epoch FROM max(started_at) - :minute), 0)
        FROM crawl_jobs WHERE crawl_type = 'scheduled'
    """
    with tools.database.begin() as db:
        rows, begun, doubled, last_row, last_start = db.execute(text(query), {"minute": minute}).one()
    return rows, begun, doubled, float(last_row), float(last_start)


class Keys:
    """Takes the place of StartCrawl."""

    def __init__(self) -> None:
        self.slots: list[datetime] = []

    def __call__(self, _: UUID, *, idempotency_key: str, **__: Any) -> Any:
        self.slots.append(datetime.fromisoformat(idempotency_key.split(":", 2)[2]))
        return type("Crawl", (), {"id": uuid4()})


class Memory:
    """Takes the place of one schedule's rows, and of its entry: the same promises, kept by a set."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self._taken: set[datetime] = set()

    def due(self, now: datetime, _: int, __: UUID | None = None) -> list[Schedule]:
        at = self.schedule.next_run_at
        return [self.schedule] if at and at <= now else []

    def take_slot(self, _: UUID, slot: datetime) -> bool:
        free = slot not in self._taken
        self._taken.add(slot)
        return free

    def plan(self, before: Schedule, after: Schedule) -> bool:
        if self.schedule != before:
            return False
        self.schedule = after
        return True

    def find(self, _: UUID) -> Schedule:
        return self.schedule

    def end_slot(self, *_: Any) -> None: ...
    def mirror(self, _: Schedule) -> None: ...
    def remove(self, _: UUID) -> None: ...


def simulate_year(zone: str, days: int) -> Year:
    """At half past each hour by the wall's clock, so that each gap and each repeated hour is met; two starters."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    end, keys = now + timedelta(days=days), Keys()
    config = ScheduleConfig(enabled=True, frequency=Frequency.CRON, cron="30 * * * *", timezone=zone)
    memory = Memory(Schedule(id=uuid4(), project_id=uuid4(), config=config).planned(now))
    starters = [RunSchedules(memory, keys, memory, lambda: now) for _ in range(2)]  # type: ignore[arg-type]
    while memory.schedule.next_run_at and memory.schedule.next_run_at < end:
        before, now = memory.schedule, memory.schedule.next_run_at + timedelta(seconds=len(keys.slots) % 15)
        starters[0].of(before.project_id)
        memory.schedule, moved = before, memory.schedule  # the other one read it at the same time
        starters[1].of(before.project_id)
        memory.schedule = moved
    # By the clock on the wall: whenever it shows half past, also for the second time, is a slot.
    wanted = {moment for moment in _quarters(end) if moment.astimezone(config.zone).minute == 30}
    return Year(len(wanted), len(wanted - set(keys.slots)), len(keys.slots) - len(set(keys.slots)))


def _quarters(end: datetime) -> list[datetime]:
    """Every quarter of an hour: by so much zones differ."""
    first = datetime(2026, 1, 1, tzinfo=UTC)
    quarters = int((end - first) / timedelta(minutes=15))
    return [first + timedelta(minutes=15 * n) for n in range(1, quarters)]


def table(schedules: int, ticks: Ticks, rush: Rush, years: dict[str, Year]) -> str:
    rows = {
        "beat writes all its entries (at its start)": f"{ticks.rebuild_seconds:.1f} s",
        "a tick of beat, nothing due": f"{ticks.idle_ms:.1f} ms",
        f"a tick of beat, {DUE_AT_ONCE} due (sent to the coordinator)": f"{ticks.beat_ms:.0f} ms",
        f"{DUE_AT_ONCE} overdue runs started by the reconciler itself": f"{ticks.run_ms:.0f} ms",
        f"{rush.due:,} due in one minute: started": f"{rush.begun:,}, {rush.doubled} twice",
        "the last crawl's row after": f"{rush.last_row_seconds:.1f} s",
        "the last crawl started after": f"{rush.last_start_seconds:.1f} s",
        "beat afterwards": "lives" if rush.beat_lives else "died",
    }
    lines = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    slots = "\n".join(f"| {zone} | {year.slots:,} | {year.missed} | {year.doubled} |" for zone, year in years.items())
    return f"""{schedules:,} enabled schedules, with real Postgres, Valkey, beat and the workers of `crawler up`.
Ticks are medians.

| | |
|---|--:|
{lines}

A year of runs at half past every hour by the wall's clock (injected clock, two starters at once):

| zone | slots | missed | run twice |
|---|--:|--:|--:|
{slots}"""
