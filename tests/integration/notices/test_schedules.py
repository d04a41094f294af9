"""Schedules with real Postgres and real RedBeat entries: each slot once, late ones once, none for nothing."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from redbeat import RedBeatSchedulerEntry
from redbeat.schedulers import get_redis

from crawler.adapters.notices.beat_entries import BeatEntries
from crawler.adapters.operating.celery_app import make_celery
from crawler.domain import judging
from crawler.domain.crawls.crawl import CrawlStatus, CrawlType
from crawler.errors import InvalidConfig, NotFound
from crawler.handlers.notices.recover_schedules import BEAT_GRACE
from crawler.handlers.notices.run_schedules import AT_ONCE, FEW, LONGEST_TICK, RunSchedules
from crawler.handlers.notices.set_schedule import Reach, SetSchedule
from tests.integration.live_engine import Engine
from workers.beat import BeatScheduler

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


class Desk:
    """Schedules under a clock of their own."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.tools = engine, engine.tools
        self.now = NOON
        tools = self.tools
        reach = Reach(lambda: tools.egress, tools.notices.apprise.why_unusable)
        self.set = SetSchedule(
            tools.store, tools.notices.schedules, tools.notices.beat_entries, lambda: self.now, reach
        )

    def runner(self) -> RunSchedules:
        tools = self.tools
        return RunSchedules(tools.notices.schedules, tools.crawls.start, tools.notices.beat_entries, lambda: self.now)

    def scheduled(self, **config: Any) -> UUID:
        project = self.engine.project("http://127.0.0.1:9/")
        self.set(project.id, {"enabled": True, "frequency": "daily", "time": "13:00", **config})
        return project.id

    def outcomes(self, project_id: UUID) -> list[tuple[datetime, str]]:
        return [(slot, outcome) for slot, outcome, _ in self.tools.notices.schedules.slots(project_id)]

    def entry(self, project_id: UUID) -> RedBeatSchedulerEntry | None:
        app = self.tools.celery
        key = RedBeatSchedulerEntry.generate_key(app, f"crawl_{project_id}")
        try:
            return RedBeatSchedulerEntry.from_key(key, app=app)
        except KeyError:
            return None


@pytest.fixture
def desk(crawler: Engine) -> Desk:
    return Desk(crawler)


def test_beat_reads_what_is_due_at_once_and_forgets_entries_that_are_gone(desk: Desk) -> None:
    due, gone, later = desk.scheduled(), desk.scheduled(), desk.scheduled()
    app, now = desk.tools.celery, datetime.now(UTC)
    soon = now.replace(microsecond=0) + timedelta(seconds=2)
    for project, at in ((due, soon), (gone, soon), (later, now + timedelta(days=1))):
        desk.tools.notices.beat_entries._write(project, at)
    redis = get_redis(app)
    redis.delete(RedBeatSchedulerEntry.generate_key(app, f"crawl_{gone}"))
    beat = BeatScheduler(app=app, lazy=True)
    time.sleep(max(0.0, (soon - datetime.now(UTC)).total_seconds()) + 0.1)
    found = {name for name in beat.schedule if name.startswith("crawl_")}
    assert found == {f"crawl_{due}"}
    kept = {str(key).rpartition("crawl_")[2] for key in redis.zrange(app.redbeat_conf.schedule_key, 0, -1)}
    assert str(gone) not in kept
    assert str(later) in kept


def test_the_lock_of_a_beat_outlives_several_of_its_rounds(desk: Desk) -> None:
    """Else a short pause of the process costs it the lock, and with it its life."""
    conf = desk.tools.celery.conf
    assert conf.redbeat_lock_timeout >= 5 * conf.beat_max_loop_interval


def test_a_schedule_is_kept_and_says_when_it_runs_next(desk: Desk) -> None:
    project = desk.scheduled(timezone="Europe/Berlin", window=("08:00", "20:00"), jitter_minutes=5, notify_on="any")
    kept = desk.set.get(project)
    assert kept.config.timezone == "Europe/Berlin"
    assert kept.config.window == ("08:00", "20:00")
    assert kept.next_run_at is not None
    assert timedelta(hours=23) <= kept.next_run_at - NOON < timedelta(hours=23, minutes=5), "13:00 there was at 11:00"


def test_before_its_time_nothing_starts_and_then_exactly_one_scheduled_crawl(desk: Desk) -> None:
    project = desk.scheduled()
    assert desk.runner()() == 0
    desk.now = NOON + timedelta(hours=1)
    assert desk.runner()() == 1
    assert desk.runner()() == 0
    (crawl,) = desk.tools.store.list_crawls(project)
    assert crawl.crawl_type is CrawlType.SCHEDULED
    assert desk.outcomes(project) == [(desk.now, "started")]
    assert desk.set.get(project).next_run_at == desk.now + timedelta(days=1)


