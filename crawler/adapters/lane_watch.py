"""Whether anybody works in a lane. Render workers tell; whoever has something for them asks first."""

from collections.abc import Mapping

from crawler.adapters.frontier_calls import FrontierCalls, milliseconds
from crawler.adapters.frontier_keys import LANE_LETTER
from crawler.domain.frontier import Lane

GRACE_SECONDS = 30.0
"""After so long without a word nobody is there; a worker that starts has so long to say that it is."""
REMEMBERED_SECONDS = 60.0
REPORTED = ("renders", "restarts", "processes", "memory_bytes")


class LaneWatch(FrontierCalls):
    def announce(self, lane: Lane, *, able: bool) -> None:
        """A worker of the lane is there. One that cannot do the work says so, and nobody waits for it."""
        self._lane(lane, "open" if able else "none")

    def is_open(self, lane: Lane) -> bool:
        """Also while that is not known yet, for as long as a worker may take to start."""
        return bool(self._lane(lane, ""))

    def report(self, lane: Lane, numbers: Mapping[str, int]) -> None:
        """For whoever watches: what the lane's last shift had to say."""
        flat = [part for name in REPORTED for part in (name, numbers[name])]
        self._command("HSET", self._key(lane), *flat)

    def numbers(self, lane: Lane) -> dict[str, int]:
        found = self._command("HMGET", self._key(lane), *REPORTED)
        return {name: int(value or 0) for name, value in zip(REPORTED, found, strict=True)}

    def _lane(self, lane: Lane, news: str) -> int:
        times = (milliseconds(GRACE_SECONDS), milliseconds(REMEMBERED_SECONDS))
        told: int = self._scripts.run("lane", [self._key(lane)], [news, *times])
        return told

    def _key(self, lane: Lane) -> bytes:
        return self._keys.named("lane", LANE_LETTER[lane])
