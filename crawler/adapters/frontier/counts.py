"""Counters and load of the frontier for metrics: expired leases, stale completions, shifts, due pairs.

They count over all processes, since Redis was last emptied.
"""

from typing import NamedTuple

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.adapters.frontier.keys import LANE_LETTER
from crawler.domain.crawls.frontier import Lane


class Counts(NamedTuple):
    leases_expired: int
    stale_completions: int


class LaneLoad(NamedTuple):
    shifts: int
    """Shifts at work now."""
    due: int
    """(crawl, host) pairs that may be requested now."""
    waiting: int
    """(crawl, host) pairs that must wait."""


class ShiftTotals(NamedTuple):
    seconds: float
    """Total duration of all shifts that ended."""
    cpu_seconds: float
    """CPU time in those shifts; the rest was waiting for hosts and servers."""
    ended: dict[str, int]
    """Number of ended shifts by the reason they ended."""


class FrontierCounts(FrontierCalls):
    def counts(self) -> Counts:
        found = self._command("HMGET", self._keys.named("counts"), *Counts._fields)
        return Counts(*(int(value or 0) for value in found))

    def lane_load(self, lane: Lane, now_ms: int) -> LaneLoad:
        due, waiting = self._scripts.run("load", [self._keys.ready[lane]], [now_ms])
        shifts = self._command("ZCOUNT", self._keys.named("shifts", LANE_LETTER[lane]), now_ms, "+inf")
        return LaneLoad(int(shifts), due, waiting)

    def count_shift(self, lane: Lane, ended: str, seconds: float, cpu_seconds: float) -> None:
        key = self._keys.named("shift_counts", LANE_LETTER[lane])
        self._command("HINCRBY", key, "ms", milliseconds(seconds))
        self._command("HINCRBY", key, "cpu_ms", milliseconds(cpu_seconds))
        self._command("HINCRBY", key, f"ended:{ended}", 1)

    def shift_totals(self, lane: Lane) -> ShiftTotals:
        flat = self._command("HGETALL", self._keys.named("shift_counts", LANE_LETTER[lane]))
        pairs = flat.items() if isinstance(flat, dict) else zip(flat[::2], flat[1::2], strict=True)
        found = {name.decode(): int(value) for name, value in pairs}
        ended = {name.removeprefix("ended:"): n for name, n in found.items() if name.startswith("ended:")}
        return ShiftTotals(found.get("ms", 0) / 1000, found.get("cpu_ms", 0) / 1000, ended)

    def _count(self, name: str, number: int) -> None:
        """Raise a counter of a rare event. A healthy crawl never calls this."""
        if number:
            self._command("HINCRBY", self._keys.named("counts"), name, number)
