"""What the server saw: its log is the judge of every crawler's speed and manners."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

_FIELDS = (
    "$msec", "$request_time", "$server_addr:$server_port", "$status", "$body_bytes_sent", "$sent_http_content_type",
    "$request_uri",
)  # fmt: skip
FORMAT = "\\t".join(_FIELDS)
"""nginx's own words for the fields of `Line`. Not `$uri`: that is the file's, the same for / and /index.html."""

_NOT_PAGES = ("/robots.txt", "/sitemap")


class Line(NamedTuple):
    """One request. Times are whole milliseconds: what is compared must not depend on rounding."""

    started_ms: int
    ended_ms: int
    host: str
    status: int
    size: int
    content_type: str
    path: str
    """Without its query."""

    @property
    def is_page(self) -> bool:
        """A 304 names no type; only pages are asked for again."""
        found = self.status == 304 or (self.status == 200 and self.content_type.startswith("text/html"))
        return found and not self.path.startswith(_NOT_PAGES)


@dataclass(frozen=True)
class Served:
    """The pages a crawler asked for, from the first request to the last."""

    pages: frozenset[tuple[str, str]] = frozenset()
    seconds: float = 0.0
    megabytes: float = 0.0
    not_modified: int = 0
    requests: int = 0

    @property
    def pages_per_second(self) -> float:
        return len(self.pages) / self.seconds if self.seconds else 0.0

    @property
    def megabytes_per_second(self) -> float:
        return self.megabytes / self.seconds if self.seconds else 0.0


@dataclass(frozen=True)
class Manners:
    """How a crawler treated its hosts."""

    hosts: int
    requests: int
    smallest_gap_ms: int | None
    violations: int
    """Requests that came sooner after the one before than the gap allows."""
    parallel: int
    """The most requests that one host was answering at once."""


def parse(lines: Iterable[str]) -> list[Line]:
    """A last line that is still being written is left out."""
    return [_line(line) for line in lines if line.endswith("\n")]


def served(lines: Iterable[Line]) -> Served:
    pages = [line for line in lines if line.is_page]
    if not pages:
        return Served()
    starts = [line.started_ms for line in pages]
    return Served(
        pages=frozenset((line.host, line.path) for line in pages),
        seconds=(max(starts) - min(starts)) / 1000,
        megabytes=sum(line.size for line in pages) / 1e6,
        not_modified=sum(line.status == 304 for line in pages),
        requests=len(pages),
    )


def manners(lines: Iterable[Line], gap_ms: int) -> Manners:
    """Of all requests, whatever they asked for."""
    by_host: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        by_host[line.host].append(line)
    gaps = [gap for asked in by_host.values() for gap in _gaps(asked)]
    return Manners(
        hosts=len(by_host),
        requests=sum(map(len, by_host.values())),
        smallest_gap_ms=min(gaps, default=None),
        violations=sum(gap < gap_ms for gap in gaps),
        parallel=max(map(_parallel, by_host.values()), default=0),
    )


def everyone_asked_ms(lines: Iterable[Line], hosts: int) -> int | None:
    """The moment at which so many hosts had had their first request."""
    first: dict[str, int] = {}
    for line in lines:
        first[line.host] = min(line.started_ms, first.get(line.host, line.started_ms))
    return max(first.values()) if len(first) >= hosts else None


def count_between(lines: Iterable[Line], from_ms: int, to_ms: int) -> int:
    return sum(from_ms <= line.started_ms < to_ms for line in lines)


def _line(text: str) -> Line:
    ended, took, host, status, size, content_type, target = text.rstrip("\n").split("\t", 6)
    ended_ms = int(ended.replace(".", ""))
    started_ms, path = ended_ms - int(took.replace(".", "")), target.partition("?")[0]
    return Line(started_ms, ended_ms, host, int(status), int(size), content_type, path)


def _gaps(lines: Sequence[Line]) -> list[int]:
    starts = sorted(line.started_ms for line in lines)
    return [later - earlier for earlier, later in pairwise(starts)]


def _parallel(lines: Sequence[Line]) -> int:
    """Ends before starts at the same moment: one after the other is not at once. Each is at work for a moment."""
    moments = sorted(
        moment for line in lines for moment in ((line.started_ms, 1), (max(line.ended_ms, line.started_ms + 1), -1))
    )
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most
