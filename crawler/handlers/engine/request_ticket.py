"""What travels with a request from its claim to its answer."""

from math import ceil
from typing import NamedTuple

from crawler.domain.changes.probes import Purpose
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import Lease
from crawler.domain.engine.ledger import Previous, UrlKey
from crawler.domain.rendering.signals import LIGHT
from crawler.domain.rendering.url_shapes import Visit
from crawler.domain.retries import MOST_LOSSES
from crawler.handlers.engine.crawl_context import CrawlContext

ON_ITS_WAY_SECONDS = 0.02
"""How long a request may be on its way to the server; more would slow down hosts that only think slowly."""


class RequestTicket(NamedTuple):
    lease: Lease
    context: CrawlContext
    key: UrlKey
    claimed_at: float
    """This process's clock just before the claim: lateness is measured from it."""
    previous: Previous | None = None
    purpose: Purpose | None = None
    """Of a probe."""
    visit: Visit = Visit(render=False, compare=False, why=LIGHT)


def lateness(result: FetchResult) -> int:
    """When the server saw the request, as late as it can have been: the host's gap counts from there.

    Negative when nothing went onto the wire (an address refused, a name not found).
    """
    if not result.sent_at:
        return -1
    seen_at = min(result.head_at or result.sent_at, result.sent_at + ON_ITS_WAY_SECONDS)
    return milliseconds(max(seen_at, result.sent_at) - result.request.context.claimed_at)


def milliseconds(seconds: float) -> int:
    """Rounded up: a gap counted from it must not be short by a part of one."""
    return max(0, ceil(seconds * 1000))


def is_suspect(lease: Lease) -> bool:
    """One more lost worker, and it is poison."""
    return lease.losses >= MOST_LOSSES - 1
