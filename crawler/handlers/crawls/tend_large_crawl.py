"""Tend a large crawl: rebuild its lost frontier, or count its results at its end, however long that takes.

Small crawls are tended by whoever finds that they need it: `reconcile.py` and `finish_crawl.py`. For large ones these
only ask for it, because they have other crawls to look after. One large crawl is tended at a time.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import CrawlStats
from crawler.domain.crawls.ports import CrawlReader
from crawler.errors import NotFound

log = telemetry.logger(__name__)


class FrontierStats(Protocol):
    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...


class TendLargeCrawl:
    def __init__(
        self,
        crawls: CrawlReader,
        frontier: FrontierStats,
        restore: Callable[[CrawlJob], None],
        wind_up: Callable[[CrawlJob], CrawlJob],
        turn: Callable[[], AbstractContextManager[bool]],
    ) -> None:
        self._crawls = crawls
        self._frontier = frontier
        self._restore = restore
        self._wind_up = wind_up
        self._turn = turn

    def __call__(self, crawl_id: UUID) -> bool:
        """Whether it was its turn. Safe to repeat: what was done meanwhile is not done again."""
        with self._turn() as is_ours:
            if is_ours:
                self._tend(crawl_id)
        return is_ours

    def _tend(self, crawl_id: UUID) -> None:
        try:
            crawl = self._crawls.get_crawl(crawl_id)
        except NotFound:  # deleted meanwhile
            return
        log.info("large_crawl", crawl_id=str(crawl_id), status=crawl.status.value, urls=crawl.total_discovered)
        if crawl.status is CrawlStatus.IN_PROGRESS and self._frontier.stats(crawl_id) is None:
            self._restore(crawl)
        elif crawl.status.is_over and not crawl.stats:
            self._wind_up(crawl)
