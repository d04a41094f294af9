"""Hand extractions on to whoever classifies them. What cannot be sent now waits; nothing is lost.

They are written by `adapters/acquisition/extraction_store.py`, picked and marked by `outbox.py` there, and sent by
`classify` in `adapters/operating/celery_queue.py`.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Protocol

from crawler import telemetry
from crawler.domain.acquisition.extractions import Handed
from crawler.domain.clock import Clock
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

MOST_AT_ONCE = 2000
"""Jobs that one call sends: the rest is the next one's."""
PRUNE_EVERY = timedelta(hours=1)

Send = Callable[[str, Handed], None]


class Waiting(Protocol):
    def relay(self, send: Callable[[Handed], None], before_marking: Callable[[], None]) -> int: ...
    def prune(self) -> int: ...


class RelayOutbox:
    def __init__(
        self,
        outbox: Waiting,
        send: Send,
        task: str | None,
        clock: Clock,
        failpoint: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._outbox = outbox
        self._send = send
        self._task = task
        self._clock = clock
        self._failpoint = failpoint
        self._pruned_at = datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> int:
        """How many were sent. Without a task's name they wait until there is one."""
        task = self._task
        if task is None:
            return 0
        sent = 0
        try:
            while sent < MOST_AT_ONCE:
                some = self._outbox.relay(
                    lambda handed: self._send(task, handed), lambda: self._failpoint("before_outbox_mark")
                )
                if not some:
                    break
                sent += some
        except Unavailable as exc:
            log.warning("hand_off_waits", detail=exc.message)
        if sent:
            log.info("handed_on", jobs=sent, task=task)
        return sent

    def recover(self) -> None:
        """Send what still waits, and now and then delete what was sent long ago."""
        self()
        if self._clock() - self._pruned_at >= PRUNE_EVERY:
            self._pruned_at = self._clock()
            self._outbox.prune()
