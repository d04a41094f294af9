"""Whose response libcurl works on next, where several have arrived.

libcurl unpacks bodies: three hundred bytes may take a fiftieth of a second, and hundreds of such responses may arrive
at once. So a round takes a limited time, and begins with who used least, since somebody waits.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from time import monotonic

ROUND_SECONDS = 0.02


class Turns:
    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._ready: dict[int, int] = {}
        """Events of sockets that wait for their turn."""
        self._owners: dict[int, Hashable] = {}
        """Who opened each socket. One that is kept for later requests goes on to the same host."""
        self._used: defaultdict[Hashable, float] = defaultdict(float)

    def __bool__(self) -> bool:
        """Whether any socket waits."""
        return bool(self._ready)

    def own(self, descriptor: int, owner: Hashable) -> None:
        self._owners[descriptor] = owner

    def forget(self, descriptor: int) -> None:
        self._ready.pop(descriptor, None)

    def serve(self, events: Iterable[tuple[int, int]], serve: Callable[[int, int], object]) -> None:
        """Serve these and who waits, as many as there is time for, one at least. The others wait."""
        self._ready.update(events)
        at = self._clock()
        until = at + ROUND_SECONDS
        for descriptor in sorted(self._ready, key=self._spent) if self._used else list(self._ready):
            event = self._ready.pop(descriptor, None)
            if event is None:
                continue  # closed meanwhile
            serve(descriptor, event)
            before, at = at, self._clock()
            self._used[self._owners.get(descriptor)] += at - before
            if at >= until:
                break
        if not self._ready:
            self._used.clear()

    def _spent(self, descriptor: int) -> float:
        return self._used.get(self._owners.get(descriptor), 0.0)