def test_many_who_ask_in_the_same_moment_start_a_slot_once(desk: Desk) -> None:
    project = desk.scheduled()
    desk.now = NOON + timedelta(hours=1, seconds=30)
    with ThreadPoolExecutor(4) as pool:
        started = list(pool.map(lambda _: desk.runner().of(project), range(8)))
    assert sum(started) == 1
    assert len(desk.tools.store.list_crawls(project)) == 1


def test_of_runs_that_were_missed_one_is_made_up_for_and_then_it_is_on_time(desk: Desk) -> None:
    project = desk.scheduled()
    desk.now = NOON + timedelta(days=5)
    assert desk.runner()() == 1
    assert desk.outcomes(project) == [(NOON + timedelta(days=4, hours=1), "started")]
    assert desk.set.get(project).next_run_at == NOON + timedelta(days=5, hours=1)


@pytest.mark.slow
def test_more_overdue_runs_than_fit_one_part_are_started_in_one_go(desk: Desk) -> None:
    projects = [desk.scheduled() for _ in range(AT_ONCE + 5)]
    desk.now = NOON + timedelta(hours=1)
    assert desk.runner()() == len(projects)
    assert desk.runner()() == 0


def by(key: UUID | None, make: Callable[[], UUID]) -> UUID:
    """Set with this key, as a request does."""
    before = judging.caller.set(key)
    try:
        return make()
    finally:
        judging.caller.reset(before)


def test_whoever_has_many_that_are_due_keeps_no_other_key_waiting(desk: Desk) -> None:
    """Also one whose run is due later. Those that were set without a key are like those of one more."""
    busy, stranger = uuid4(), uuid4()
    many = [by(busy, desk.scheduled) for _ in range(12)]
    many += [by(None, desk.scheduled) for _ in range(12)]
    few = [by(stranger, lambda: desk.scheduled(time="13:05")) for _ in range(2)]
    desk.now = NOON + timedelta(hours=1, minutes=5)
    due = desk.tools.notices.schedules.due(desk.now, 6)
    for part in (due[:3], due[3:]):
        found = {schedule.project_id for schedule in part}
        assert [len(found & set(whose)) for whose in (many[:12], many[12:], few)] == [1, 1, 1]


def test_each_of_many_messages_starts_a_run_until_none_is_due(desk: Desk) -> None:
    """Whose turn it is does not depend on whom the message names, so none may be left."""
    projects = [by(key, desk.scheduled) for key in (uuid4(), uuid4(), None) for _ in range(2)]
    desk.now = NOON + timedelta(hours=1)
    with ThreadPoolExecutor(3) as pool:
        started = list(pool.map(lambda project: desk.runner().of(project), projects))
    assert started == [1] * len(projects)
    assert [len(desk.tools.store.list_crawls(project)) for project in projects] == [1] * len(projects)
    assert desk.runner().of(projects[0]) == 0


def test_those_that_cannot_be_read_keep_no_other_of_their_key_from_its_run(desk: Desk) -> None:
    for odd in [desk.scheduled() for _ in range(FEW)]:
        desk.engine.rows("UPDATE crawl_schedules SET timezone = 'No/Zone' WHERE project_id = :id RETURNING id", id=odd)
    fine = desk.scheduled(time="13:05")
    desk.now = NOON + timedelta(hours=2)
    assert desk.runner().of(fine) == 1
    assert len(desk.tools.store.list_crawls(fine)) == 1


def test_who_changes_a_schedule_without_a_key_does_not_take_it_from_its_key(desk: Desk) -> None:
    key = uuid4()
    project = by(key, desk.scheduled)
    desk.set(project, {"enabled": True, "frequency": "weekly", "day_of_week": 1})
    (row,) = desk.engine.rows("SELECT set_by FROM crawl_schedules WHERE project_id = :id", id=project)
    assert row["set_by"] == key


def test_overdue_runs_that_take_long_are_begun_for_a_bounded_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever looks after schedules is asked by others, too. What is left is the next one's."""
    projects = [desk.scheduled() for _ in range(4)]
    desk.now = NOON + timedelta(hours=1)
    runner = desk.runner()
    start = runner._start_crawl

    def slowly(*given: Any, **options: Any) -> Any:
        desk.now += LONGEST_TICK * 0.6
        return start(*given, **options)

    monkeypatch.setattr(runner, "_start_crawl", slowly)
    assert [runner(), runner(), runner()] == [2, 2, 0]
    assert all(desk.tools.store.list_crawls(project) for project in projects)


