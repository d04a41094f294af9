"""Pause, resume and cancel a crawl: Postgres first, then the frontier. No request starts a few seconds later.

Which status may follow which: `CrawlJob` in `domain/crawls/crawl.py`. That a paused crawl gets no lease:
`hindrance` in `adapters/frontier/lua/pair_rules.lua`.
"""

from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.engine.large_crawls import is_large
from crawler.domain.engine.ports import CrawlStore, Events, Frontier, Hints, Ledger
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import lanes_of
from crawler.errors import InvalidTransition
from crawler.handlers.crawls.crawl_result import crawl_result


class ControlCrawl:
    def __init__(
        self, store: CrawlStore, ledger: Ledger, frontier: Frontier, hints: Hints, events: Events, clock: Clock
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._frontier = frontier
        self._hints = hints
        self._events = events
        self._clock = clock

    def pause(self, crawl_id: UUID) -> CrawlJob:
        crawl = self._store.set_paused(crawl_id, self._clock(), paused=True)
        self._frontier.pause_crawl(crawl_id, paused=True)
        self._events.publish(crawl_id, "status", {"status": crawl.status.value, "paused": True})
        return crawl

    def resume(self, crawl_id: UUID) -> CrawlJob:
        crawl = self._store.set_paused(crawl_id, self._clock(), paused=False)
        self._frontier.pause_crawl(crawl_id, paused=False)
        self._events.publish(crawl_id, "status", {"status": crawl.status.value, "paused": False})
        for lane in lanes_of(crawl):
            self._hints.fetch(lane)
        return crawl

    def cancel(self, crawl_id: UUID) -> CrawlJob:
        """Cancel a crawl. Doing it twice is no error; a crawl that ended otherwise cannot be cancelled."""
        if not self._mark_cancelled(crawl_id):
            return self._store.get_crawl(crawl_id)
        # Paused first, closed last: a crash in between leaves an open frontier, which the reconciler finds.
        self._frontier.pause_crawl(crawl_id, paused=True)
        cancelled = self._store.get_crawl(crawl_id)
        if is_large(cancelled):
            self._hints.tend_large_crawl(crawl_id)
        else:
            self._ledger.close_rest(crawl_id, Reason.CANCELLED)
            self._frontier.close_crawl(crawl_id)
            cancelled = self._store.get_crawl(crawl_id)
        self._events.publish(crawl_id, "completed", crawl_result(cancelled))
        return cancelled

    def _mark_cancelled(self, crawl_id: UUID) -> bool:
        """Set the status. False: it is cancelled already, perhaps by another caller in this moment."""
        while (crawl := self._store.get_crawl(crawl_id)).status is not CrawlStatus.CANCELLED:
            try:
                self._store.change_crawl(crawl, crawl.cancel(self._clock()))
            except InvalidTransition:
                if self._store.get_crawl(crawl_id).status is crawl.status:
                    raise
                continue  # it was started or ended meanwhile
            return True
        return False
