"""Read sitemaps: fetched under the same delays and limits as pages, their URLs discovered at depth 1.

Parsed in `domain/urls/sitemaps.py`. Which sitemaps are read: `sitemaps` in `robots_and_backoff.py`. Most URLs of all
sitemaps: `MAX_LISTED` in `crawl_context.py`.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.crawls.frontier import End
from crawler.domain.engine.judging import Judgement, ResponseVerdict
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.reasons import Reason
from crawler.domain.urls.sitemaps import MAX_BYTES, NO_SITEMAP, Sitemap, is_gzipped, parse_sitemap
from crawler.domain.urls.url import Url, read
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.request_ticket import RequestTicket
from crawler.handlers.pages.bounded_reading import BoundedReading

log = telemetry.logger(__name__)

RecordDamage = Callable[[UUID, dict[str, Any]], None]

MAX_INDEX_DEPTH = 2
"""Most levels of sitemap indexes that are followed; a redirect counts as one."""
MAX_HOPS = 5
MAX_CHILDREN = 500
QUICK_BYTES = 256 * 1024
"""Of so many bytes the worst sitemap takes a tenth of a second; larger ones are read where that can be ended."""
TOO_LONG = "The sitemap is too large to be read in reasonable time."
# Verdicts with a readable body. Of a sitemap that is too large, the beginning was read.
_READABLE = frozenset({None, Reason.TOO_LARGE})


def sitemap_request(ticket: RequestTicket) -> FetchRequest:
    url, context = ticket.lease.url, ticket.context
    return FetchRequest(
        url,
        headers=context.headers_for(url),
        accept_types=(),
        max_body_bytes=MAX_BYTES,
        stays_packed=True,
        opened=context.state.opened,
        context=ticket,
    )


def read_sitemap(
    settled: LeaseResult,
    result: FetchResult,
    judgement: Judgement,
    record: RecordDamage,
    read_bounded: BoundedReading,
) -> LeaseResult:
    """Read the URLs of a sitemap. A missing or broken sitemap does not fail the crawl: what can be read counts.

    Damage is recorded. That something else stands where sitemaps are looked for, such as a web page, is none.
    """
    settled.end = End.RETRY if judgement.verdict is ResponseVerdict.RETRY else End.DROPPED
    if judgement.verdict is ResponseVerdict.REDIRECT and settled.lease.hops < MAX_HOPS:
        target = read(judgement.target, result.url)
        settled.sitemaps = [target.href] if isinstance(target, Url) else []
    if result.failure not in _READABLE or result.status != 200:
        log.info("sitemap_unread", url=result.url, status=result.status, error=result.error)
        return settled
    sitemap = _parsed(settled.context.crawl.project_id, result.body, read_bounded)
    if sitemap.error:
        log.warning("sitemap_damaged", url=result.url, error=sitemap.error, urls=len(sitemap.urls))
        if sitemap.error != NO_SITEMAP:
            read_urls = len(sitemap.urls) + len(sitemap.children)
            record(settled.context.crawl.id, {"url": result.url, "error": sitemap.error, "urls": read_urls})
    context = settled.context
    settled.listed = context.take_listed(sitemap.urls)
    if len(settled.listed) < len(sitemap.urls):
        log.warning("sitemap_cut", url=result.url, urls=len(sitemap.urls), taken=len(settled.listed))
    if settled.lease.hops < MAX_INDEX_DEPTH:
        children = (read(child, result.url) for child in sitemap.children[:MAX_CHILDREN])
        settled.sitemaps = context.take_sitemaps([url.href for url in children if isinstance(url, Url)])
    return settled


def _parsed(project_id: UUID, body: bytes, read_bounded: BoundedReading) -> Sitemap:
    is_quick = len(body) <= QUICK_BYTES and not is_gzipped(body)
    try:
        return read_bounded.within(("sitemaps", project_id), parse_sitemap, body, is_quick=is_quick)
    except UnparsablePage:
        return Sitemap([], [], truncated=True, error=TOO_LONG)
