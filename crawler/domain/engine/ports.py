"""The engine's ports, as protocols: Fetcher, Frontier, CrawlStore, Events, BatchWriter, Ledger, Hints.

One contract suite per port tests each implementation.
"""

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
    Seen,
)
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import Batch, FindChildren, Found, LedgerRow, Lowered, Previous, Request, SeedState
from crawler.domain.hosts.refusals import Refusals
from crawler.domain.reasons import Reason


class Fetcher(Protocol):
    """Drives many requests at once in one thread. A failed request is a result, never an exception."""

    @property
    def active(self) -> int: ...

    def submit(self, request: FetchRequest) -> None: ...

    def poll(self, timeout_seconds: float) -> list[FetchResult]:
        """Results that have arrived; waits at most so long for the first."""

    def sent(self) -> list[tuple[FetchRequest, float]]:
        """Requests that were sent since the last call, with their time (unix)."""

    def drop(self, wanted: Callable[[FetchRequest], bool]) -> int:
        """Abort those that are meant and still on their way: they get no result. How many there were."""

    def abandon(self) -> None:
        """Abort all requests; none of them gets a result."""

    def close(self) -> None: ...


class Frontier(Protocol):
    """URLs waiting, per crawl and host. Each call is atomic; all times are the Redis server's."""

    def open_crawl(self, crawl_id: UUID, limits: Limits) -> int:
        """Open the crawl, or update its limits. Returns its epoch."""

    def adjust_gap(self, crawl_id: UUID, limits: Limits) -> bool:
        """Update an open crawl's gap to the current settings. Returns whether it changed."""

    def owed_gap_ms(self, limits: Limits) -> int:
        """The gap between two requests to one host: the crawl's own, or the minimum for every host if longer."""

    def reserve_sequence(self, crawl_id: UUID, count: int) -> int:
        """Reserve `count` sequence numbers. Returns the first."""

    def known(self, crawl_id: UUID, digests: Sequence[bytes], hosts: Sequence[str]) -> list[int | None]:
        """Each digest's depth, or None when the frontier has not seen it. `hosts` are those of their URLs."""

    def discover(self, crawl_id: UUID, entries: Sequence[Entry]) -> Discovered:
        """Queue new entries. For known ones with a smaller depth, lower the seen-set and report them."""

    def readmit(self, crawl_id: UUID, entries: Sequence[Entry]) -> int:
        """Queue these although they are known, unless they are queued or leased. Returns how many were queued."""

    def rebuild(
        self,
        crawl_id: UUID,
        limits: Limits,
        *,
        seen: Iterable[Seen],
        entries: Iterable[Entry],
        pages_left: int,
        fetches_left: int,
    ) -> int:
        """Fill the crawl's frontier again from the ledger. Returns the new epoch. If interrupted, it can be repeated.

        `seen` and `entries` are read only after the old frontier is gone.
        """

    def due(self, lane: Lane, count: int) -> tuple[list[tuple[UUID, str]], float | None]:
        """(crawl, host) pairs that may be requested now, and the seconds until the next one if there is none."""

    def claim(
        self,
        lane: Lane,
        pairs: Sequence[tuple[UUID, str]],
        count: int,
        lease_seconds: float,
        share: int = 1,
        free: int | None = None,
    ) -> list[Lease]:
        """Claim at most `count` leases, each within every limit of its host and crawl, shared fairly among the crawls.

        `share`: how many shifts are at work. One call takes at most its share of a host's in-flight limit; otherwise
        one process would take all of it and the others would starve.
        `free`: slots that are free in all shifts. No crawl gets more of them than leaves some to others; without it one
        may take all.
        """

    def sent(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """Report sent requests, each with the milliseconds since just before its claim."""

    def answered(self, moments: Sequence[tuple[Lease, int]]) -> None:
        """Report responses: the in-flight slots of host and crawl become free; the leases stay.

        A negative lateness means that no request was made: the host's next time is what it was before the claim.
        """

    def complete(
        self, crawl_id: UUID, outcomes: Sequence[Outcome], entries: Sequence[Entry] = ()
    ) -> tuple[list[Lease], Discovered]:
        """End leases and queue the URLs they found, after the commit.

        Entries go first. If any of them lowers a known depth, no lease ends yet: the caller writes the lowered depths
        and calls again without entries. Returns the leases that were no longer ours.
        """

    def release(self, leases: Iterable[Lease]) -> None:
        """Put leases back into the queue as if never claimed (a worker shutting down)."""

    def reap(self, crawl_id: UUID, count: int = 64) -> list[tuple[Lease, bool]]:
        """Put expired leases back with one loss more. True marks those with too many losses: they stay out (poison).

        Poison leases are returned again by each call until they are completed as dropped.
        """

    def lost_requests(self, count: int = 500) -> list[LostRequest]:
        """Requests of expired leases, oldest first. They are returned again until they are forgotten."""

    def forget_lost_requests(self, lost: Sequence[LostRequest]) -> None: ...

    def set_robots(self, host: str, until_seconds: float, delay_seconds: float) -> None:
        """Record that the host's robots.txt is valid for so long (0: fetch it again), with its crawl delay."""

    def block_host(self, host: str, seconds: float, learned_seconds: float, incidents: int) -> None:
        """Block the host for so long (0 lifts a block; a longer one stays) and keep the learned gap afterwards."""

    def pause_host(self, host: str, *, paused: bool) -> None: ...

    def set_host_delay(self, host: str, seconds: float) -> None: ...

    def host(self, host: str) -> HostState: ...

    def host_states(self, hosts: Sequence[str]) -> list[HostState]:
        """States in the order of `hosts`, which must not repeat a host."""

    def pause_crawl(self, crawl_id: UUID, *, paused: bool) -> None: ...

    def close_crawl(self, crawl_id: UUID) -> None:
        """Remove the crawl from the frontier. Leases that are completed later are stale."""

    def open_crawls(self) -> list[UUID]: ...

    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...

    def waiting(self, crawl_id: UUID, count: int = 50) -> list[HostWait]:
        """What waits at the crawl's first `count` hosts, and for what."""

    def enter_shift(self, lane: Lane, shift_id: str, ttl_seconds: float) -> int:
        """Register a shift as at work for so long (call again to stay registered). Returns how many are at work."""

    def leave_shift(self, lane: Lane, shift_id: str) -> None: ...

    def acquire_hint(self, lane: Lane, milliseconds: int) -> bool:
        """True once in so many milliseconds over all processes, and again as soon as a shift starts."""

    def acquire_reconcile(self, seconds: float) -> bool:
        """True once in so many seconds, over all processes."""

    def release_reconcile(self) -> None:
        """Let the next one reconcile at once."""

    def reconcile_place(self) -> UUID | None:
        """The last open crawl that was looked after, if a look stopped there before it came to all."""

    def keep_reconcile_place(self, crawl_id: UUID | None) -> None: ...

    def acquire_task(self, task: str, seconds: float) -> bool: ...

    def acquire_wake(self, lane: Lane, seconds: float) -> bool:
        """True unless a wake-up is already scheduled that comes no later than in so many seconds."""

    def count_turn(self, crawl_id: UUID, done: str) -> int:
        """Note that the end of a crawl that has done so much was put off. Returns how often that was so."""


class CrawlStore(Protocol):
    """Crawl rows and their guarded changes of state."""

    def get_crawl(self, crawl_id: UUID) -> CrawlJob: ...

    def get_project(self, project_id: UUID) -> Project: ...

    def has_credentials(self, project_id: UUID) -> bool: ...

    def open_crawls(self, after: UUID | None = None, limit: int | None = None) -> list[CrawlJob]:
        """Those that have not ended, by their ids."""

    def open_crawl_ids(self) -> list[UUID]: ...

    def take_half_ended(self, most: int) -> list[CrawlJob]:
        """Crawls that ended and were not compared since: the process that ended them may have died."""

    def change_crawl(self, old: CrawlJob, new: CrawlJob) -> CrawlJob: ...

    def save_stats(self, crawl_id: UUID, stats: dict[str, Any]) -> CrawlJob: ...

    def save_diff(self, crawl_id: UUID, summary: dict[str, Any] | None, compared_to: UUID | None) -> CrawlJob: ...

    def set_paused(self, crawl_id: UUID, now: datetime, *, paused: bool) -> CrawlJob: ...


class Events(Protocol):
    """Live events of a crawl, with sequence numbers. Bounded and lossy: the database is the record."""

    def publish(self, crawl_id: UUID, kind: str, data: dict[str, Any]) -> None: ...


class BatchWriter(Protocol):
    """Writes a batch of the engine's results in one transaction."""

    def check(self) -> None:
        """Raises when nothing can be stored now."""

    def write(self, batch: Batch, find_children: FindChildren) -> Sequence[Found]:
        """Commit the batch. Returns those of the found children that were already known."""

    def previous(
        self,
        project_id: UUID,
        normalized_urls: Sequence[str],
        *,
        baseline_id: UUID | None = None,
        with_snapshots: bool = False,
    ) -> dict[str, Previous]: ...

    def log_requests(self, requests: Sequence[Request]) -> None: ...


class Ledger(Protocol):
    """A crawl's URLs in Postgres, for everything outside the hot path."""

    def rows(self, crawl_id: UUID, *, queued_only: bool = False) -> Iterator[LedgerRow]: ...

    def count_queued(self, crawl_id: UUID) -> int: ...

    def close_rest(self, crawl_id: UUID, reason: Reason) -> int: ...

    def refusals(self, crawl_id: UUID, hosts: Sequence[str]) -> dict[str, Refusals]:
        """What hosts refused the crawl since they answered it anything else; without those that refused nothing."""

    def give_up_rest(self, crawl_id: UUID, refusals: Refusals) -> int:
        """End all URLs that are still queued: they were refused."""

    def requeue(
        self, crawl_id: UUID, reasons: Sequence[Reason], urls: Sequence[str] | None = None
    ) -> list[LedgerRow]: ...

    def failed_urls(self, crawl_id: UUID) -> list[str]: ...

    def lower_depths(self, crawl_id: UUID, depths: Sequence[tuple[str, int]]) -> list[Lowered]: ...

    def redirects(self, crawl_id: UUID) -> Iterator[tuple[str, str]]:
        """Normalized URL and target of each URL that ended as a redirect."""

    def mark_loops(self, crawl_id: UUID, normalized_urls: Sequence[str], error: str) -> None:
        """Mark redirects that only lead to each other as failed."""

    def page_requests(self, crawl_id: UUID) -> int:
        """How many requests for pages the crawl has sent, retries and redirects included."""

    def work_done(self, crawl_id: UUID) -> tuple[int, int]:
        """How many requests for pages the crawl has sent, and how many beyond them have ended."""

    def count_variants(self, crawl_id: UUID, key_of: Callable[[str], str | None]) -> None: ...

    def statistics(self, crawl_id: UUID) -> dict[str, Any]: ...

    def seed_state(self, crawl_id: UUID) -> SeedState | None: ...

    def is_whole(self, crawl_id: UUID) -> bool: ...


class Hints(Protocol):
    """Messages that tell workers to look for work. A lost one costs time, nothing else."""

    def start_crawl(self, crawl_id: UUID) -> None: ...

    def fetch(self, lane: Lane, countdown_seconds: float = 0) -> None: ...

    def finish_crawl(self, crawl_id: UUID, *, later: bool = False) -> None: ...

    def tend_large_crawl(self, crawl_id: UUID) -> None: ...

    def after_crawl(self, crawl_id: UUID, *, later: bool = False) -> None: ...

    def notify(self, crawl_id: UUID, countdown_seconds: float = 0) -> None: ...

    def resend_notice(self, notification_id: UUID) -> None: ...

    def run_queue(self) -> None: ...

    def ingest_documents(self) -> None: ...

    def extract_entries(self, countdown_seconds: float = 0) -> None: ...
