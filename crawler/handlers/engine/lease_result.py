"""Lease result: what came of one lease, filled in while its response is read, written with its batch."""

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
    """What came of one lease: how it ends in the frontier, the rows for its batch, the links to follow."""

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
    """The page to store. Its language is detected when the batch is written."""
    declared_language: str | None = None
    version: Version | None = None
    light_copy: Version | None = None
    """What the server sent of a page that goes on to the browser, if later crawls may need it; `snapshot` has it."""
    snapshot: Snapshot | None = None
    unchanged: Unchanged | None = None
    unfetched: Unfetched | None = None
    probe: ProbeEnd | None = None
    links: Sequence[Url] = ()
    kept_links: Sequence[str] = ()
    """Links as an earlier crawl stored them. They are parsed only where they are new, which few are."""
    unusable: Sequence[Unusable] = ()
    """Links that are no usable URL, cut to a length that can be shown."""
    canonical: Url | None = None
    redirect: Url | None = None
    known: Url | None = None
    """A page of the crawl before that nothing linked to and that answered a probe."""
    known_depth: int = 0
    sitemaps: list[str] = field(default_factory=list)
    listed: Sequence[str] = ()
    """URLs that a sitemap lists, as it writes them."""
    note: Reason | None = None
    """A note on a page that is stored, such as why the browser failed."""
    rendering: dict[str, Any] | None = None
    """Why this one page is rendered in a browser, or is not."""
    compared: dict[str, Any] | None = None
    says_same_light: bool = False
    """The page was fetched both ways, and what the server sent says what the browser showed."""
    finding: Findings | None = None
    picture: Picture | None = None
    is_ahead: bool = False
    """Some of the URLs that a response names, written before it because there are many. Its lease goes on."""


def count_new_urls(settled: LeaseResult) -> int:
    """How many URLs it names that this process has not followed before."""
    followed = settled.context.followed
    new = len(settled.listed) + len(settled.unusable)
    new += sum([url.href not in followed for url in settled.links])
    return new + sum([href not in followed for href in settled.kept_links])


def log_request(lease: Lease, result: FetchResult, lane: Lane = Lane.HTTP) -> Request | None:
    """The request's row for the politeness audit; None when nothing was sent."""
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
    """How often the lease's URL was requested so far, lost workers included."""
    return lease.attempts + lease.losses + 1
