"""Reconcile: find work that nobody is doing, after lost messages, dead workers or an emptied Redis.

Expired leases go back by `adapters/frontier/lua/reap.lua`; schedules, the queue and documents have their own recovery.
One look has so many seconds. Where it stopped, the next one goes on: whoever looks has other work, which waits. So
nothing is finished here; who finishes crawls is told which may be over.
"""

import random
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from crawler import telemetry
from crawler.domain.clock import Clock, from_ms
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import CrawlStats, End, Kind, Lane, Lease, LostRequest
from crawler.domain.engine.large_crawls import is_large
from crawler.domain.engine.ledger import Request, UrlKey
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import BatchWriter, CrawlStore, Frontier, Hints
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import UNAVAILABLE, lane_of
from crawler.domain.urls.url import parse
from crawler.errors import NotFound
from crawler.handlers.crawls.finish_crawl import FinishCrawl
from crawler.handlers.crawls.seed_crawl import SeedCrawl
from crawler.handlers.engine.crawl_context import CrawlContexts
from crawler.handlers.engine.fill_frontier import FillFrontier
from crawler.handlers.engine.launch_requests import ProbeTasks
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.record_page import record_refused
from crawler.handlers.engine.record_probe import refuse_probe
from crawler.handlers.engine.render_where_needed import Lanes, Record
from crawler.handlers.engine.shift_hints import begin_to_ask
from crawler.handlers.engine.write_batch import WriteBatch
from crawler.handlers.hosts.recover_hosts import RecoverHosts
from crawler.handlers.operating.look_for_lost import LOOK_SECONDS

log = telemetry.logger(__name__)

PENDING_GRACE = timedelta(seconds=5)
ENDING_GRACE = timedelta(seconds=10)
"""So long whoever ended a crawl has time to close its frontier. Doing it for them would ask twice for what follows."""
CRAWLS_AT_ONCE = 50
"""Rows that are read together: a look may end before it comes to all."""
ENDED_AT_ONCE = 20
"""Crawls whose end was left half done, of each kind. Each may take a tenth of a second."""
LOST_AT_ONCE = 500
PRUNE_EVERY = timedelta(hours=1)
ASK_AGAIN_SECONDS = 60.0


