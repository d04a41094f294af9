"""Rebuild a running crawl's frontier in Redis from Postgres, on request.

What is queued afterwards is decided by `handlers/engine/fill_frontier.py`, which is injected.

After Redis was emptied it happens by itself: `reconcile.py`.
"""

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import CrawlStats
from crawler.domain.crawls.ports import CrawlReader
from crawler.errors import Conflict


class FrontierStats(Protocol):
    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...


class RebuildFrontier:
    def __init__(self, crawls: CrawlReader, fill_frontier: Callable[[CrawlJob], None], frontier: FrontierStats) -> None:
        self._crawls = crawls
        self._fill_frontier = fill_frontier
        self._frontier = frontier

    def __call__(self, crawl_id: UUID) -> int:
        """Rebuild, and return how many URLs are queued afterwards."""
        crawl = self._crawls.get_crawl(crawl_id)
        if crawl.status is not CrawlStatus.IN_PROGRESS:
            raise Conflict(f"Crawl {crawl_id} is {crawl.status}; only a crawl in progress has a frontier.")
        self._fill_frontier(crawl)
        stats = self._frontier.stats(crawl_id)
        return stats.queued if stats else 0
