"""What the handlers need from the outside, as protocols. One contract suite per port."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.crawls.frontier import (
    CrawlStats,
    Discovered,
    Entry,
    HostState,
    HostWait,
    Lane,
    Lease,
    Limits,
    LostRequest,
    Outcome,
)
from crawler.domain.engine.ledger import Batch, FindChildren, Found, LedgerRow, Lowered, Previous, Request
from crawler.domain.reasons import Reason


class Fetcher(Protocol):
    """Drives many requests at once in one thread. A bad answer is a result, never an exception."""

    @property
    def active(self) -> int: ...

    def submit(self, request: FetchRequest) -> None: ...

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        """What has finished; waits at most so long for the first."""

    def sent(self) -> list[tuple[FetchRequest, float]]:
        """Requests that went onto the wire since the last call, and when (unix time)."""

    def abandon(self) -> None:
        """Break off every request; none of them has a result."""

    def close(self) -> None: ...


class Frontier(Protocol):
    """URLs waiting, per crawl and host. Each call is atomic; all times are the server's."""

    def open_crawl(self, crawl_id: UUID, limits: Limits) -> int:
        """Make the crawl known (or update its limits); its epoch."""

    def adjust_gap(self, crawl_id: UUID, limits: Limits) -> bool:
        """Bring an open crawl's gap to what is owed now; whether it was another one."""

    def owed_gap_ms(self, limits: Limits) -> int:
        """Between two requests of a crawl with these limits to one host: its own gap, or what every host is owed."""

    def reserve_sequence(self, crawl_id: UUID, count: int) -> int:
        """The first of `count` sequence numbers that are now ours."""

    def known(self, crawl_id: UUID, digests: Sequence[bytes]) -> list[int | None]:
        """Each digest's depth, or None when the frontier has not seen it."""

    def discover(self, crawl_id: UUID, entries: Sequence[Entry]) -> Discovered:
        """Queue what is new; known entries with a smaller depth are lowered in the seen-set and reported."""

    def readmit(self, crawl_id: UUID, entries: Sequence[Entry]) -> int:
        """Queue these although they are known, unless they already wait or are leased; how many were queued."""

    def rebuild(
        self,
        crawl_id: UUID,
        limits: Limits,
        *,
        seen: Iterable[tuple[bytes, int]],
        entries: Iterable[Entry],
        pages_left: int,
        fetches_left: int,
    ) -> int:
        """Fill the crawl's frontier anew from the ledger; the new epoch. Interrupted, it can be repeated.

        `seen` and `entries` are read only after the old frontier is gone.
        """

    def due(self, lane: Lane, count: int) -> tuple[list[tuple[UUID, str]], float | None]:
        """(crawl, host) pairs that may be asked now, and seconds until the next one if none is."""

    def claim(
        self, lane: Lane, pairs: Sequence[tuple[UUID, str]], count: int, lease_seconds: float, share: int = 1
    ) -> list[Lease]:
        """At most `count` leases, each within every limit of its host and crawl.

        `share`: how many shifts are at work. Of a host's in-flight cap one call takes at most its share, or one
        process would take all of it and the others would starve.
        """

    def sent(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """These requests went onto the wire so many ms after the moment before their claim call."""

    def answered(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """Their answers are here: the host's and the crawl's in-flight slots are free; the leases stay.

        A negative lateness says that no request was made: the host's time is what it was before the claim.
        """

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
        """Expired leases go back with one loss more; True marks those with too many: they stay out.

        Those are told again by each call until they are completed as dropped.
        """

    def lost_requests(self, count: int = 500) -> list[LostRequest]:
        """Requests of leases that ran out, oldest first; told again until they are forgotten."""

    def forget_lost_requests(self, lost: Sequence[LostRequest]) -> None: ...

    def set_robots(self, host: str, until_seconds: float, delay_seconds: float) -> None:
        """Its robots.txt is known for so long (0: ask again); its pages may go."""

    def block_host(self, host: str, seconds: float, learned_seconds: float, incidents: int) -> None:
        """Stay away for so long (0 lifts a block; a longer one stays) and keep this gap afterwards."""

    def pause_host(self, host: str, *, paused: bool) -> None: ...

    def set_host_delay(self, host: str, seconds: float) -> None: ...

    def host(self, host: str) -> HostState: ...

    def pause_crawl(self, crawl_id: UUID, *, paused: bool) -> None: ...

    def close_crawl(self, crawl_id: UUID) -> None:
        """Forget the crawl: what completes later is stale."""

    def open_crawls(self) -> list[UUID]: ...

    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...

    def waiting(self, crawl_id: UUID, count: int = 50) -> list[HostWait]:
        """What waits at the first so many hosts, and for what."""

    def enter_shift(self, lane: Lane, shift_id: str, ttl_seconds: float) -> int:
        """A shift is at work, known for so long (call again to stay known); how many are."""

    def leave_shift(self, lane: Lane, shift_id: str) -> None: ...

    def acquire_hint(self, lane: Lane, milliseconds: int) -> bool:
        """True once in so many milliseconds over all processes, and again as soon as a shift enters."""

    def acquire_reconcile(self, seconds: float) -> bool:
        """True once in so many seconds, over all processes."""

    def acquire_wake(self, lane: Lane, seconds: float) -> bool:
        """True unless a wake-up that comes no later than in so many seconds is already under way."""


class CrawlStore(Protocol):
    """Crawl rows and their guarded changes of state."""

    def get_crawl(self, crawl_id: UUID) -> CrawlJob: ...

    def open_crawls(self) -> list[CrawlJob]: ...

    def take_half_ended(self) -> list[CrawlJob]:
        """Crawls that are over and were not compared since: whoever ended them may have died on the way."""

    def change_crawl(self, old: CrawlJob, new: CrawlJob) -> CrawlJob: ...

    def save_stats(self, crawl_id: UUID, stats: dict[str, Any]) -> CrawlJob: ...

    def set_paused(self, crawl_id: UUID, now: datetime, *, paused: bool) -> CrawlJob: ...


class Events(Protocol):
    """Live news of a crawl, with sequence numbers; bounded, and never the record."""

    def publish(self, crawl_id: UUID, kind: str, data: dict[str, Any]) -> None: ...


class BatchWriter(Protocol):
    """The engine's commit."""

    def check(self) -> None:
        """Raises when nothing could be stored now."""

    def write(self, batch: Batch, find_children: FindChildren) -> Sequence[Found]:
        """Commit the batch; of the children found, those that were known before."""

    def previous(
        self, project_id: UUID, normalized_urls: Sequence[str], *, with_snapshots: bool = False
    ) -> dict[str, Previous]: ...

    def log_requests(self, requests: Sequence[Request]) -> None: ...


class Ledger(Protocol):
    """The crawl's URLs as Postgres knows them, beside the hot path."""

    def rows(self, crawl_id: UUID, *, queued_only: bool = False) -> Iterator[LedgerRow]: ...

    def count_queued(self, crawl_id: UUID) -> int: ...

    def close_rest(self, crawl_id: UUID, reason: Reason) -> int: ...

    def requeue(
        self, crawl_id: UUID, reasons: Sequence[Reason], urls: Sequence[str] | None = None
    ) -> list[LedgerRow]: ...

    def failed_urls(self, crawl_id: UUID) -> list[str]: ...

    def lower_depths(self, crawl_id: UUID, depths: Sequence[tuple[str, int]]) -> list[Lowered]: ...

    def redirects(self, crawl_id: UUID) -> Iterator[tuple[str, str]]:
        """Normalized URL and target of what ended as a redirect."""

    def mark_loops(self, crawl_id: UUID, normalized_urls: Sequence[str], error: str) -> None:
        """These redirects lead nowhere but to each other: they failed."""

    def page_requests(self, crawl_id: UUID) -> int:
        """How often the crawl has asked for a page, retries and redirects included."""

    def count_variants(self, crawl_id: UUID, key_of: Callable[[str], str | None]) -> None: ...

    def statistics(self, crawl_id: UUID) -> dict[str, Any]: ...

    def seed_state(self, crawl_id: UUID) -> tuple[str, str | None, str | None] | None: ...

    def is_whole(self, crawl_id: UUID) -> bool: ...


class Hints(Protocol):
    """Tells workers to go and look. A lost hint costs time, nothing else."""

    def start_crawl(self, crawl_id: UUID) -> None: ...

    def fetch(self, lane: Lane, countdown_seconds: float = 0) -> None: ...

    def finish_crawl(self, crawl_id: UUID) -> None: ...

    def after_crawl(self, crawl_id: UUID) -> None: ...

    def notify(self, crawl_id: UUID) -> None: ...

    def resend_notice(self, notification_id: UUID) -> None: ...

    def run_queue(self) -> None: ...

    def ingest_documents(self) -> None: ...

    def extract_entries(self, countdown_seconds: float = 0) -> None: ...
