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
    kind: Kind = Kind.PAGE


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
    scope_only: bool = False


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
