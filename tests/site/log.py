"""The access log: the ground truth about what a crawler did to the site.

One line for each request, written when its answer is sent or its connection is lost, fields apart by tabs:
arrived, ended, address, method, target, status, connection, user agent. Times are unix seconds with microseconds,
on a clock that never steps. `arrived` is when the whole head was read; status 0 means that no answer was sent in full.
"""

import os
import time
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_CLOCK_OFFSET = time.time() - time.perf_counter()


def now() -> float:
    return _CLOCK_OFFSET + time.perf_counter()


class LoggedRequest(NamedTuple):
    arrived: float
    ended: float
    address: str
    """The loopback address that was dialled."""
    method: str
    target: str
    status: int
    connection: int
    user_agent: str

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


READ_LATE_SECONDS = 0.15
"""So late a busy machine may let the site read a request that was sent in time."""


class Politeness(NamedTuple):
    requests: int
    smallest_gap: float
    """Seconds between the arrivals of two requests; infinite when there was only one."""
    largest_parallel: int
    span: float
    """Seconds from the first arrival to the last."""

    def keeps(self, delay: float) -> bool:
        """Whether requests came so far apart, but for a request that was read late. That makes one gap shorter and
        another longer, so it does not add up over the requests."""
        owed = (self.requests - 1) * delay
        return self.smallest_gap >= delay - READ_LATE_SECONDS and self.span >= owed - READ_LATE_SECONDS


class AccessLog:
    """Appends; each line is in the file when `write` returns."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, line: LoggedRequest) -> None:
        agent = line.user_agent.replace("\t", " ")
        text = (
            f"{line.arrived:.6f}\t{line.ended:.6f}\t{line.address}\t{line.method}\t{line.target}"
            f"\t{line.status}\t{line.connection}\t{agent}\n"
        )
        os.write(self._file, text.encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        os.close(self._file)


def read(path: Path) -> Iterator[LoggedRequest]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield _parsed(line[:-1])


def politeness(requests: Iterable[LoggedRequest]) -> dict[str, Politeness]:
    """For each address: how close together requests came, and how many were under way at once."""
    by_address: dict[str, list[LoggedRequest]] = {}
    for request in sorted(requests):
        by_address.setdefault(request.address, []).append(request)
    return {name: _judged(found) for name, found in by_address.items()}


def _judged(found: list[LoggedRequest]) -> Politeness:
    gaps = (later.arrived - earlier.arrived for earlier, later in pairwise(found))
    span = found[-1].arrived - found[0].arrived
    return Politeness(len(found), min(gaps, default=float("inf")), _largest_parallel(found), span)


def _largest_parallel(found: list[LoggedRequest]) -> int:
    under_way: list[float] = []
    largest = 0
    for request in found:
        while under_way and under_way[0] <= request.arrived:
            heappop(under_way)
        heappush(under_way, request.ended)
        largest = max(largest, len(under_way))
    return largest


def _parsed(line: str) -> LoggedRequest:
    arrived, ended, address, method, target, status, connection, agent = line.split("\t", 7)
    return LoggedRequest(float(arrived), float(ended), address, method, target, int(status), int(connection), agent)
