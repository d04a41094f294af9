"""Whether anybody works in a lane. Render workers tell; whoever has something for them asks first."""

from collections.abc import Mapping
from typing import NamedTuple

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.adapters.frontier.keys import LANE_LETTER
from crawler.domain.crawls.frontier import Lane

GRACE_SECONDS = 30.0
"""After so long without a word nobody is there; a worker that starts has so long to say that it is."""
REMEMBERED_SECONDS = 60.0
COUNTED = ("renders", "restarts", "milliseconds")
OPEN, NONE = "open", "none"


class LaneWorker(NamedTuple):
    """What a worker of a lane last said of itself."""

    lack: str = ""
    """Why it cannot do the work, if it cannot."""
    processes: int = 0
    memory_bytes: int = 0
    """Of its browsers."""


ABLE = LaneWorker()


class LaneWatch(FrontierCalls):
    def announce(self, lane: Lane, worker: str, told: LaneWorker = ABLE) -> None:
        """A worker of the lane is there. One that cannot do the work says why, and nobody waits for it."""
        state = NONE if told.lack else OPEN
        self._lane(lane, worker, f"{state} {told.processes} {told.memory_bytes} {told.lack}")

    def is_open(self, lane: Lane) -> bool:
        """Also while that is not known yet, for as long as a worker may take to start."""
        return bool(self._lane(lane))

    def workers(self, lane: Lane) -> dict[str, LaneWorker]:
        """Who is there, by name."""
        self._lane(lane)  # whoever is gone is forgotten by this
        told: Mapping[bytes, bytes] = self._command("HGETALL", self._key(lane))
        return {name[2:].decode(): _worker(value.decode()) for name, value in told.items() if name[:2] == b"w:"}

    def count(self, lane: Lane, *, renders: int, restarts: int, seconds: float) -> None:
        """What a shift adds to the totals of all workers."""
        key = self._keys.named("lane_counts", LANE_LETTER[lane])
        for name, number in zip(COUNTED, (renders, restarts, milliseconds(seconds)), strict=True):
            self._command("HINCRBY", key, name, number)

    def counts(self, lane: Lane) -> dict[str, int]:
        found = self._command("HMGET", self._keys.named("lane_counts", LANE_LETTER[lane]), *COUNTED)
        return {name: int(value or 0) for name, value in zip(COUNTED, found, strict=True)}

    def _lane(self, lane: Lane, *news: str) -> int:
        times = (milliseconds(GRACE_SECONDS), milliseconds(REMEMBERED_SECONDS))
        told: int = self._scripts.run("lane", [self._key(lane)], [*times, *news])
        return told

    def _key(self, lane: Lane) -> bytes:
        return self._keys.named("lane", LANE_LETTER[lane])


def _worker(told: str) -> LaneWorker:
    _, _, processes, memory, lack = told.split(" ", 4)
    return LaneWorker(lack, int(processes), int(memory))
