"""Find work that nobody is doing: the answer to every lost message, dead worker and emptied Redis."""

from datetime import timedelta
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock, from_ms
from crawler.domain.crawls import CrawlJob, CrawlStatus
from crawler.domain.frontier import End, Lane, Lease
from crawler.domain.ledger import Request, UrlKey
from crawler.domain.ports import BatchWriter, CrawlStore, Frontier, Hints
from crawler.domain.reasons import Reason
from crawler.domain.urls import parse
from crawler.errors import InvalidTransition
from crawler.handlers.crawl_context import CrawlContexts
from crawler.handlers.finish_crawl import FinishCrawl
from crawler.handlers.open_frontier import OpenFrontier
from crawler.handlers.seed_crawl import SeedCrawl
from crawler.handlers.settle_batch import SettleBatch
from crawler.handlers.settle_page import Settled, settle_refused

log = telemetry.logger(__name__)

PENDING_GRACE = timedelta(seconds=5)
LOST_AT_ONCE = 500


class Reconcile:
    def __init__(
        self,
        *,
        store: CrawlStore,
        frontier: Frontier,
        writer: BatchWriter,
        contexts: CrawlContexts,
        settle: SettleBatch,
        seed_crawl: SeedCrawl,
        open_frontier: OpenFrontier,
        finish_crawl: FinishCrawl,
        hints: Hints,
        clock: Clock,
    ) -> None:
        self._store = store
        self._frontier = frontier
        self._writer = writer
        self._contexts = contexts
        self._settle = settle
        self._seed_crawl = seed_crawl
        self._open_frontier = open_frontier
        self._finish_crawl = finish_crawl
        self._hints = hints
        self._clock = clock

    def __call__(self) -> None:
        for crawl in self._store.open_crawls():
            if crawl.status is CrawlStatus.PENDING:
                self._start_forgotten(crawl)
            else:
                self._look_after(crawl)
        self._record_lost_requests()
        for lane in Lane:
            pairs, _ = self._frontier.due(lane, 1)
            if pairs:
                self._hints.fetch(lane)

    def _start_forgotten(self, crawl: CrawlJob) -> None:
        if self._clock() - crawl.created_at < PENDING_GRACE:
            return
        try:
            self._seed_crawl(crawl.id)
        except InvalidTransition:
            return  # somebody else started or cancelled it meanwhile
        log.warning("pending_crawl_started", crawl_id=str(crawl.id))

    def _look_after(self, crawl: CrawlJob) -> None:
        if self._frontier.stats(crawl.id) is None:
            log.warning("frontier_lost", crawl_id=str(crawl.id))
            self._open_frontier(crawl)
            return
        reaped = self._frontier.reap(crawl.id)
        if reaped:
            telemetry.leases_expired.inc(len(reaped))
            log.warning("leases_expired", crawl_id=str(crawl.id), count=len(reaped))
        self._bury(crawl.id, [lease for lease, poison in reaped if poison])
        self._finish_crawl(crawl.id)

    def _bury(self, crawl_id: UUID, leases: list[Lease]) -> None:
        """URLs that took three workers down with them are failed, so that the fourth lives."""
        for lease in leases:
            context = self._contexts.get(crawl_id, lease.epoch)
            if context is None:
                continue
            settled = Settled(lease, context, End.DROPPED, UrlKey(crawl_id, context.key(parse(lease.url))))
            error = "Three workers were lost while they worked on it."
            self._settle([settle_refused(settled, Reason.POISON, error, self._clock())])
            log.error("poison", crawl_id=str(crawl_id), url=lease.url)

    def _record_lost_requests(self) -> None:
        """A dead worker may have sent its request: the audit counts it, marked as uncertain."""
        while lost := self._frontier.lost_requests(LOST_AT_ONCE):
            self._writer.log_requests(
                [
                    Request(from_ms(r.claimed_ms), r.crawl_id, r.host, r.kind.value, "", None, None, certain=False)
                    for r in lost
                ]
            )
            self._frontier.forget_lost_requests(lost)
