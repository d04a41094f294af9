"""End a crawl, once: decide why it ended, close its ledger, count it up, tell the rest of the house."""

from datetime import timedelta
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock
from crawler.domain.crawls import CrawlJob, CrawlStatus, CrawlType, EndReason, FetchState
from crawler.domain.ports import CrawlStore, Events, Frontier, Hints, Ledger
from crawler.domain.reasons import Reason
from crawler.errors import InvalidTransition
from crawler.handlers.open_frontier import entry_of

log = telemetry.logger(__name__)

_SEED_REACHED = {FetchState.DONE.value}


class FinishCrawl:
    def __init__(
        self, store: CrawlStore, ledger: Ledger, frontier: Frontier, hints: Hints, events: Events, clock: Clock
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._frontier = frontier
        self._hints = hints
        self._events = events
        self._clock = clock

    def __call__(self, crawl_id: UUID) -> CrawlJob:
        """Safe to repeat, and safe to call too early: then nothing happens."""
        crawl = self._store.get_crawl(crawl_id)
        if crawl.status is not CrawlStatus.IN_PROGRESS:
            return crawl
        end_reason = self._end_reason(crawl)
        if end_reason is None:
            return crawl
        return self._end(crawl, end_reason)

    def _end_reason(self, crawl: CrawlJob) -> EndReason | None:
        """None: it is not over yet."""
        if self._is_overdue(crawl):
            return EndReason.MAX_DURATION
        stats = self._frontier.stats(crawl.id)
        if stats is None or not stats.finished:
            return None
        waiting = self._ledger.count_queued(crawl.id)
        if waiting and stats.budget_left > 0 and self._bring_back(crawl):
            return None
        return EndReason.MAX_PAGES if waiting else EndReason.EXHAUSTED

    def _is_overdue(self, crawl: CrawlJob) -> bool:
        started = crawl.started_at or crawl.created_at
        return self._clock() - started > timedelta(seconds=crawl.config.max_duration_seconds)

    def _bring_back(self, crawl: CrawlJob) -> bool:
        """URLs the ledger holds and the frontier lost (a page that changed between a crash and its repeat)."""
        lost = [entry_of(row) for row in self._ledger.rows(crawl.id, queued_only=True)]
        return self._frontier.readmit(crawl.id, lost) > 0

    def _end(self, crawl: CrawlJob, end_reason: EndReason) -> CrawlJob:
        state, reason, error = self._ledger.seed_state(crawl.id)
        now = self._clock()
        if crawl.pages_crawled == 0 and crawl.crawl_type is not CrawlType.FETCH_ONLY and state not in _SEED_REACHED:
            ended = crawl.fail(_why_no_seed(crawl, state, reason, error), now)
        else:
            ended = crawl.complete(end_reason, now)
        try:
            done = self._store.change_crawl(crawl, ended)
        except InvalidTransition:
            return self._store.get_crawl(crawl.id)
        leftover = Reason.HOST_BLOCKED if end_reason is EndReason.MAX_DURATION else Reason.MAX_PAGES
        self._ledger.close_rest(crawl.id, leftover)
        self._frontier.close_crawl(crawl.id)
        done = self._store.save_stats(crawl.id, self._ledger.statistics(crawl.id))
        self._events.publish(crawl.id, "completed", {"status": done.status.value, "pages_crawled": done.pages_crawled})
        self._hints.after_crawl(crawl.id)
        log.info("crawl_ended", crawl_id=str(crawl.id), status=done.status.value, pages=done.pages_crawled)
        return done


def _why_no_seed(crawl: CrawlJob, state: str, reason: str | None, error: str | None) -> str:
    if state == FetchState.QUEUED:
        return f"{crawl.seed_url} could not be fetched in time."
    detail = f" ({error})" if error else ""
    return f"{crawl.seed_url} could not be fetched: {reason}{detail}"
