"""A schedule with its next runs and what became of the last ones.

The next runs: `upcoming` in `domain/notices/schedule.py`. Warnings: `warn_about_channels.py`.
"""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.notices.schedule import Schedule, ScheduleConfig, ScheduleOverview, SlotOutcome, SlotRun, upcoming

SHOWN_RUNS = 20

Slots = Callable[[UUID, int], list[tuple[datetime, str, UUID | None]]]
Warnings = Callable[[ScheduleConfig, datetime | None], tuple[str, ...]]


class DescribeSchedule:
    def __init__(self, slots: Slots, warnings: Warnings, clock: Clock) -> None:
        self._slots = slots
        self._warnings = warnings
        self._clock = clock

    def __call__(self, schedule: Schedule) -> ScheduleOverview:
        last = self._slots(schedule.project_id, SHOWN_RUNS)
        return ScheduleOverview(
            **schedule.config.model_dump(),
            project_id=schedule.project_id,
            next_run_at=schedule.next_run_at,
            webhook_gone_at=schedule.webhook_gone_at,
            described=schedule.config.words,
            warnings=self._warnings(schedule.config, schedule.webhook_gone_at),
            upcoming=tuple(upcoming(schedule.config, self._clock())),
            runs=tuple(SlotRun(slot_at=at, outcome=SlotOutcome(said), crawl_id=crawl) for at, said, crawl in last),
        )
