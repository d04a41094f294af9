"""Starts what is due by its schedule: each slot once, whoever asks and however often.

A slot is taken with a row before its crawl is started, under a key made of the slot: a starter that dies in between
leaves a row the reconciler finishes, and the crawl is the same one. A scheduled crawl that fails is tried again after
5 and after 15 minutes.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls import CrawlType
from crawler.domain.schedules import Schedule, SlotOutcome
from crawler.errors import Conflict, CrawlerError, CrawlRunning, Unavailable
from crawler.handlers.start_crawl import StartCrawl

log = telemetry.logger(__name__)

AT_ONCE = 50
STARTING_GRACE = timedelta(seconds=60)


class Schedules(Protocol):
    def due(self, now: datetime, limit: int, project_id: UUID | None = None) -> list[Schedule]: ...
    def take_slot(self, schedule_id: UUID, slot: datetime) -> bool: ...
    def end_slot(self, schedule_id: UUID, slot: datetime, outcome: SlotOutcome, crawl_id: UUID | None) -> None: ...
    def unfinished_slots(self, before: datetime) -> Sequence[tuple[UUID, UUID, datetime]]: ...
    def failed_runs(self, now: datetime) -> list[tuple[UUID, UUID]]: ...
    def plan(self, before: Schedule, after: Schedule) -> bool: ...


class Entries(Protocol):
    def mirror(self, schedule: Schedule) -> None: ...


class RunSchedules:
    def __init__(self, schedules: Schedules, start_crawl: StartCrawl, entries: Entries, clock: Clock) -> None:
        self._schedules = schedules
        self._start_crawl = start_crawl
        self._entries = entries
        self._clock = clock

    def __call__(self, project_id: UUID | None = None) -> int:
        """Of one project, or all that are due; how many runs were begun."""
        now = self._clock()
        for project, schedule_id, slot in self._schedules.unfinished_slots(now - STARTING_GRACE):
            self._run(project, schedule_id, slot)
        for failed, project in self._schedules.failed_runs(now):
            self._start(project, f"retry:{failed}", retry_of=failed)
        due = self._schedules.due(now, AT_ONCE, project_id)
        return sum(self._run_due(schedule, now) for schedule in due)

    def _run_due(self, schedule: Schedule, now: datetime) -> bool:
        slot = schedule.due_slot(now)
        taken = slot is not None and self._schedules.take_slot(schedule.id, slot)
        planned = schedule.planned(now)
        if self._schedules.plan(schedule, planned):
            self._entries.mirror(planned)
        if slot is not None and taken:
            self._run(schedule.project_id, schedule.id, slot)
        return taken

    def _run(self, project_id: UUID, schedule_id: UUID, slot: datetime) -> None:
        outcome, crawl_id = self._start(project_id, f"slot:{schedule_id}:{slot.isoformat()}")
        self._schedules.end_slot(schedule_id, slot, outcome, crawl_id)
        log.info("slot_run", project_id=str(project_id), slot=slot.isoformat(), outcome=outcome.value)

    def _start(self, project_id: UUID, key: str, retry_of: UUID | None = None) -> tuple[SlotOutcome, UUID | None]:
        kind = CrawlType.SCHEDULED
        try:
            crawl = self._start_crawl(project_id, crawl_type=kind, idempotency_key=key, retry_of=retry_of)
        except CrawlRunning:
            return SlotOutcome.SKIPPED_OVERLAP, None
        except Unavailable:
            raise  # the slot stays taken, and is tried again
        except Conflict:
            return SlotOutcome.INACTIVE, None
        except CrawlerError as exc:
            log.warning("scheduled_crawl_not_started", project_id=str(project_id), error=exc.message)
            return SlotOutcome.FAILED, None
        return SlotOutcome.STARTED, crawl.id
