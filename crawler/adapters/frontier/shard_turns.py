"""Which of several frontier servers a worker asks for due hosts: one at a time, in turn, and no idle one too often."""

import time
from collections.abc import Callable, Iterator

from crawler.domain.crawls.frontier import Lane

LOOK_SECONDS = 0.05
"""How long an answer counts: others may queue URLs on that server."""
_LEAST_SECONDS = 0.01
"""How often a single server is looked at while something is due soon; several share this."""


class ShardTurns:
    def __init__(
        self, count: int, look_seconds: float = LOOK_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count = count
        self._look_seconds = look_seconds
        self._clock = clock
        self._first = 0
        self._ask_at: dict[tuple[Lane, int], float] = {}
        self._due_at: dict[tuple[Lane, int], float | None] = {}

    def to_ask(self, lane: Lane) -> Iterator[int]:
        """Servers that may have something due, beginning with the one that was served longest ago."""
        now = self._clock()
        for step in range(self._count):
            number = (self._first + step) % self._count
            if now >= self._ask_at.get((lane, number), 0.0):
                yield number

    def served(self, number: int) -> None:
        self._first = (number + 1) % self._count

    def has_none(self, lane: Lane, number: int, wait: float | None) -> None:
        """The server has nothing due now, but perhaps in so many seconds."""
        now = self._clock()
        self._due_at[lane, number] = None if wait is None else now + wait
        pause = self._look_seconds if wait is None else max(wait, _LEAST_SECONDS * self._count)
        self._ask_at[lane, number] = now + min(pause, self._look_seconds)

    def changed(self, number: int) -> None:
        """This process has changed something there: what is due may be something else now."""
        for lane in Lane:
            self._ask_at.pop((lane, number), None)

    def next_due(self, lane: Lane) -> float | None:
        """Seconds until something is due on any server, as far as it is known."""
        now = self._clock()
        known = (self._due_at.get((lane, number)) for number in range(self._count))
        moments = [at for at in known if at is not None]
        return max(0.0, min(moments) - now) if moments else None
