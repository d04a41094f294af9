"""What one lease came to: filled in while its answer is read, written with its batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crawler.domain.clock import from_seconds
from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import End, Lane, Lease
from crawler.domain.engine.ledger import (
    PageWrite,
    Picture,
    ProbeEnd,
    Request,
    Snapshot,
    Unchanged,
    Unfetched,
    UrlEnd,
    UrlKey,
    Version,
)
from crawler.domain.reasons import Reason
from crawler.domain.rendering.url_shapes import Findings
from crawler.domain.urls.url import Unusable, Url
from crawler.handlers.engine.crawl_context import CrawlContext


@dataclass(slots=True)
class LeaseResult:
    """What one lease came to: how it ends in the frontier, the rows of its batch, the links to follow."""

    lease: Lease
    context: CrawlContext
    end: End
    key: UrlKey
    lateness_ms: int = 0
    at_ms: int = 0
    moved_url: str = ""
    request: Request | None = None
    url_end: UrlEnd | None = None
    page: PageWrite | None = None
    """Its language is found out when the batch is written."""
    declared_language: str | None = None
    version: Version | None = None
    snapshot: Snapshot | None = None
    unchanged: Unchanged | None = None
    unfetched: Unfetched | None = None
    probe: ProbeEnd | None = None
    links: Sequence[Url] = ()
    kept_links: Sequence[str] = ()
    """As an earlier crawl wrote them down; read only where they are new, which few are."""
    unusable: Sequence[Unusable] = ()
    """Links that nobody can follow, cut to what can be shown."""
    canonical: Url | None = None
    redirect: Url | None = None
    sitemaps: list[str] = field(default_factory=list)
    listed: list[Url] = field(default_factory=list)
    """URLs a sitemap names."""
    note: Reason | None = None
    """What there is to say about a page that is stored."""
    rendering: dict[str, Any] | None = None
    """Why this page alone goes to a browser, or does not."""
    compared: dict[str, Any] | None = None
    finding: Findings | None = None
    picture: Picture | None = None


def log_request(lease: Lease, result: FetchResult, lane: Lane = Lane.HTTP) -> Request | None:
    """A request for the audit; none when nothing went onto the wire."""
    if not result.sent_at:
        return None
    return Request(
        from_seconds(result.sent_at),
        lease.crawl_id,
        lease.host,
        lease.kind.value,
        lane.value,
        result.status or None,
        int(result.elapsed_seconds * 1000),
        url=lease.url,
    )


def tries_of(lease: Lease) -> int:
    """How often its URL was asked for by now, lost workers included."""
    return lease.attempts + lease.losses + 1
