"""What goes wrong seldom and is worth counting, over all processes and since Redis was emptied last."""

from typing import NamedTuple

from crawler.adapters.frontier_calls import FrontierCalls
from crawler.domain.frontier import Lane


class Counts(NamedTuple):
    leases_expired: int
    stale_completions: int


class LaneLoad(NamedTuple):
    shifts: int
    """At work."""
    due: int
    """(crawl, host) pairs that may be asked now."""
    waiting: int
    """Pairs whose time has not come."""


class FrontierCounts(FrontierCalls):
    def counts(self) -> Counts:
        found = self._command("HMGET", self._keys.named("counts"), *Counts._fields)
        return Counts(*(int(value or 0) for value in found))

    def lane_load(self, lane: Lane, now_ms: int) -> LaneLoad:
        ready = self._keys.ready[lane]
        due = int(self._command("ZCOUNT", ready, "-inf", now_ms))
        shifts = self._command("ZCOUNT", self._keys.named("shifts", "h" if lane is Lane.HTTP else "b"), now_ms, "+inf")
        return LaneLoad(int(shifts), due, int(self._command("ZCARD", ready)) - due)

    def _count(self, name: str, number: int) -> None:
        """Seldom called: nothing on the way of a healthy crawl."""
        if number:
            self._command("HINCRBY", self._keys.named("counts"), name, number)
