"""Lets a work shift go on while a response that takes long to be read is read elsewhere.

Each response is processed in a greenlet: a function that can stop in the middle and go on later. It stops where it
waits for a judge (`handlers/pages/bounded_reading.py`), so code that processes a response needs no word about it.

Strangers write the pages, and nobody knows before how long one takes. So each has a short try first when others wait,
only one at a time has long, and the crawl that used least time comes first.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Set
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, NoReturn
from uuid import UUID

from greenlet import getcurrent, greenlet

from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import Lease
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.request_ticket import RequestTicket
from crawler.handlers.pages.bounded_reading import TookLonger

AT_ONCE = 2
"""Reads at the same time, of which at most one is a long one."""
SHORT_SECONDS = 0.1
"""CPU time of the first try when others wait. Nearly all pages take less."""
LONG_SECONDS = float("inf")
"""As long as the reading itself allows."""

Read = Callable[[float], Any]
"""Reads within so many seconds of CPU time. Raises TookLonger if it could be given more."""


class _Routine(greenlet):
    """Processes responses, one after the other. To make a greenlet costs ten times as much as to use one again.

    One that is not used again has to be ended: its own code refers to it, so Python would keep it for ever, with all it
    works with.
    """

    read: Read | None = None
    """What it waits for."""
    settled: LeaseResult | None = None
    """What came of the last response."""

    def run(self, work: Callable[[], LeaseResult] | None) -> NoReturn:
        while True:
            assert work is not None
            self.settled, work = work(), None  # while it pauses, it holds nothing
            work = self._pause()

    def wait(self, read: Read) -> Any:
        self.read = read
        return self._pause()

    def end(self) -> None:
        if not self.dead:
            self.throw()

    def _pause(self) -> Any:
        assert self.parent is not None
        return self.parent.switch()


@dataclass(slots=True, eq=False)
class _Waiting:
    """A response whose processing waits for a read."""

    result: FetchResult
    routine: _Routine
    read: Read
    most: float = 0.0
    """Seconds of CPU time of the present try, 0 before the first."""
    took: float = 0.0
    is_over: bool = False
    found: Any = None
    error: BaseException | None = None

    @property
    def lease(self) -> Lease:
        ticket: RequestTicket = self.result.request.context
        return ticket.lease

    @property
    def crawl_id(self) -> UUID:
        return self.lease.crawl_id

    def run(self) -> None:
        began = time.monotonic()
        try:
            self.found = self.read(self.most)
        except BaseException as exc:  # noqa: BLE001 - raised again where the response is processed
            self.error = exc
        self.took = time.monotonic() - began
        self.is_over = True

    def go_on(self) -> None:
        if self.error:
            self.routine.throw(self.error)
        else:
            self.routine.switch(self.found)


def in_a_thread(run: Callable[[], None]) -> None:
    threading.Thread(target=copy_context().run, args=(run,), daemon=True, name="slow-read").start()


class SlowReads:
    """Of one process. All methods are called from the thread of its shift."""

    def __init__(self, start: Callable[[Callable[[], None]], None] = in_a_thread) -> None:
        self._start = start
        self._first: list[_Waiting] = []
        """Those that had no try yet…"""
        self._again: list[_Waiting] = []
        """…and those that took longer than a short one."""
        self._running: list[_Waiting] = []
        self._idle: _Routine | None = None
        self._left: set[_Waiting] = set()
        """Nobody waits for them any more, but they have a place until they end."""
        self._used: defaultdict[UUID, float] = defaultdict(float)
        """Time that reads of each crawl took, since something waits."""
        self.held_back: Set[UUID] = frozenset()
        """Crawls of which nothing is read now."""

    def __call__(self, read: Read) -> Any:
        """What the read finds. Called while a response is processed, it lets the shift go on meanwhile."""
        routine = getcurrent()
        return routine.wait(read) if isinstance(routine, _Routine) else read(LONG_SECONDS)

    def process(self, result: FetchResult, work: Callable[[], LeaseResult]) -> LeaseResult | None:
        """What comes of a response; None if something has to be read first: then `ended` has it later."""
        routine, self._idle = self._idle or _Routine(), None
        routine.switch(work)
        return self._outcome(result, routine)

    def ended(self) -> Iterator[LeaseResult]:
        """What came of responses that waited. The next reads are begun."""
        for one in [one for one in self._running if one.is_over]:
            self._running.remove(one)
            self._used[one.crawl_id] += one.took
            if one in self._left:
                self._left.remove(one)
            elif isinstance(one.error, TookLonger):
                one.is_over, one.error = False, None
                self._again.append(one)
            else:
                one.go_on()
                if settled := self._outcome(one.result, one.routine):
                    yield settled
        self._begin()
        if not self:
            self._used.clear()

    @property
    def results(self) -> list[FetchResult]:
        """Responses that wait."""
        return [one.result for one in (*self._first, *self._again, *self._running) if one not in self._left]

    def waiting(self) -> Counter[UUID]:
        """How many responses of each crawl wait."""
        return Counter(result.request.context.lease.crawl_id for result in self.results)

    def leave(self) -> list[FetchResult]:
        """Wait for none of them any more. What waited is returned."""
        results = self.results
        for one in (*self._first, *self._again, *self._running):
            one.routine.end()
        self._left.update(self._running)
        self._first.clear()
        self._again.clear()
        if self._idle is not None:
            self._idle.end()
            self._idle = None
        return results

    def leave_unread(self, is_meant: Callable[[Lease], bool]) -> list[FetchResult]:
        """Wait no more for those of these leases that are not being read: what is read comes to its end."""
        left = [one for one in (*self._first, *self._again) if is_meant(one.lease)]
        self._first = [one for one in self._first if one not in left]
        self._again = [one for one in self._again if one not in left]
        for one in left:
            one.routine.end()
        return [one.result for one in left]

    def __bool__(self) -> bool:
        """Whether any response waits."""
        return bool(self._first or self._again or len(self._running) > len(self._left))

    def _outcome(self, result: FetchResult, routine: _Routine) -> LeaseResult | None:
        read, routine.read = routine.read, None
        settled, routine.settled = routine.settled, None
        if read is None:
            if self._idle is None:
                self._idle = routine
            else:
                routine.end()
            return settled
        self._first.append(_Waiting(result, routine, read))
        self._begin()
        return None

    def _begin(self) -> None:
        while len(self._running) < AT_ONCE and (one := self._next()):
            self._running.append(one)

    def _next(self) -> _Waiting | None:
        may_be_long = all(one.most == SHORT_SECONDS for one in self._running)
        slow = {one.crawl_id for one in self._again}
        # Who has a page that takes long is likely to have more: they wait until it is read, and waste no short tries.
        waiting = [one for one in self._first if one.crawl_id not in slow] or (self._again if may_be_long else [])
        waiting = [one for one in waiting if one.crawl_id not in self.held_back] if self.held_back else waiting
        if not waiting:
            return None
        one = min(waiting, key=lambda one: self._used[one.crawl_id])
        (self._again if one in self._again else self._first).remove(one)
        is_short = not one.most and (bool(self._first or self._again) or not may_be_long)
        one.most = SHORT_SECONDS if is_short else LONG_SECONDS
        self._start(one.run)
        return one