def test_a_run_that_meets_the_one_before_is_skipped_and_recorded(desk: Desk) -> None:
    project = desk.scheduled()
    desk.tools.crawls.start(project)
    desk.now = NOON + timedelta(hours=1)
    desk.runner()()
    assert desk.outcomes(project) == [(desk.now, "skipped_overlap")]


def test_an_inactive_project_is_not_crawled(desk: Desk) -> None:
    project = desk.scheduled()
    store = desk.tools.store
    store.save_project(store.get_project(project).changed(desk.now, is_active=False))
    desk.now = NOON + timedelta(hours=1)
    desk.runner()()
    assert desk.outcomes(project) == [(desk.now, "inactive")]
    assert store.list_crawls(project) == []


def test_a_starter_that_died_after_it_took_the_slot_is_finished_by_the_next_and_once(desk: Desk) -> None:
    project = desk.scheduled()
    schedule = desk.set.get(project)
    slot = NOON + timedelta(hours=1)
    assert desk.tools.notices.schedules.take_slot(schedule.id, slot)
    desk.now = datetime.now(UTC) + timedelta(minutes=5)  # the row's own date is the database's
    desk.runner()()
    assert (slot, "started") in desk.outcomes(project)
    assert len(desk.tools.store.list_crawls(project)) == 1


def test_an_enabled_schedule_has_an_entry_for_its_next_run_that_moves_on(desk: Desk) -> None:
    project = desk.scheduled()
    entry = desk.entry(project)
    assert entry is not None
    assert (entry.task, entry.kwargs) == ("crawler.run_scheduled_crawl", {"project_id": str(project)})
    assert entry.schedule.dtstart == NOON + timedelta(hours=1)
    desk.now = NOON + timedelta(hours=1)
    desk.runner()()
    moved = desk.entry(project)
    assert moved is not None
    assert moved.schedule.dtstart == NOON + timedelta(days=1, hours=1)


def test_disabling_takes_the_entry_away_and_keeps_the_configuration(desk: Desk) -> None:
    project = desk.scheduled(timezone="Asia/Kathmandu")
    desk.set(project, {"enabled": False})
    kept = desk.set.get(project)
    assert (kept.config.enabled, kept.config.timezone, kept.next_run_at) == (False, "Asia/Kathmandu", None)
    assert desk.entry(project) is None
    desk.now = NOON + timedelta(days=3)
    assert desk.runner()() == 0
    assert desk.set(project, {"enabled": True}).next_run_at is not None


def test_a_process_that_has_set_none_can_take_an_entry_away(desk: Desk) -> None:
    project = desk.scheduled()
    off = desk.set.get(project).model_copy(update={"next_run_at": None})
    BeatEntries(make_celery(desk.tools.settings)).mirror(off)
    assert desk.entry(project) is None


def test_an_entry_is_as_late_as_its_schedules_jitter_to_the_second(desk: Desk) -> None:
    project = desk.scheduled(jitter_minutes=180)
    entry, kept = desk.entry(project), desk.set.get(project)
    assert entry is not None
    assert entry.schedule.dtstart == kept.next_run_at
    assert kept.next_run_at is not None
    assert kept.next_run_at.second != 0 or kept.next_run_at.minute != 0


def test_entries_of_what_nobody_schedules_any_more_go_away(desk: Desk) -> None:
    gone, stays = desk.scheduled(), desk.scheduled()
    desk.tools.store.delete_project(gone)
    assert desk.entry(gone) is not None
    assert desk.set.rebuild_entries() == 1
    assert desk.entry(gone) is None
    assert desk.entry(stays) is not None


def test_a_trigger_of_a_deleted_project_starts_nothing_and_goes_away(desk: Desk) -> None:
    gone = desk.scheduled()
    desk.tools.store.delete_project(gone)
    assert desk.runner().of(gone) == 0
    assert desk.entry(gone) is None


def test_a_schedule_that_cannot_be_read_does_not_stop_the_others(desk: Desk) -> None:
    """A zone that this machine does not know, perhaps set on one that does."""
    odd, fine = desk.scheduled(), desk.scheduled()
    desk.engine.rows("UPDATE crawl_schedules SET timezone = 'Mars/Base' WHERE project_id = :id RETURNING id", id=odd)
    assert desk.set.rebuild_entries() == 1
    desk.now = NOON + timedelta(hours=1)
    assert desk.runner()() == 1
    assert len(desk.tools.store.list_crawls(fine)) == 1
    with pytest.raises(InvalidConfig, match="is no time zone"):
        desk.set.get(odd)
    desk.set(odd, {"enabled": True, "frequency": "weekly", "day_of_week": 1})
    assert desk.set.get(odd).next_run_at is not None


