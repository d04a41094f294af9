"""Totals of rendered pages, restarts and seconds of all render workers, in Redis.

Counted by `fetcher.py`, shown by `adapters/operating/metrics_reader.py`.
"""

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds

_NAMES = ("renders", "restarts", "milliseconds")


class RenderCounts(FrontierCalls):
    def add(self, *, renders: int, restarts: int, seconds: float) -> None:
        """Add one shift's numbers to the totals."""
        for name, number in zip(_NAMES, (renders, restarts, milliseconds(seconds)), strict=True):
            self._command("HINCRBY", self._key, name, number)

    def read(self) -> dict[str, int]:
        found = self._command("HMGET", self._key, *_NAMES)
        return {name: int(value or 0) for name, value in zip(_NAMES, found, strict=True)}

    @property
    def _key(self) -> bytes:
        return self._keys.named("lane_counts", "b")
