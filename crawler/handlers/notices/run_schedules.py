"""Starts what is due by its schedule: each slot once, whoever asks and however often.

A slot is taken with a row before its crawl is started, under a key made of the slot: a starter that dies in between
leaves a row the reconciler finishes, and the crawl is the same one. A scheduled crawl that fails is tried again after
5 and after 15 minutes.

Whoever is told that something is due runs what has its turn, not what it was told of: turns go by the keys that set
schedules (`due` in `adapters/notices/schedule_store.py`), so that one with hundreds keeps nobody waiting.

Which slot is due, and which of several missed ones: `due_slot` in `domain/notices/schedule.py`.

Called by beat's entries (`adapters/notices/beat_entries.py`), and by `recover_schedules.py` for what beat missed.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.notices.schedule import Schedule, SlotOutcome
from crawler.errors import Conflict, CrawlerError, CrawlRunning, NotFound, Unavailable
from crawler.handlers.crawls.start_crawl import StartCrawl
from crawler.handlers.notices.ports import ScheduleFinder, ScheduleMirror

log = telemetry.logger(__name__)

AT_ONCE = 50
FEW = 5
"""Schedules that are read for one run: others may take the first of them."""
MOST_READS = 20
LONGEST_TICK = timedelta(seconds=2)
"""Whoever looks after schedules has other things to look after, too."""
STARTING_GRACE = timedelta(seconds=60)


class DueSchedules(ScheduleFinder, Protocol):
    def due(self, now: datetime, limit: int, project_id: UUID | None = None) -> list[Schedule]: ...
    def take_slot(self, schedule_id: UUID, slot: datetime) -> bool: ...
    def end_slot(self, schedule_id: UUID, slot: datetime, outcome: SlotOutcome, crawl_id: UUID | None) -> None: ...
    def unfinished_slots(self, before: datetime) -> Sequence[tuple[UUID, UUID, datetime]]: ...
    def failed_runs(self, now: datetime) -> list[tuple[UUID, UUID]]: ...
    def plan(self, before: Schedule, after: Schedule) -> bool: ...


class RemovableEntries(ScheduleMirror, Protocol):
    def remove(self, project_id: UUID) -> None: ...


class RunSchedules:
    def __init__(
        self, schedules: DueSchedules, start_crawl: StartCrawl, entries: RemovableEntries, clock: Clock
    ) -> None:
        self._schedules = schedules
        self._start_crawl = start_crawl
        self._entries = entries
        self._clock = clock

    def __call__(self, grace: timedelta = timedelta(0)) -> int:
        """Run whatever is due, and what others left undone; how many runs were begun.

        What has been due for less than `grace` is left to beat's entries.
        """
        now = self._clock()
        for project, schedule_id, slot in self._schedules.unfinished_slots(now - STARTING_GRACE):
            self._run(project, schedule_id, slot)
        begun = self._run_all(now, now - grace)
        for failed, project in self._schedules.failed_runs(now):
            self._start(project, f"retry:{failed}", retry_of=failed)
            if self._has_done_enough(now):
                break
        return begun

    def of(self, project_id: UUID) -> int:
        """Run the schedule that has its turn, as this one is due; how many were begun.

        Each that is due has a message, so all are run. Without one, or if none of the others can be read, it is this
        project's, so that nothing of others keeps it from its run.
        """
        now = self._clock()
        begun = next((schedule for schedule in self._in_turn(project_id, now) if self._run_due(schedule, now)), None)
        is_own = begun is not None and begun.project_id == project_id
        if not is_own and self._schedules.find(project_id) is None:  # gone with its project: its entry need not stay
            self._entries.remove(project_id)
        return int(begun is not None)

    def _in_turn(self, project_id: UUID, now: datetime) -> Iterator[Schedule]:
        """What may be run, read again as others run it meanwhile. Whatever is tried is not due any more."""
        for _ in range(MOST_READS):
            due = self._schedules.due(now, FEW) or self._schedules.due(now, 1, project_id)
            if not due:
                return
            yield from due

    def _run_all(self, now: datetime, due_by: datetime) -> int:
        """In parts, for a bounded time."""
        begun = 0
        while due := self._schedules.due(due_by, AT_ONCE):
            for schedule in due:
                begun += self._run_due(schedule, now)
                if self._has_done_enough(now):
                    return begun
            if len(due) < AT_ONCE:
                break
        return begun

    def _has_done_enough(self, since: datetime) -> bool:
        return self._clock() - since > LONGEST_TICK

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
        except NotFound:
            return SlotOutcome.FAILED, None
        except CrawlerError as exc:
            log.warning("scheduled_crawl_not_started", project_id=str(project_id), error=exc.message)
            return SlotOutcome.FAILED, self._start_crawl.record_refusal(project_id, exc.message, key, retry_of).id
        return SlotOutcome.STARTED, crawl.id
