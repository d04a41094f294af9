"""The frontier's words: what waits, what is leased, how a lease ends.

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
    """What a frontier entry asks for. One letter, because it is the first byte of each queue member."""

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
    """A URL on its way into the frontier."""

    digest: bytes
    """16 bytes naming the normalized URL in the seen-set."""
    host: str
    url: str
    depth: int
    score: int
    """Below zero: only marked as seen, not queued (a URL too deep, waiting for a shorter path)."""
    kind: Kind = Kind.PAGE
    hops: int = 0
    """Redirects that led here, or levels of sitemap indexes; the lease carries it on."""


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
    """Earlier leases of this URL that ran out."""
    hops: int
    """Redirects followed in place so far."""
    claimed_ms: int
    epoch: int
    """Of the crawl's frontier: a rebuild starts a new one, and caches of known URLs die with it."""
    gap_ms: int = 0
    """The host's gap at the claim. When it is 0 nobody needs to hear when the request was sent."""


class End(StrEnum):
    """How a lease ends."""

    STORED = "stored"
    """A page: its budget is spent."""
    DROPPED = "dropped"
    """Skipped or failed: its budget goes back."""
    RETRY = "retry"
    """Again, not before `at_ms`."""
    MOVED = "moved"
    """Again at `url` (a redirect to the same normalized URL), one hop further."""
    RENDER = "render"
    """On to the browser lane; the budget stays taken."""


class Outcome(NamedTuple):
    lease: Lease
    end: End
    at_ms: int = 0
    """End.RETRY: server time before which it must not be claimed."""
    url: str = ""
    lateness_ms: int = 0
    """As `answered` was told; counts when that call was lost."""


class Discovered(NamedTuple):
    """What the frontier answered to a batch of entries."""

    new: int
    lowered: list[bytes]
    """Digests already known with a greater depth: now lowered in the seen-set, to be lowered in the ledger."""


class Limits(NamedTuple):
    """What a crawl may do, as the frontier needs to know it."""

    max_pages: int
    max_fetches: int
    max_concurrent: int
    delay_ms: int
    respect_robots: bool
    lane: Lane = Lane.HTTP
    """In which its pages are queued from now on."""


class HostState(NamedTuple):
    host: str
    next_ms: int
    blocked_until_ms: int
    learned_ms: int
    robots_ms: int
    robots_until_ms: int
    floor_ms: int
    """The least gap an operator asked for."""
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
    """Nothing leased, and nothing that may still be claimed."""
    epoch: int
    building: bool = False
    """A rebuild was begun and has not ended: nothing is claimed, and it must be repeated if nobody is at it."""


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
    """One line of the live view: what waits at a host, and for what."""

    host: str
    lane: Lane
    queued: int
    due_seconds: float | None
    """None: it waits for something that has no time (a resume, a free slot, budget)."""
    why: Wait


class Place(NamedTuple):
    """Where a URL stands in its crawl's queue."""

    lane: Lane
    before: int
    """URLs of the crawl that wait at the same host and come first."""
    due_ms: int | None = None
    """Server time of its next try; None unless it had one."""


class LostRequest(NamedTuple):
    """A request whose worker fell silent: it may have reached the server, so the audit counts it."""

    token: int
    claimed_ms: int
    crawl_id: UUID
    host: str
    kind: Kind
    url: str
