"""Judges for one process of ours: how many work at once, and how long each may take. The port: `domain/judging.py`."""

import pickle
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from crawler import telemetry
from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.adapters.judging.judge_process import CRASHED, DONE, LOST, RAISED, Answer, JudgeProcess
from crawler.domain.judging import Bound, Found, Given, Item, Look, Unjudged, caller, go_on, until
from crawler.errors import TooSlowToTry

BATCH_ITEMS = 50
BATCH_BYTES = 1_000_000
"""What is sent at once: enough that asking costs little, and not much to hold."""
log = telemetry.logger(__name__)


class Limits(NamedTuple):
    page_seconds: float
    """CPU time for one page, or for what is asked at once."""
    total_seconds: float
    """CPU time for all of them."""
    item_seconds: float = 0.0
    """And so much more for each page: many pages may take long."""
    wait_seconds: float = float("inf")
    """Until when somebody waits for all of it, however busy the machine is."""
    busy_seconds: float = 5.0
    """How long somebody waits for a judge that others use."""
    is_counted: bool = True
    """Whether it counts among those that wait; not if somebody else limits how many there are."""


class JudgePool:
    """As many processes as may judge at once. They start when they are needed, and are kept."""

    def __init__(self, size: int, reserved: int = 0) -> None:
        """`reserved`: on top of them, for callers that use judges little."""
        self.places = JudgePlaces(size, reserved)
        self._idle: list[JudgeProcess] = []
        self.close = weakref.finalize(self, _close, self._idle)  # also when nobody uses the pool any more

    @contextmanager
    def open(self, limits: Limits, look: Look = go_on) -> Iterator["Sitting"]:
        left = until.get() - time.monotonic()
        if left < 0:
            raise TooSlowToTry
        who = caller.get()
        with self.places.place(who, min(limits.busy_seconds, left), is_counted=limits.is_counted):
            process = self._idle.pop() if self._idle else JudgeProcess()
            sitting = Sitting(process, limits, look)
            try:
                yield sitting
            finally:
                self.places.used(who, sitting.used)
                process.abandon()
                self._idle.append(process)


def _close(processes: list[JudgeProcess]) -> None:
    for process in processes:
        process.close()


class Sitting:
    """A judge that somebody has opened."""

    def __init__(self, process: JudgeProcess, limits: Limits, look: Look) -> None:
        self._process = process
        self._limits = limits
        self._look = look
        self.used = 0.0
        """CPU time so far."""
        self._until = min(time.monotonic() + limits.wait_seconds, until.get())

    def each(
        self, work: Callable[[Item, Given], Found], items: Iterable[Item], given: Given
    ) -> Iterator[tuple[Item, Found | Unjudged]]:
        shared = pickle.dumps((work, (given,)))
        for batch in _batches(items):
            self._limits = self._limits._replace(
                total_seconds=self._limits.total_seconds + len(batch) * self._limits.item_seconds
            )
            yield from self._judged(shared, batch)

    def one(
        self, work: Callable[..., Found], *given: Any, seconds: float | None = None, whatever_used: bool = False
    ) -> Found:
        total = self.used + (seconds or self._limits.page_seconds) if whatever_used else None
        ((_, found),) = self._judged(pickle.dumps((work, ())), [(given, pickle.dumps(given))], seconds, total)
        if isinstance(found, Unjudged):
            raise TooSlowToTry
        return found  # type: ignore[no-any-return]

    def _judged(
        self,
        shared: bytes,
        batch: Iterable[tuple[Any, bytes]],
        most: float | None = None,
        total: float | None = None,
    ) -> Iterator[tuple[Any, Any]]:
        left, is_second = deque(batch), False
        while left:
            most_used = self._limits.total_seconds if total is None else total
            seconds = min(most or self._limits.page_seconds, most_used - self.used)
            if seconds <= 0:
                yield from ((item, Unjudged(Bound.TOTAL)) for item, _ in left)
                return
            for answer in self._process.ask(shared, [data for _, data in left], seconds, self._go_on):
                self.used += answer.seconds
                if answer.kind == LOST and not is_second:
                    is_second = True  # ended by somebody else, perhaps: the page has one more try
                    break
                is_second = False
                item, _ = left.popleft()
                yield item, _found(answer)
                self._go_on(0.0)
                if self.used >= most_used:
                    break

    def _go_on(self, seconds: float) -> None:
        if time.monotonic() > self._until:
            raise TooSlowToTry
        self._look(self.used + seconds)


def _found(answer: Answer) -> Any:
    if answer.kind == DONE:
        return answer.found
    if answer.kind == RAISED:
        raise answer.found
    if answer.kind == CRASHED:
        log.error("judge_crashed", detail=answer.found)
    return Unjudged(Bound.PAGE)


def _batches(items: Iterable[Item]) -> Iterator[list[tuple[Item, bytes]]]:
    batch: list[tuple[Item, bytes]] = []
    size = 0
    for item in items:
        data = pickle.dumps((item,))
        if batch and (size + len(data) > BATCH_BYTES or len(batch) >= BATCH_ITEMS):
            yield batch
            batch, size = [], 0
        batch.append((item, data))
        size += len(data)
    if batch:
        yield batch