class Reconcile:
    def __init__(
        self,
        *,
        store: CrawlStore,
        frontier: Frontier,
        writer: BatchWriter,
        contexts: CrawlContexts,
        write_batch: WriteBatch,
        probe_tasks: ProbeTasks,
        seed_crawl: SeedCrawl,
        fill_frontier: FillFrontier,
        finish_crawl: FinishCrawl,
        lanes: Lanes,
        record_rendering: Record,
        recover_hosts: RecoverHosts,
        restore_robots: Callable[[str], None],
        prune: Callable[[datetime], int],
        hints: Hints,
        clock: Clock,
        requests_may_take: Callable[[], float],
        look_at_settings: Callable[[], object] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._frontier = frontier
        self._writer = writer
        self._contexts = contexts
        self._write_batch = write_batch
        self._probe_tasks = probe_tasks
        self._seed_crawl = seed_crawl
        self._fill_frontier = fill_frontier
        self._finish_crawl = finish_crawl
        self._lanes = lanes
        self._record_rendering = record_rendering
        self._recover_hosts = recover_hosts
        self._restore_robots = restore_robots
        self._prune = prune
        self._hints = hints
        self._clock = clock
        self._requests_may_take = requests_may_take
        self._look_at_settings = look_at_settings
        self._monotonic = monotonic
        self._pruned_at = datetime.min.replace(tzinfo=UTC)

    def __call__(self, seconds: float = LOOK_SECONDS) -> bool:
        """Look for so long, at one crawl at least. Whether none is left: else the next look goes on from there."""
        until = self._monotonic() + seconds
        self._look_at_settings()
        # Before any crawl is opened again: a frontier that lost everything must get the hosts' blocks first.
        self._recover_hosts()
        in_frontier = self._frontier.open_crawls()  # read first: each of them has had an open row
        left_open = set(in_frontier) - set(self._store.open_crawl_ids())
        half_ended = self._store.take_half_ended(ENDED_AT_ONCE)
        for crawl in half_ended:
            with suppress(NotFound):  # deleted meanwhile, as may happen below: the others are looked after all the same
                self._end_wholly(crawl)
        left_open -= {crawl.id for crawl in half_ended}
        for crawl_id in random.sample(sorted(left_open), min(len(left_open), ENDED_AT_ONCE)):
            self._close(crawl_id)
        self._record_lost_requests()
        self._prune_now_and_then()
        for lane in Lane:
            pairs, _ = self._frontier.due(lane, 1)
            if pairs:
                self._hints.fetch(lane)
        return self._look_after_open(until) and len(half_ended) < ENDED_AT_ONCE

    def _look_after_open(self, until: float) -> bool:
        """Look after open crawls, from where the last look stopped. Whether it came to the last one."""
        self._lanes.is_open(Lane.BROWSER)  # so that it is known before a crawl asks, which would have to wait for it
        place = self._frontier.reconcile_place()
        while crawls := self._store.open_crawls(place, CRAWLS_AT_ONCE):
            for crawl in crawls:
                # Before it is looked after: one that nobody can look after must not keep others from it.
                place = crawl.id
                self._frontier.keep_reconcile_place(place)
                with suppress(NotFound):
                    self._look_after_one(crawl)
                if self._monotonic() >= until:
                    return False
        self._frontier.keep_reconcile_place(None)
        return True

    def _look_after_one(self, crawl: CrawlJob) -> None:
        if crawl.status is CrawlStatus.PENDING:
            self._start_forgotten(crawl)
            return
        stats = self._look_after(crawl)
        if stats and self._finish_crawl.may_end(crawl, stats) and begin_to_ask(self._frontier, crawl.id):
            self._hints.finish_crawl(crawl.id, later=crawl.goes_later)

    def _prune_now_and_then(self) -> None:
        now = self._clock()
        if now - self._pruned_at >= PRUNE_EVERY:
            self._pruned_at = now
            if gone := self._prune(now):
                log.info("requests_pruned", count=gone)

    def _start_forgotten(self, crawl: CrawlJob) -> None:
        if self._clock() - crawl.created_at < PENDING_GRACE:
            return
        log.warning("pending_crawl", crawl_id=str(crawl.id))
        self._seed_crawl(crawl.id)

    def _look_after(self, crawl: CrawlJob) -> CrawlStats | None:
        """Its numbers, if it is in the frontier, so that it may be over."""
        stats = self._frontier.stats(crawl.id)
        if stats is None:
            if not is_large(crawl):
                self.restore(crawl)
            elif self._frontier.acquire_task(f"large {crawl.id}", ASK_AGAIN_SECONDS):
                self._hints.tend_large_crawl(crawl.id)
            return None
        if self._frontier.adjust_gap(crawl.id, limits_of(crawl)):
            log.info("gap_adjusted", crawl_id=str(crawl.id))
        if stats.paused != crawl.paused:  # the process that paused or resumed it could not reach Redis
            self._frontier.pause_crawl(crawl.id, paused=self._store.get_crawl(crawl.id).paused)
        reaped = self._frontier.reap(crawl.id)
        if reaped:
            log.warning("leases_expired", crawl_id=str(crawl.id), count=len(reaped))
        self._bury(crawl.id, [lease for lease, poison in reaped if poison])
        if not self._lanes.is_open(Lane.BROWSER) and self._waits_for_browser(crawl):
            self._do_without_browser(crawl)
        return stats

    def restore(self, crawl: CrawlJob) -> None:
        """Fill the frontier of a crawl that Redis has lost. One that has ended meanwhile is closed, not lost."""
        if self._is_over(crawl.id):
            return
        log.warning("frontier_lost", crawl_id=str(crawl.id))
        if not self._fill_frontier.is_possible(crawl.id):
            self._finish_crawl.interrupt(crawl)
            return
        owed_seconds = self._frontier.owed_gap_ms(limits_of(crawl)) / 1000
        self._hold_hosts(self._fill_frontier.hosts(crawl.id), max(owed_seconds, self._requests_may_take()))
        self._fill_frontier(crawl)
        if self._is_over(crawl.id):  # whoever ended it may have closed it before it was filled
            self._frontier.close_crawl(crawl.id)

    def _is_over(self, crawl_id: UUID) -> bool:
        return self._store.get_crawl(crawl_id).status.is_over

    def _waits_for_browser(self, crawl: CrawlJob) -> bool:
        return lane_of(crawl) is Lane.BROWSER or any(
            wait.lane is Lane.BROWSER for wait in self._frontier.waiting(crawl.id)
        )

    def _do_without_browser(self, crawl: CrawlJob) -> None:
        """No browser worker is there: pages that wait for one are fetched over plain HTTP, with a note that says so."""
        if self._finish_crawl.do_without_browser(crawl):
            return
        log.warning("render_unavailable", crawl_id=str(crawl.id))
        record = {**(crawl.rendering or {}), UNAVAILABLE: True}
        if decided := self._record_rendering(crawl.id, record):
            self._fill_frontier(decided)

    def _hold_hosts(self, hosts: Iterable[str], seconds: float) -> None:
        """Hold hosts for a while: Redis lost when they were last requested, and which requests are still under way."""
        for host in hosts:
            if not self._frontier.host(host).robots_until_ms:
                self._restore_robots(host)
            state = self._frontier.host(host)
            gap = max(seconds, state.learned_ms / 1000, state.robots_ms / 1000)
            if gap > 0:
                self._frontier.block_host(host, gap, state.learned_ms / 1000, state.incidents)

    def _end_wholly(self, crawl: CrawlJob) -> None:
        log.warning("half_ended_crawl", crawl_id=str(crawl.id))
        if crawl.stats:  # only the last message was lost
            self._hints.after_crawl(crawl.id, later=crawl.goes_later)
        else:
            self._finish_crawl.wind_up(crawl)

    def _close(self, crawl_id: UUID) -> None:
        """Close the frontier of a crawl that is over or deleted: the process that ended it died before it could."""
        try:
            crawl = self._store.get_crawl(crawl_id)
        except NotFound:
            self._frontier.close_crawl(crawl_id)
            return
        ended_at = crawl.completed_at or crawl.created_at
        if crawl.status.is_over and self._clock() - ended_at >= ENDING_GRACE:
            log.warning("frontier_left_open", crawl_id=str(crawl_id))
            self._finish_crawl.wind_up(crawl)

    def _bury(self, crawl_id: UUID, leases: list[Lease]) -> None:
        """Fail URLs that lost too many workers (poison), so that they take down no more."""
        for lease in leases:
            context = self._contexts.get(crawl_id, lease.epoch)
            if context is None:
                continue
            key = context.key(parse(lease.url))
            if lease.kind is Kind.PROBE:
                tasks = self._probe_tasks(crawl_id, [lease.url, key])
                key = next((task.normalized_url for task in map(tasks.get, (lease.url, key)) if task), key)
            settled = LeaseResult(lease, context, End.DROPPED, UrlKey(crawl_id, key))
            error = "Three workers were lost while they worked on it."
            if lease.kind is Kind.PROBE:
                refuse_probe(settled, Reason.POISON, self._clock())
            else:
                record_refused(settled, Reason.POISON, error, self._clock())
            if settled.url_end is not None:  # not tried now: the lost tries are all there are
                settled.url_end = settled.url_end._replace(attempts=lease.attempts + lease.losses)
            self._write_batch([settled])
            log.error("poison", crawl_id=str(crawl_id), url=lease.url)

    def _record_lost_requests(self) -> None:
        """Log requests of dead workers for the politeness audit, marked as uncertain: they may have been sent."""
        while lost := self._frontier.lost_requests(LOST_AT_ONCE):
            self._writer.log_requests([_uncertain(request) for request in lost])
            self._frontier.forget_lost_requests(lost)


def _uncertain(lost: LostRequest) -> Request:
    at, kind = from_ms(lost.claimed_ms), lost.kind.value
    return Request(at, lost.crawl_id, lost.host, kind, "", None, None, certain=False, url=lost.url)
