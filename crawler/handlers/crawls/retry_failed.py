"""Retry failed URLs of a crawl: in the same crawl while it runs, else in a new one that fetches only them.

Which reasons count as failed: `FAILED` in `domain/reasons.py`. Automatic retries: `domain/retries.py`.
"""

from typing import NamedTuple
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.engine.ports import CrawlStore, Frontier, Hints, Ledger
from crawler.domain.reasons import FAILED
from crawler.domain.rendering.signals import lanes_of
from crawler.errors import Conflict
from crawler.handlers.crawls.start_crawl import StartCrawl
from crawler.handlers.engine.fill_frontier import entry_of


class Retried(NamedTuple):
    crawl_id: UUID
    """The crawl in which they are retried."""
    urls: int


class RetryFailed:
    def __init__(
        self, store: CrawlStore, ledger: Ledger, frontier: Frontier, hints: Hints, start_crawl: StartCrawl
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._frontier = frontier
        self._hints = hints
        self._start_crawl = start_crawl

    def __call__(self, crawl_id: UUID) -> Retried:
        crawl = self._store.get_crawl(crawl_id)
        if crawl.status is CrawlStatus.IN_PROGRESS:
            return self._in_place(crawl)
        if not crawl.status.is_over:
            raise Conflict(f"Crawl {crawl_id} has not begun; there is nothing to try again.")
        urls = self._ledger.failed_urls(crawl_id)
        if not urls:
            return Retried(crawl_id, 0)
        again = self._start_crawl(crawl.project_id, urls=urls, retry_of=crawl_id)
        return Retried(again.id, len(urls))

    def _in_place(self, crawl: CrawlJob) -> Retried:
        rows = self._ledger.requeue(crawl.id, sorted(FAILED))
        self._frontier.readmit(crawl.id, [entry_of(row) for row in rows])
        for lane in lanes_of(crawl):
            self._hints.fetch(lane)
        return Retried(crawl.id, len(rows))
