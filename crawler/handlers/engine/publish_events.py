"""Publish a crawl's live events after each commit: its pages as one batch, its progress at most twice a second.

Percentages: `domain/crawls/progress.py`. The stream and how long it is kept: `adapters/operating/event_stream.py`.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, FetchState
from crawler.domain.crawls.progress import progress
from crawler.domain.engine.ledger import UrlKey
from crawler.domain.engine.ports import CrawlStore, Events, Frontier
from crawler.errors import NotFound
from crawler.handlers.engine.lease_result import LeaseResult

PROGRESS_SECONDS = 0.5
MAX_TIMES = 2000


class EventStream(Events, Protocol):
    def publish_many(self, crawl_id: UUID, kind: str, items: list[dict[str, Any]]) -> None: ...
    def highest(self, crawl_id: UUID, percentage: float) -> float: ...


class PublishEvents:
    def __init__(
        self, events: EventStream, store: CrawlStore, frontier: Frontier, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._events = events
        self._store = store
        self._frontier = frontier
        self._clock = clock
        self._next: dict[UUID, float] = {}

    def pages(self, settled: Iterable[LeaseResult], depths: Mapping[UrlKey, int]) -> None:
        """Publish URLs that reached their end. A URL that will be retried has no event."""
        by_crawl: dict[UUID, list[dict[str, Any]]] = {}
        for one in settled:
            if one.url_end is not None:
                by_crawl.setdefault(one.key.crawl_id, []).append(_page(one, depths.get(one.key)))
        for crawl_id, items in by_crawl.items():
            self._events.publish_many(crawl_id, "page", items)

    def progress(self, crawl_ids: Iterable[UUID]) -> None:
        """Publish progress, at most every half second for each crawl."""
        now = self._clock()
        for crawl_id in crawl_ids:
            if now < self._next.get(crawl_id, 0.0):
                continue
            if len(self._next) >= MAX_TIMES:
                self._next.clear()
            self._next[crawl_id] = now + PROGRESS_SECONDS
            with suppress(NotFound):  # deleted meanwhile, which must not cost the other crawls of the batch anything
                self._events.publish(crawl_id, "progress", self._progress(self._store.get_crawl(crawl_id)))

    def _progress(self, crawl: CrawlJob) -> dict[str, Any]:
        stats = self._frontier.stats(crawl.id)
        queued, leased = (stats.queued, stats.leased) if stats else (0, 0)
        share, total = progress(
            max_pages=crawl.config.max_pages,
            pages_crawled=crawl.pages_crawled,
            queued=min(queued, crawl.urls_left),
            leased=min(leased, crawl.urls_left),
            homepage_done=crawl.pages_crawled > 0,
            completed=False,
        )
        return {
            # Other processes publish progress too, from numbers read a moment earlier or later.
            "progress": self._events.highest(crawl.id, share),
            "estimated_total": total,
            "pages_crawled": crawl.pages_crawled,
            "pages_failed": crawl.pages_failed,
            "pages_skipped": crawl.pages_skipped,
            "total_discovered": crawl.total_discovered,
            "queued": queued,
            "under_way": leased,
        }


def _page(settled: LeaseResult, depth: int | None) -> dict[str, Any]:
    end = settled.url_end
    assert end is not None
    return {
        "url": settled.page.url if settled.page else settled.lease.url,
        "status": "success" if end.state is FetchState.DONE else end.state.value,
        "reason": end.reason,
        "http_status": end.http_status,
        "title": settled.page.title if settled.page else None,
        "depth": depth,
    }
