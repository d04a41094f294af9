"""What the handlers need from the outside, as protocols. One contract suite per port."""

from collections.abc import Iterable, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.fetching import FetchRequest, FetchResult
from crawler.domain.frontier import CrawlStats, Discovered, Entry, HostState, Lane, Lease, Limits, Outcome


class Fetcher(Protocol):
    """Drives many requests at once in one thread. A bad answer is a result, never an exception."""

    @property
    def active(self) -> int: ...

    def submit(self, request: FetchRequest) -> None: ...

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        """What has finished; waits at most so long for the first."""

    def sent(self) -> list[tuple[FetchRequest, float]]:
        """Requests that went onto the wire since the last call, and when (unix time)."""

    def close(self) -> None: ...


class Frontier(Protocol):
    """URLs waiting, per crawl and host. Each call is atomic; all times are the server's."""

    def open_crawl(self, crawl_id: UUID, limits: Limits) -> int:
        """Make the crawl known (or update its limits); its epoch."""

    def reserve_sequence(self, crawl_id: UUID, count: int) -> int:
        """The first of `count` sequence numbers that are now ours."""

    def known(self, crawl_id: UUID, digests: Sequence[bytes]) -> list[int | None]:
        """Each digest's depth, or None when the frontier has not seen it."""

    def discover(self, crawl_id: UUID, entries: Sequence[Entry]) -> Discovered:
        """Queue what is new; known entries with a smaller depth are lowered in the seen-set and reported."""

    def due(self, lane: Lane, count: int) -> tuple[list[tuple[UUID, str]], float | None]:
        """(crawl, host) pairs that may be asked now, and seconds until the next one if none is."""

    def claim(
        self, lane: Lane, pairs: Sequence[tuple[UUID, str]], count: int, lease_seconds: float
    ) -> list[Lease]:
        """At most `count` leases, each within every limit of its host and crawl."""

    def sent(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """These requests went onto the wire so many ms after the moment before their claim call."""

    def answered(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """Their answers are here: the host's and the crawl's in-flight slots are free; the leases stay."""

    def complete(
        self, crawl_id: UUID, outcomes: Sequence[Outcome], entries: Sequence[Entry] = ()
    ) -> tuple[list[Lease], Discovered]:
        """End leases and queue what they found, after the commit.

        Entries go first; if any of them lowers a known depth, no lease ends yet: the caller writes the
        lowered depths and calls again without entries. Returns the leases that were no longer ours.
        """

    def release(self, leases: Iterable[Lease]) -> None:
        """Back into the queue as if never claimed (a worker shutting down)."""

    def reap(self, crawl_id: UUID, count: int = 64) -> list[tuple[Lease, bool]]:
        """Expired leases go back with one loss more; True marks those with too many: they stay out."""

    def set_robots(self, host: str, until_seconds: float, delay_seconds: float) -> None: ...

    def block_host(self, host: str, seconds: float, learned_seconds: float, incidents: int) -> None: ...

    def pause_host(self, host: str, *, paused: bool) -> None: ...

    def set_host_delay(self, host: str, seconds: float) -> None: ...

    def host(self, host: str) -> HostState: ...

    def pause_crawl(self, crawl_id: UUID, *, paused: bool) -> None: ...

    def close_crawl(self, crawl_id: UUID) -> None:
        """Forget the crawl: what completes later is stale."""

    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...
