"""Whose response libcurl works on next, where several have arrived.

libcurl unpacks bodies: three hundred bytes may take a fiftieth of a second, and hundreds of such responses may arrive
at once. So a round takes a limited time, and begins with who used least, since somebody waits.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from time import monotonic
from typing import Generic, TypeVar

ROUND_SECONDS = 0.02


S = TypeVar("S", bound=Hashable)
"""What is served: a socket that is ready, or a transfer that was paused."""


class Turns(Generic[S]):
    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._ready: dict[S, int] = {}
        """Events of those that wait for their turn."""
        self._owners: dict[S, Hashable] = {}
        """Who opened each socket. One that is kept for later requests goes on to the same host."""
        self._used: defaultdict[Hashable, float] = defaultdict(float)

    def __bool__(self) -> bool:
        """Whether any waits."""
        return bool(self._ready)

    def own(self, served: S, owner: Hashable) -> None:
        self._owners[served] = owner

    def disown(self, served: S) -> None:
        self._owners.pop(served, None)

    def forget(self, served: S) -> None:
        self._ready.pop(served, None)

    def serve(self, events: Iterable[tuple[S, int]], serve: Callable[[S, int], object]) -> None:
        """Serve these and who waits, as many as there is time for, one at least. The others wait."""
        self._ready.update(events)
        at = self._clock()
        until = at + ROUND_SECONDS
        for served in sorted(self._ready, key=self._spent) if self._used else list(self._ready):
            event = self._ready.pop(served, None)
            if event is None:
                continue  # closed meanwhile
            owner = self._owners.get(served)
            serve(served, event)
            before, at = at, self._clock()
            self._used[owner] += at - before
            if at >= until:
                break
        if not self._ready:
            self._used.clear()

    def _spent(self, served: S) -> float:
        return self._used.get(self._owners.get(served), 0.0)
