"""Request ticket: the lease, crawl context and claim time that travel with a request until its response."""

from math import ceil
from typing import NamedTuple

from crawler.domain.changes.probes import ProbeTask
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import Lease
from crawler.domain.engine.ledger import Previous, UrlKey
from crawler.domain.rendering.signals import LIGHT
from crawler.domain.rendering.url_shapes import Visit
from crawler.domain.retries import MOST_LOSSES
from crawler.handlers.engine.crawl_context import CrawlContext

ON_ITS_WAY_SECONDS = 0.02
"""Longest time a request is assumed to travel to the server. More would slow down hosts that only respond slowly."""


class RequestTicket(NamedTuple):
    lease: Lease
    context: CrawlContext
    key: UrlKey
    claimed_at: float
    """This process's clock just before the claim. Lateness is measured from it."""
    previous: Previous | None = None
    probe: ProbeTask | None = None
    """For a probe only: what it is for."""
    visit: Visit = Visit(render=False, compare=False, why=LIGHT)


def lateness(result: FetchResult) -> int:
    """Milliseconds from the claim to when the server saw the request at the latest. The host's gap starts there.

    Negative when nothing was sent (an address refused, a name not found).
    """
    if not result.sent_at:
        return -1
    seen_at = min(result.head_at or result.sent_at, result.sent_at + ON_ITS_WAY_SECONDS)
    return milliseconds(max(seen_at, result.sent_at) - result.request.context.claimed_at)


def milliseconds(seconds: float) -> int:
    """Milliseconds, rounded up, so that a gap counted from them is never too short."""
    return max(0, ceil(seconds * 1000))


def is_suspect(lease: Lease) -> bool:
    """Whether one more lost worker makes the lease's URL poison (given up as one that kills workers)."""
    return lease.losses >= MOST_LOSSES - 1
