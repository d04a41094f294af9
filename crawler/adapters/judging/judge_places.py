"""Who may have a judge next: a few callers at once, never all judges for one caller, and one for who uses them little.

However many callers have pages judged without end: whoever asks now and then finds a judge.
"""

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager

from crawler.domain.judging import caller
from crawler.errors import JudgesBusy, Unavailable

MOST_WAITING = 6
"""Callers that wait for a judge. Each holds a thread that serves everybody; whoever comes on top is refused at once."""
MOST_WAITING_OF_ONE = 3
"""Of these, requests of the same caller."""
MOST_WAITING_LIGHT = 12
"""The same for callers that use judges little, who wait for one of their own besides."""
LIGHT_SECONDS = 4.0
"""CPU time that a caller used lately, at most, to count as one that uses judges little."""
HALF_LIFE_SECONDS = 60.0
MOST_KNOWN = 10_000


class JudgePlaces:
    """As many places as there are judges. A known caller leaves one of them to the others, if there are several."""

    def __init__(self, size: int, reserved: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        """`reserved`: places on top of them, for callers that use judges little."""
        self._size = size
        self._reserved = reserved
        self._clock = clock
        self._most_of_one = max(1, size - 1)
        self._changed = threading.Condition()
        self._held: Counter[Hashable] = Counter()
        self._held_reserved = 0
        self._waiting: Counter[Hashable] = Counter()
        self._used: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """CPU time by caller, and when it was that much; it is forgotten by and by."""

    @contextmanager
    def place(self, who: Hashable, busy_seconds: float, *, is_counted: bool = True) -> Iterator[None]:
        """Hold a place. Raises JudgesBusy if none is free for so long, or if too many wait already and it counts."""
        is_reserved = self._take(who, busy_seconds, is_counted)
        try:
            yield
        finally:
            with self._changed:
                _subtract(self._held, who)
                self._held_reserved -= is_reserved
                self._changed.notify_all()

    @contextmanager
    def turn(self, busy_seconds: float, busy: str, *, is_counted: bool = True) -> Iterator[None]:
        """Hold a place for who asks, whose time counts. Raises Unavailable with the words `busy` if none is free."""
        who, began = caller.get(), self._clock()
        with ExitStack() as held:
            try:
                held.enter_context(self.place(who, busy_seconds, is_counted=is_counted))
            except JudgesBusy:
                raise Unavailable(busy) from None
            try:
                yield
            finally:
                self.used(who, self._clock() - began)

    def used(self, who: Hashable, seconds: float) -> None:
        """So much CPU time of judges went into what this caller asked for."""
        if who is None:
            return
        with self._changed:
            self._used[who] = (self._lately(who) + seconds, self._clock())
            self._used.move_to_end(who)
            if len(self._used) > MOST_KNOWN:
                self._used.popitem(last=False)

    @property
    def waiting(self) -> int:
        """How many wait at the moment, of those that count."""
        return self._waiting.total()

    def _take(self, who: Hashable, busy_seconds: float, is_counted: bool) -> bool:
        """Whether it is a reserved place."""
        with self._changed:
            if not self._is_free(who):
                self._wait(who, busy_seconds, is_counted)
            is_reserved = not self._is_free_for_all(who)
            self._held[who] += 1
            self._held_reserved += is_reserved
            return is_reserved

    def _wait(self, who: Hashable, busy_seconds: float, is_counted: bool) -> None:
        if not is_counted:
            if not self._changed.wait_for(lambda: self._is_free(who), busy_seconds):
                raise JudgesBusy
            return
        has_enough = who is not None and self._waiting[who] >= MOST_WAITING_OF_ONE
        most = MOST_WAITING_LIGHT if self._reserved and self._is_light(who) else MOST_WAITING
        if has_enough or self._waiting.total() >= most:
            raise JudgesBusy
        self._waiting[who] += 1
        try:
            self._wait(who, busy_seconds, is_counted=False)
        finally:
            _subtract(self._waiting, who)

    def _is_free(self, who: Hashable) -> bool:
        return self._is_free_for_all(who) or (
            self._held_reserved < self._reserved and not self._held[who] and self._is_light(who)
        )

    def _is_free_for_all(self, who: Hashable) -> bool:
        held = self._held.total() - self._held_reserved
        return held < self._size and (who is None or self._held[who] < self._most_of_one)

    def _is_light(self, who: Hashable) -> bool:
        return who is not None and self._lately(who) <= LIGHT_SECONDS

    def _lately(self, who: Hashable) -> float:
        used, at = self._used.get(who, (0.0, 0.0))
        return float(used * 0.5 ** ((self._clock() - at) / HALF_LIFE_SECONDS))


def _subtract(counts: Counter[Hashable], who: Hashable) -> None:
    counts[who] -= 1
    if not counts[who]:
        del counts[who]  # callers come and go
