"""Places of senders: who takes long to be told never has all threads that tell others.

A receiver that hangs holds its thread until it is given up. So one project, one receiver and one caller have a few of
them at a time, and so have all receivers together that took long the last time, and all of which nothing is known: the
rest is for those that are known to answer. Who finds no place waits without a thread, and goes on as soon as one is
free.

Preparing a notice takes CPU time, so few prepare at once. Whoever waits for a receiver is not one of them.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager
from enum import Enum
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from crawler.domain.notices.notice import Channel

THREADS = 64
"""The notify worker's. They mostly wait."""
MOST_OF_ONE = 2
"""Threads of one project, of one caller, and of one receiver of which nothing good is known."""
MOST_OF_QUICK = 16
"""Of a receiver that answered in time when it was last told."""
SLOW_SECONDS = 5.0
AT_WORK = 6
SLOW_AT_WORK = 2
"""Threads that prepare notices of projects where that took long."""
MOST_KNOWN = 10_000
MOST_WAITING = 10_000
"""What waits on top of these is found again by whoever looks for what was not told."""


class Shared(Enum):
    """What all of a kind share."""

    SLOW = "slow"
    UNPROVEN = "unproven"
    """Slow, or not known."""
    APPRISE = "apprise"
    """Each message is a process."""
    UNPROVEN_APPRISE = "unproven apprise"
    SLOW_TO_PREPARE = "slow to prepare"


_LIMITS: Mapping[Hashable, int] = {
    Shared.SLOW: THREADS // 4,
    Shared.UNPROVEN: THREADS * 3 // 4,
    Shared.APPRISE: 8,
    Shared.UNPROVEN_APPRISE: 6,
    Shared.SLOW_TO_PREPARE: THREADS // 4,
}


class Receiver(NamedTuple):
    """Who is told, as far as it decides how long that takes."""

    channel: Channel
    host: str
    """With its port: another one of the same host is another service, and may be one that never answers."""

    @classmethod
    def of(cls, channel: str, address: str) -> "Receiver":
        kind = Channel(channel.partition("-")[0])
        if kind is Channel.EMAIL:
            return cls(kind, address.rpartition("@")[2].lower())
        return cls(kind, address if kind is Channel.APPRISE else urlsplit(address).netloc.rpartition("@")[2].lower())


class SenderPlaces:
    def __init__(self, hint: Callable[[UUID, float], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._hint = hint
        self._clock = clock
        self._lock = threading.Lock()
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, dict[UUID, None]] = {}
        self._waits_for: dict[UUID, set[Hashable]] = {}
        self._slow: OrderedDict[Hashable, bool] = OrderedDict()
        """Whether it took long the last time."""
        self._work = {True: threading.Semaphore(SLOW_AT_WORK), False: threading.Semaphore(AT_WORK)}
        self._mine = threading.local()

    def is_slow(self, name: Hashable) -> bool:
        with self._lock:
            return self._slow.get(name, False)

    def took(self, name: Hashable, seconds: float) -> None:
        """How long it took this time."""
        with self._lock:
            self._slow[name] = seconds > SLOW_SECONDS
            self._slow.move_to_end(name)
            if len(self._slow) > MOST_KNOWN:
                self._slow.popitem(last=False)

    @contextmanager
    def place(self, names: Set[Hashable], crawl_id: UUID | None = None) -> Iterator[bool]:
        """Work for these names, unless one of them has enough: then the crawl is hinted at once one is free.

        A crawl that waits for a receiver is not prepared again before that.
        """
        is_slow = any(map(self.is_slow, names))
        work = self._work[is_slow]
        with self._held_by({*names, Shared.SLOW_TO_PREPARE} if is_slow else names, crawl_id) as is_free:
            if not is_free or self._waits_in_vain(crawl_id):
                yield False
                return
            with work:
                self._mine.work = work
                try:
                    yield True
                finally:
                    self._mine.work = None

    @contextmanager
    def telling(self, receiver: Receiver, project_id: UUID, crawl_id: UUID | None = None) -> Iterator[bool]:
        """Wait for this receiver, unless there are enough of its kind: then the crawl is hinted at once one is free."""
        with self._held_by(self._names(receiver, project_id), crawl_id) as is_free:
            if not is_free:
                yield False
                return
            began = self._clock()
            try:
                with self.aside():
                    yield True
            finally:
                taken = self._clock() - began
                self.took(receiver, taken)
                if taken > SLOW_SECONDS:
                    self.took(("receivers", project_id), taken)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let others work meanwhile: this thread waits for something outside."""
        work: threading.Semaphore | None = getattr(self._mine, "work", None)
        with ExitStack() as back:
            if work is not None:
                work.release()
                back.callback(work.acquire)
            yield

    def _names(self, receiver: Receiver, project_id: UUID) -> set[Hashable]:
        with self._lock:
            known = self._slow.get(receiver)
            is_slow = known or (known is None and self._slow.get(("receivers", project_id), False))
        names: set[Hashable] = {receiver}
        if known is not False:
            names |= {Shared.UNPROVEN, *([Shared.SLOW] if is_slow else [])}
        if receiver.channel is Channel.APPRISE:
            names |= {Shared.APPRISE, *([Shared.UNPROVEN_APPRISE] if known is not False else [])}
        return names

    def _limit(self, name: Hashable) -> int:
        if isinstance(name, Receiver) and self._slow.get(name) is False:
            return MOST_OF_QUICK
        return _LIMITS.get(name, MOST_OF_ONE)

    @contextmanager
    def _held_by(self, names: Set[Hashable], crawl_id: UUID | None) -> Iterator[bool]:
        with self._lock:
            full = next((name for name in names if self._held[name] >= self._limit(name)), None)
            if full is None:
                self._held.update(names)
            elif crawl_id is not None and len(self._waiting.get(full, ())) < MOST_WAITING:
                self._waiting.setdefault(full, {})[crawl_id] = None
                self._waits_for.setdefault(crawl_id, set()).add(full)
        if full is not None:
            yield False
            return
        try:
            yield True
        finally:
            for following in self._leave(names):
                self._hint(following, 0)

    def _waits_in_vain(self, crawl_id: UUID | None) -> bool:
        """Whether all that it waits for is still full. Whoever was hinted before may have gone, and hints nobody."""
        with self._lock:
            if crawl_id is None or not (names := self._waits_for.get(crawl_id)):
                return False
            if all(self._held[name] >= self._limit(name) for name in names):
                return True
            self._waits_no_more(crawl_id)
            return False

    def _leave(self, names: Set[Hashable]) -> list[UUID]:
        """Who is next."""
        found = []
        with self._lock:
            for name in names:
                self._held[name] -= 1
                if not self._held[name]:
                    del self._held[name]
                if waiting := self._waiting.get(name):
                    found.append(next(iter(waiting)))
                    self._waits_no_more(found[-1])
        return found

    def _waits_no_more(self, crawl_id: UUID) -> None:
        for name in self._waits_for.pop(crawl_id):
            del self._waiting[name][crawl_id]
            if not self._waiting[name]:
                del self._waiting[name]
