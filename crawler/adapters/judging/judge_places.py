"""Who may have a judge next: a few callers at once, and never all judges for one caller."""

import threading
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from crawler.errors import JudgesBusy

MOST_WAITING = 6
"""Callers that wait for a judge. Each holds a thread that serves everybody; whoever comes on top is refused at once."""
MOST_WAITING_OF_ONE = 3
"""Of these, requests of the same caller."""


class JudgePlaces:
    """As many places as there are judges. A known caller leaves one of them to the others, if there are several."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._most_of_one = max(1, size - 1)
        self._changed = threading.Condition()
        self._held: Counter[Hashable] = Counter()
        self._waiting: Counter[Hashable] = Counter()

    @contextmanager
    def place(self, who: Hashable, busy_seconds: float, *, is_counted: bool = True) -> Iterator[None]:
        """Hold a place. Raises JudgesBusy if none is free for so long, or if too many wait already and it counts."""
        self._take(who, busy_seconds, is_counted)
        try:
            yield
        finally:
            with self._changed:
                _subtract(self._held, who)
                self._changed.notify_all()

    @property
    def waiting(self) -> int:
        """How many wait at the moment, of those that count."""
        return self._waiting.total()

    def _take(self, who: Hashable, busy_seconds: float, is_counted: bool) -> None:
        with self._changed:
            if not self._is_free(who):
                self._wait(who, busy_seconds, is_counted)
            self._held[who] += 1

    def _wait(self, who: Hashable, busy_seconds: float, is_counted: bool) -> None:
        if not is_counted:
            if not self._changed.wait_for(lambda: self._is_free(who), busy_seconds):
                raise JudgesBusy
            return
        has_enough = who is not None and self._waiting[who] >= MOST_WAITING_OF_ONE
        if has_enough or self._waiting.total() >= MOST_WAITING:
            raise JudgesBusy
        self._waiting[who] += 1
        try:
            self._wait(who, busy_seconds, is_counted=False)
        finally:
            _subtract(self._waiting, who)

    def _is_free(self, who: Hashable) -> bool:
        return self._held.total() < self._size and (who is None or self._held[who] < self._most_of_one)


def _subtract(counts: Counter[Hashable], who: Hashable) -> None:
    counts[who] -= 1
    if not counts[who]:
        del counts[who]  # callers come and go