def test_a_project_without_a_website_cannot_be_scheduled(desk: Desk) -> None:
    project = desk.engine.project(None)
    with pytest.raises(InvalidConfig, match="has no website_url"):
        desk.set(project.id, {"enabled": True, "frequency": "daily"})
    assert not desk.set(project.id, {"frequency": "daily"}).config.enabled


def test_entries_that_redis_forgot_are_made_again(desk: Desk) -> None:
    project = desk.scheduled()
    entry = desk.entry(project)
    assert entry is not None
    entry.delete()
    assert desk.set.rebuild_entries() == 1
    assert desk.entry(project) is not None


def test_a_scheduled_crawl_that_fails_is_tried_again_after_5_and_15_minutes_and_then_left(desk: Desk) -> None:
    project = desk.scheduled()
    desk.now = NOON + timedelta(hours=1)
    desk.runner()()

    def fail(at: datetime) -> UUID:
        (crawl, *_) = desk.tools.store.list_crawls(project)
        update = "UPDATE crawl_jobs SET status = 'failed', completed_at = :at WHERE id = :id RETURNING id"
        desk.engine.rows(update, id=crawl.id, at=at)
        return crawl.id

    for minutes in (5, 15):
        failed = fail(desk.now)
        desk.now += timedelta(minutes=minutes, seconds=-1)
        desk.runner()()
        assert desk.tools.store.list_crawls(project)[0].id == failed, "too soon"
        desk.now += timedelta(seconds=2)
        desk.runner()()
        desk.runner()()
        assert desk.tools.store.list_crawls(project)[0].retry_of == failed
    fail(desk.now)
    desk.now += timedelta(hours=2)
    desk.runner()()
    assert len(desk.tools.store.list_crawls(project)) == 3


def test_a_failed_run_is_left_alone_once_its_schedule_is_disabled(desk: Desk) -> None:
    project = desk.scheduled()
    desk.now = NOON + timedelta(hours=1)
    desk.runner()()
    desk.engine.rows("UPDATE crawl_jobs SET status = 'failed', completed_at = :at RETURNING id", at=desk.now)
    desk.set(project, {"enabled": False})
    desk.now += timedelta(minutes=20)
    desk.runner()()
    assert len(desk.tools.store.list_crawls(project)) == 1


def test_what_no_entry_started_is_started_by_who_looks_after_schedules(desk: Desk) -> None:
    project = desk.engine.project("http://127.0.0.1:9/")
    desk.tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "hourly"})
    past = datetime.now(UTC) - timedelta(minutes=1)
    desk.engine.rows(
        "UPDATE crawl_schedules SET next_run_at = :at WHERE project_id = :id RETURNING id",
        at=past.replace(minute=0, second=0, microsecond=0),
        id=project.id,
    )
    desk.tools.crawls.reconcile()
    assert desk.tools.store.list_crawls(project.id) == [], "the workers of a single run do this much and no more"
    desk.tools.notices.recover_schedules()
    assert len(desk.tools.store.list_crawls(project.id)) == 1


def test_what_is_just_due_is_left_to_its_entry(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else one of two coordinators starts a hundred crawls while somebody's own waits."""
    project, notices = desk.scheduled(), desk.tools.notices
    monkeypatch.setattr(notices.run_schedules, "_clock", lambda: desk.now)
    desk.now = NOON + timedelta(hours=1, seconds=5)
    notices.recover_schedules()
    assert desk.tools.store.list_crawls(project) == []
    desk.now += BEAT_GRACE
    notices.recover_schedules()
    assert len(desk.tools.store.list_crawls(project)) == 1


def test_a_run_by_schedule_is_seeded_by_who_starts_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A further message would wait among those of crawls that somebody waits for."""
    project, notices = desk.scheduled(), desk.tools.notices
    monkeypatch.setattr(notices.run_schedules, "_clock", lambda: desk.now)
    desk.now = NOON + timedelta(hours=1)
    notices.run_schedules.of(project)
    (crawl,) = desk.tools.store.list_crawls(project)
    assert crawl.status is CrawlStatus.IN_PROGRESS
    assert ("start_crawl", crawl.id) not in desk.engine.sent


def test_nonsense_is_refused_and_a_project_without_a_schedule_says_so(desk: Desk) -> None:
    project = desk.engine.project("http://127.0.0.1:9/").id
    with pytest.raises(NotFound, match="has no schedule"):
        desk.set.get(project)
    with pytest.raises(InvalidConfig, match="frequency"):
        desk.set(project, {"enabled": True})
    with pytest.raises(InvalidConfig, match="is no time zone"):
        desk.set(project, {"frequency": "daily", "timezone": "Nowhere/Land"})
    with pytest.raises(NotFound):
        desk.set(UUID(int=5), {"frequency": "daily"})
