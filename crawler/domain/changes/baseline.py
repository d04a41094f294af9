"""Which earlier crawl a crawl is compared with, and whether both were after the same pages."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from crawler.domain.changes.coverage import is_failing
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, EndReason
from crawler.domain.crawls.frontier import Lane
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import lane_of

_REACH = {
    "max_depth", "include_patterns", "exclude_patterns", "include_mode", "preset", "query_params", "meaningful_params",
    "allow_subdomains", "allowed_hosts", "path_prefix", "use_sitemaps", "start_urls", "respect_robots_txt",
    "content_types", "max_links_per_page", "follow_nofollow", "max_scrolls", "render_wait_seconds", "page_steps",
    "follow_links",
}  # fmt: skip
_COMPARABLE_ENDS = frozenset({EndReason.EXHAUSTED, EndReason.MAX_PAGES})


def choose_baseline(candidates: Iterable[CrawlJob], crawl: CrawlJob) -> CrawlJob | None:
    """The newest crawl that `crawl` can honestly be compared with, or None.

    However it was fetched: which versions of a page were fetched alike is another question, answered for each page.
    """
    if crawl.crawl_type is CrawlType.FETCH_ONLY:
        return None
    return max((earlier for earlier in candidates if _is_comparable(earlier, crawl)), key=_ended, default=None)


def choose_witness(candidates: Iterable[CrawlJob], crawl: CrawlJob, baseline: CrawlJob) -> CrawlJob | None:
    """The crawl that tells which pages are new; None when there is none that could have found them all.

    A browser finds links that a server does not send: what it finds is not new because there is a browser now. So for
    a crawl with one it is the newest that had one, too. Nor is a page new because the last crawl stood before a wall:
    one that saw too little says nothing about which pages there are.
    """
    if is_failing(baseline.change_summary):
        candidates = [earlier for earlier in candidates if not is_failing(earlier.change_summary)]
        baseline = choose_baseline(candidates, crawl) or baseline
    if lane_of(crawl) is lane_of(baseline) or lane_of(crawl) is Lane.HTTP:
        return baseline
    return choose_baseline((earlier for earlier in candidates if lane_of(earlier) is Lane.BROWSER), crawl)


def _is_comparable(earlier: CrawlJob, crawl: CrawlJob) -> bool:
    return (
        earlier.id != crawl.id
        and (earlier.project_id, earlier.seed_url) == (crawl.project_id, crawl.seed_url)
        and earlier.crawl_type is not CrawlType.FETCH_ONLY
        and earlier.status is CrawlStatus.COMPLETED
        and earlier.end_reason in _COMPARABLE_ENDS
        and not earlier.stats.get("by_reason", {}).get(Reason.EXISTS)  # it left out what had a document
        and not earlier.comparison_failed  # what changed until then was never told
        and _ended(earlier) < _ended(crawl)
    )


def _ended(crawl: CrawlJob) -> tuple[bool, datetime, UUID]:
    """Crawls in the order they ended; one that is still running is the last."""
    return crawl.completed_at is None, crawl.completed_at or crawl.created_at, crawl.id


def dropped_types(earlier: CrawlConfig, now: CrawlConfig) -> frozenset[str]:
    """Types of files that the earlier crawl took and this one leaves out: nobody misses them."""
    return frozenset(earlier.content_types) - frozenset(now.content_types)


def same_reach(one: CrawlConfig, other: CrawlConfig) -> bool:
    """Whether both crawls were after the same URLs; if not, what only one of them met says nothing."""
    return one.model_dump(include=_REACH) == other.model_dump(include=_REACH)
