"""Does what beat, or a worker it triggered, did not do: starts overdue runs, and sends notices that are missing or
that waited for their time.

Only where the whole system runs: the workers of a single `crawler run` have no business with other projects.

Overdue runs are started by `run_schedules.py`. Of missed slots `due_slot` in `domain/notices/schedule.py` picks one.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.engine.ports import Hints

UNTOLD_GRACE = timedelta(minutes=2)
BEAT_GRACE = timedelta(seconds=15)
"""The messages of a hundred entries that are due at once wait their turn: they are no sign of a beat that is gone."""


class RecoverSchedules:
    def __init__(
        self,
        run_due: Callable[[timedelta], int],
        untold: Callable[[datetime], list[UUID]],
        held: Callable[[datetime], list[UUID]],
        hooks: Callable[[], None],
        hints: Hints,
        clock: Clock,
    ) -> None:
        self._run_due = run_due
        self._untold = untold
        self._held = held
        self._hooks = hooks
        self._hints = hints
        self._clock = clock

    def __call__(self) -> None:
        self._run_due(BEAT_GRACE)
        now = self._clock()
        for crawl_id in dict.fromkeys((*self._untold(now - UNTOLD_GRACE), *self._held(now))):
            self._hints.notify(crawl_id)
        self._hooks()
