"""A finished crawl's result, as it is published when the crawl ends.

Its statistics: `statistics` in `adapters/engine/ledger.py`.
"""

from typing import Any

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus

_TOLD = (
    "status", "end_reason", "error_message", "pages_crawled", "pages_failed", "pages_skipped", "total_discovered",
    "lightweight", "rendered",
)  # fmt: skip


def crawl_result(crawl: CrawlJob) -> dict[str, Any]:
    result = crawl.model_dump(mode="json", include=set(_TOLD))
    started, ended = crawl.started_at, crawl.completed_at
    result["duration_seconds"] = round((ended - started).total_seconds(), 3) if started and ended else 0.0
    return {**result, "progress": 100.0} if crawl.status is CrawlStatus.COMPLETED else result
