"""The coordinator's part: open the frontier of a pending crawl and set workers going."""

from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import Lane
from crawler.domain.engine.ports import CrawlStore, Events, Hints
from crawler.errors import InvalidTransition
from crawler.handlers.engine.fill_frontier import FillFrontier

log = telemetry.logger(__name__)


class SeedCrawl:
    def __init__(
        self, store: CrawlStore, fill_frontier: FillFrontier, hints: Hints, events: Events, clock: Clock
    ) -> None:
        self._store = store
        self._fill_frontier = fill_frontier
        self._hints = hints
        self._events = events
        self._clock = clock

    def __call__(self, crawl_id: UUID) -> CrawlJob:
        """Safe to repeat: a crawl that is under way or over is left as it is."""
        crawl = self._store.get_crawl(crawl_id)
        if crawl.status is not CrawlStatus.PENDING:
            return crawl
        try:
            started = self._store.change_crawl(crawl, crawl.start(self._clock()))
        except InvalidTransition:  # somebody else started or cancelled it in this moment
            return self._store.get_crawl(crawl_id)
        # In this order: a crash in between leaves an in_progress crawl without a frontier, which the reconciler opens.
        self._fill_frontier(started)
        self._events.publish(crawl_id, "status", {"status": started.status.value, "paused": started.paused})
        self._hints.fetch(Lane.HTTP)
        log.info("crawl_started", crawl_id=str(crawl_id), project_id=str(crawl.project_id), seed=crawl.seed_url)
        return started
