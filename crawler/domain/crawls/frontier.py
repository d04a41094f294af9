"""Frontier values: entries that are queued, leases, how a lease ends, limits, and why a host's URLs wait.

The hot path makes thousands of these a second, so they are named tuples, not pydantic models.
"""

from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

PRIORITY_STRIDE = 2**40
"""Score = priority × 2^40 + sequence: FIFO inside a priority, exact in a double."""


class Lane(StrEnum):
    HTTP = "http"
    BROWSER = "browser"


class Kind(StrEnum):
    """What a frontier entry requests. One letter, because it is the first byte of each queue member."""

    PAGE = "p"
    SITEMAP = "s"
    PROBE = "b"
    ROBOTS = "r"


class Priority:
    HOMEPAGE = 0
    INCLUDED = 1
    OTHER = 2
    PROBE = 3


def score(priority: int, sequence: int) -> int:
    return priority * PRIORITY_STRIDE + sequence


class Entry(NamedTuple):
    """A URL to add to the frontier."""

    digest: bytes
    """16-byte hash of the normalized URL, its name in the seen-set."""
    host: str
    url: str
    depth: int
    score: int
    """Its place in the queue. Below zero: only marked as seen, not queued (too deep, waiting for a shorter path)."""
    kind: Kind = Kind.PAGE
    hops: int = 0
    """Number of redirects that led here, or of sitemap index levels. The lease keeps it."""


class Seen(NamedTuple):
    """A URL that the frontier knows, queued or not."""

    digest: bytes
    depth: int
    host: str


class Lease(NamedTuple):
    """A worker's time-limited claim on one request."""

    crawl_id: UUID
    host: str
    kind: Kind
    url: str
    token: int
    attempts: int
    """Earlier tries of this URL that ended in "retry later"."""
    losses: int
    """Earlier leases of this URL that expired."""
    hops: int
    """Redirects to the same normalized URL followed so far."""
    claimed_ms: int
    epoch: int
    """Epoch of the crawl's frontier. A rebuild starts a new one, and caches of known URLs end with it."""
    gap_ms: int = 0
    """The host's gap at the claim. When it is 0, the time of sending need not be reported."""


class End(StrEnum):
    """How a lease ends."""

    STORED = "stored"
    """A page was stored: its budget is spent."""
    DROPPED = "dropped"
    """The URL was skipped or failed: its budget is given back."""
    RETRY = "retry"
    """Retry, not before `at_ms`."""
    MOVED = "moved"
    """Request `url` instead (a redirect to the same normalized URL), with one hop more."""
    RENDER = "render"
    """Queue in the browser lane; the budget stays taken."""


class Outcome(NamedTuple):
    lease: Lease
    end: End
    at_ms: int = 0
    """For End.RETRY: the server time before which the URL must not be claimed."""
    url: str = ""
    lateness_ms: int = 0
    """Lateness as reported to `answered`. It counts if that call was lost."""


class Discovered(NamedTuple):
    """The frontier's reply to a batch of discovered entries."""

    new: int
    lowered: list[bytes]
    """Digests that were known with a greater depth. They are lowered in the seen-set, and must be in the ledger."""


class Limits(NamedTuple):
    """A crawl's limits, as the frontier needs them."""

    max_pages: int
    max_fetches: int
    max_concurrent: int
    delay_ms: int
    respect_robots: bool
    lane: Lane = Lane.HTTP
    """The lane in which the crawl's pages are queued from now on."""


class HostState(NamedTuple):
    host: str
    next_ms: int
    blocked_until_ms: int
    learned_ms: int
    robots_ms: int
    robots_until_ms: int
    floor_ms: int
    """The minimum gap that an operator set."""
    in_flight: int
    paused: bool
    incidents: int


class CrawlStats(NamedTuple):
    queued: int
    leased: int
    in_flight: int
    budget_left: int
    paused: bool
    finished: bool
    """Nothing is leased, and nothing can be claimed any more."""
    epoch: int
    building: bool = False
    """A rebuild has started and not ended. Nothing is claimed, and if its process died it must be repeated."""


class Wait(StrEnum):
    """Why a host's URLs are not being fetched right now."""

    READY = "ready"
    GAP = "gap"
    BLOCKED = "blocked"
    ROBOTS = "robots"
    PAUSED = "paused"
    HOST_CAP = "host_cap"
    CRAWL_CAP = "crawl_cap"
    BUDGET = "budget"
    RETRY = "retry"


class HostWait(NamedTuple):
    """One line of the live view: how many URLs wait at a host, and for what."""

    host: str
    lane: Lane
    queued: int
    due_seconds: float | None
    """Server time until which they wait; None if that is unknown (a resume, a free slot, budget)."""
    why: Wait


class Place(NamedTuple):
    """Where a URL stands in its crawl's queue."""

    lane: Lane
    before: int
    """URLs of the crawl that wait at the same host and come first."""
    due_ms: int | None = None
    """Server time of its next retry; None if it has not been tried."""


class LostRequest(NamedTuple):
    """A request whose worker died. It may have reached the server, so the politeness audit counts it."""

    token: int
    claimed_ms: int
    crawl_id: UUID
    host: str
    kind: Kind
    url: str
