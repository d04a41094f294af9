"""Hand extractions on to whoever classifies them. What cannot be sent now waits; nothing is lost.

They are written by `adapters/acquisition/extraction_store.py`, picked and marked by `outbox.py` there, and sent by
`classify` in `adapters/operating/celery_queue.py`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from crawler import telemetry
from crawler.domain.acquisition.extractions import Handed
from crawler.domain.clock import Clock
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

MOST_WAITING_BYTES = 128 * 2**20
"""Bytes of jobs that may wait for who classifies them. The broker keeps them in memory that all projects share; the
others wait in Postgres."""
TYPICAL_BYTES = 20_000
"""Of a job, before any was sent."""
LAST_ONES = 16
MOST_AT_ONCE = 2000
"""Jobs that one call sends: the rest is the next one's."""
PRUNE_EVERY = timedelta(hours=1)

Send = Callable[[str, Handed], None]


class Waiting(Protocol):
    def relay(self, send: Callable[[Handed], None], before_marking: Callable[[], None]) -> int: ...
    def prune(self) -> int: ...


class QueueFull(Unavailable):
    """Whoever classifies does not keep up."""


class RelayOutbox:
    def __init__(
        self,
        outbox: Waiting,
        send: Send,
        task: str | None,
        clock: Clock,
        backlog: Callable[[], int] = lambda: 0,
        failpoint: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._outbox = outbox
        self._send = send
        self._task = task
        self._clock = clock
        self._backlog = backlog
        self._typical = float(TYPICAL_BYTES)
        """Bytes of a job, on average of the last ones."""
        self._failpoint = failpoint
        self._pruned_at = datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> int:
        """How many were sent. Without a task's name they wait until there is one."""
        task = self._task
        if task is None:
            return 0
        sent = 0
        try:
            room = _Room(MOST_WAITING_BYTES - self._backlog() * self._typical)
            while sent < MOST_AT_ONCE:
                some = self._outbox.relay(
                    lambda handed: self._send_in(room, task, handed), lambda: self._failpoint("before_outbox_mark")
                )
                if not some:
                    break
                sent += some
        except Unavailable as exc:
            log.warning("hand_off_waits", detail=exc.message)
        if sent:
            log.info("handed_on", jobs=sent, task=task)
        return sent

    def _send_in(self, room: "_Room", task: str, handed: Handed) -> None:
        size = _size(handed)
        room.take(size)
        self._send(task, handed)
        self._typical += (size - self._typical) / LAST_ONES

    def recover(self) -> None:
        """Send what still waits, and now and then delete what was sent long ago."""
        self()
        if self._clock() - self._pruned_at >= PRUNE_EVERY:
            self._pruned_at = self._clock()
            self._outbox.prune()


@dataclass(slots=True)
class _Room:
    left: float
    """Bytes that may still be sent. What is larger than all of it goes when nothing else waits."""

    def take(self, size: int) -> None:
        if size > self.left < MOST_WAITING_BYTES:
            raise QueueFull("Whoever classifies does not keep up: what is handed on waits in Postgres.")
        self.left -= size


def _size(handed: Handed) -> int:
    """Bytes of the message, which Celery writes as JSON in ASCII and packs in base64."""
    return len(json.dumps(handed._asdict())) * 4 // 3
