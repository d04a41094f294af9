"""Reads the state of a running crawl for the live view: its row, queue and hosts from Redis, reasons now and then."""

import time
from collections import deque
from typing import Any, NamedTuple
from uuid import UUID

from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import HostWait
from crawler.domain.crawls.progress import progress

HOSTS = 6
PAGES = 12
RATE_SECONDS = 5.0
"""Seconds over which the shown speed is averaged."""
REASONS_SECONDS = 1.0
PATIENCE = 30
"""Counting reasons is slow for large crawls: the pause between two counts is so many times as long as a count."""


class CrawlSnapshot(NamedTuple):
    crawl: CrawlJob
    queued: int = 0
    under_way: int = 0
    percentage: float = 0.0
    estimated_total: int = 0
    pages_per_second: float = 0.0
    seconds: float = 0.0
    waits: tuple[HostWait, ...] = ()
    """The first hosts with queued URLs."""
    pages: tuple[dict[str, Any], ...] = ()
    """The latest pages, oldest first: url, status, reason, http_status, title."""
    reasons: dict[str, int] = {}  # noqa: RUF012 - never changed


class Rate:
    """Pages per second over the last few seconds."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, int]] = deque()

    def __call__(self, pages: int) -> float:
        now = time.monotonic()
        self._counts.append((now, pages))
        while now - self._counts[0][0] > RATE_SECONDS:
            self._counts.popleft()
        then, before = self._counts[0]
        return (pages - before) / (now - then) if now > then else 0.0


class SnapshotReader:
    """Reads one crawl's state repeatedly, and keeps what a single read cannot tell, such as the speed."""

    def __init__(self, tools: App, crawl_id: UUID) -> None:
        self._tools = tools
        self._crawl_id = crawl_id
        self._rate = Rate()
        self._pages: deque[dict[str, Any]] = deque(maxlen=PAGES)
        self._seen = 0
        self._shown = 0.0
        self._reasons: dict[str, int] = {}
        self._count_at = 0.0

    def glance(self, crawl: CrawlJob) -> CrawlSnapshot:
        stats = self._tools.frontier.stats(self._crawl_id)
        queued, leased = (stats.queued, stats.leased) if stats else (0, 0)
        share = progress(
            max_pages=crawl.config.max_pages,
            pages_crawled=crawl.pages_crawled,
            queued=min(queued, crawl.urls_left),
            leased=min(leased, crawl.urls_left),
            homepage_done=crawl.pages_crawled > 0,
            completed=False,
            shown=self._shown,
        )
        self._shown = share.percentage
        return CrawlSnapshot(
            crawl,
            queued,
            leased,
            share.percentage,
            share.estimated_total,
            self._rate(crawl.pages_crawled),
            crawl.working_seconds(self._tools.clock()) if crawl.started_at else 0.0,
            tuple(wait for wait in self._tools.frontier.waiting(self._crawl_id, HOSTS) if wait.queued),
            self._last_pages(),
            self._count_reasons(),
        )

    def _last_pages(self) -> tuple[dict[str, Any], ...]:
        for event in self._tools.events.latest(self._crawl_id, "page"):
            if event.seq > self._seen:
                self._seen = event.seq
                self._pages.append(event.data)
        return tuple(self._pages)

    def _count_reasons(self) -> dict[str, int]:
        began = time.monotonic()
        if began >= self._count_at:
            self._reasons = self._tools.crawls.reason_counts(self._crawl_id)
            took = time.monotonic() - began
            self._count_at = began + max(REASONS_SECONDS, PATIENCE * took)
        return self._reasons
