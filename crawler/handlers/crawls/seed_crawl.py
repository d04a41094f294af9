"""Seed a pending crawl: open and fill its frontier, mark it as in progress, and send hints to workers.

The first URLs were committed by `start_crawl.py` (`first_urls`); they are queued by `handlers/engine/fill_frontier.py`.
"""

from collections.abc import Callable, Sequence
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.engine.ledger import Found
from crawler.domain.engine.ports import CrawlStore, Events, Hints
from crawler.domain.hosts.politeness import ROBOTS_RENEWED_SECONDS
from crawler.domain.rendering.signals import lane_of, lanes_of
from crawler.domain.urls.url import parse
from crawler.errors import InvalidTransition
from crawler.handlers.engine.fill_frontier import FillFrontier

log = telemetry.logger(__name__)


class SeedCrawl:
    def __init__(
        self,
        store: CrawlStore,
        fill_frontier: FillFrontier,
        renew_robots: Callable[[str, float], None],
        hints: Hints,
        events: Events,
        clock: Clock,
    ) -> None:
        self._store = store
        self._fill_frontier = fill_frontier
        self._renew_robots = renew_robots
        self._hints = hints
        self._events = events
        self._clock = clock

    def at_once(self, crawl: CrawlJob, urls: Sequence[Found]) -> None:
        """Open the frontier of a crawl that was committed in progress with these URLs, for somebody who waits.

        As `__call__` does it, without reading back what was just written. A crash in between is the reconciler's work.
        """
        self._fill_frontier.begin(crawl, urls)
        self._hints.fetch(lane_of(crawl))
        log.info("crawl_started", crawl_id=str(crawl.id), project_id=str(crawl.project_id), seed=crawl.seed_url)

    def __call__(self, crawl_id: UUID) -> CrawlJob:
        """Seed the crawl. Safe to repeat: a crawl that is in progress or over stays as it is."""
        crawl = self._store.get_crawl(crawl_id)
        if crawl.status is not CrawlStatus.PENDING:
            return crawl
        try:
            started = self._store.change_crawl(crawl, crawl.start(self._clock()))
        except InvalidTransition:  # another process started or cancelled it meanwhile
            return self._store.get_crawl(crawl_id)
        if crawl.crawl_type is not CrawlType.FETCH_ONLY:  # lists of URLs are many, and of many hosts
            is_scheduled = crawl.crawl_type is CrawlType.SCHEDULED
            self._renew_robots(parse(crawl.seed_url).host, ROBOTS_RENEWED_SECONDS if is_scheduled else 0.0)
        # In this order: a crash in between leaves an in_progress crawl without a frontier, which the reconciler opens.
        self._fill_frontier(started)
        self._events.publish(crawl_id, "status", {"status": started.status.value, "paused": started.paused})
        for lane in lanes_of(started):
            self._hints.fetch(lane)
        log.info("crawl_started", crawl_id=str(crawl_id), project_id=str(crawl.project_id), seed=crawl.seed_url)
        return started
