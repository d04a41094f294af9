"""Finish a crawl, once: decide why it ended, close its ledger, count its results, start what follows.

What follows is sent by `after_crawl` in `adapters/operating/celery_queue.py`; statistics are counted by `statistics` in
`adapters/engine/ledger.py`.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.coverage_words import RENEW
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType, EndReason, FetchState
from crawler.domain.crawls.frontier import CrawlStats, HostWait, Wait
from crawler.domain.crawls.learned_params import told_params
from crawler.domain.engine.large_crawls import is_large
from crawler.domain.engine.ledger import SeedState
from crawler.domain.engine.max_pages import limits_of
from crawler.domain.engine.ports import CrawlStore, Events, Frontier, Hints, Ledger
from crawler.domain.hosts.egress import EgressRule, closed_words
from crawler.domain.hosts.refusals import Refusals, is_given_up
from crawler.domain.reason_words import name_of
from crawler.domain.reasons import Reason
from crawler.domain.urls.keys import keys_of
from crawler.domain.urls.redirect_loops import loops
from crawler.errors import EgressRefused, InvalidTransition
from crawler.handlers.crawls.crawl_result import crawl_result
from crawler.handlers.crawls.plan_probes import PlanProbes
from crawler.handlers.crawls.survey_queries import SurveyQueries
from crawler.handlers.engine.fill_frontier import FillFrontier, entry_of

log = telemetry.logger(__name__)

MAX_HOSTS_LOOKED_AT = 200
INTERRUPTED = "Interrupted by server restart"
MOST_IDLE_TURNS = 30
"""How often the end of a crawl is put off for further requests while none is made. Then the crawl ends all the same,
and says so: nothing that a site does leads there, but a mistake of ours may."""
STUCK = (
    "It ended before all that it had planned was asked for: requests were planned again and again, and none was made."
)

_SEED_REACHED = {FetchState.DONE.value}
_STAY_AWAY = frozenset({Wait.BLOCKED, Wait.RETRY})
_TOO_LATE = frozenset({EndReason.MAX_DURATION, EndReason.BLOCKED})


class FinishCrawl:
    def __init__(
        self,
        store: CrawlStore,
        ledger: Ledger,
        frontier: Frontier,
        probes: PlanProbes,
        survey: SurveyQueries,
        fill_frontier: FillFrontier,
        hints: Hints,
        events: Events,
        clock: Clock,
        egress: Callable[[], EgressRule],
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._frontier = frontier
        self._probes = probes
        self._survey = survey
        self._fill_frontier = fill_frontier
        self._hints = hints
        self._events = events
        self._clock = clock
        self._egress = egress

    def __call__(self, crawl_id: UUID) -> CrawlJob:
        """End the crawl if it is over. Safe to repeat, and safe to call too early: then nothing happens."""
        crawl = self._store.get_crawl(crawl_id)
        if crawl.status is not CrawlStatus.IN_PROGRESS:
            return crawl
        if self._is_overdue(crawl):
            return self._end(crawl, self._end_of_pages(crawl) or EndReason.MAX_DURATION)
        stats = self._frontier.stats(crawl.id)
        if stats is None:
            return crawl
        if not stats.finished:
            early = self._early_end(crawl, stats)
            return self._end(crawl, early) if early else crawl
        end_reason = self._end_reason(crawl, stats)
        if end_reason is not None:
            return self._end(crawl, end_reason)
        if self._goes_on(crawl):
            return crawl
        log.error("finishing_without_end", crawl_id=str(crawl.id))
        left = self._ledger.count_queued(crawl.id)
        return self._end(crawl, EndReason.MAX_DURATION if left else EndReason.EXHAUSTED, STUCK)

    def _goes_on(self, crawl: CrawlJob) -> bool:
        """Whether a crawl whose end was put off for further requests still makes some."""
        counts = crawl.pages_crawled, crawl.pages_failed, crawl.pages_skipped, crawl.total_discovered
        done = " ".join(map(str, (*counts, *self._ledger.work_done(crawl.id))))
        return self._frontier.count_turn(crawl.id, done) <= MOST_IDLE_TURNS

    def _end_reason(self, crawl: CrawlJob, stats: CrawlStats) -> EndReason | None:
        """Why a crawl ended that has nothing left to fetch; None if it is not over yet."""
        waiting = self._ledger.count_queued(crawl.id)
        has_room = stats.budget_left > 0 and crawl.pages_crawled < crawl.config.max_pages
        if waiting and has_room and (self._bring_back(crawl) or self._has_moved(crawl, stats)):
            return None
        if waiting:
            if self._survey.try_at_limit(crawl) or self._probes(crawl, saw_all=False):
                return None
            self._survey.record(crawl)  # pages behind parameters that nobody had room to try are not watched
            return EndReason.MAX_PAGES
        if self._survey(crawl, has_room=has_room, may_look=not self._probes.were_planned(crawl.id)):
            return None
        return None if self._probes(crawl, saw_all=True) else EndReason.EXHAUSTED

    def may_end(self, crawl: CrawlJob, stats: CrawlStats) -> bool:
        """Whether it is worth while to call this for the crawl. It costs little, and changes nothing."""
        return stats.finished or self._is_overdue(crawl) or self._find_early_end(crawl, stats) is not None

    def _early_end(self, crawl: CrawlJob, stats: CrawlStats) -> EndReason | None:
        """Why a crawl ends although something still waits: all its hosts are blocked. None if it goes on."""
        found = self._find_early_end(crawl, stats)
        return self._give_up(crawl, found) if isinstance(found, Refusals) else found

    def _find_early_end(self, crawl: CrawlJob, stats: CrawlStats) -> EndReason | Refusals | None:
        """Why it may end now, or what the hosts say whose URLs are to be given up before."""
        if stats.leased or stats.paused or stats.building:
            return None
        waits = self._stay_away(crawl, stats)
        refused = self._find_refused(crawl, waits) if waits else None
        if end := self._end_of_pages(crawl):
            is_over = refused is not None or self._probes.are_done(crawl.id) or self._is_blocked(crawl, waits, stats)
            return end if is_over else None
        return EndReason.BLOCKED if self._is_blocked(crawl, waits, stats) else refused

    def _stay_away(self, crawl: CrawlJob, stats: CrawlStats) -> list[HostWait]:
        """Where all that waits is kept away by its hosts; none if a part of it is not."""
        waits = [wait for wait in self._frontier.waiting(crawl.id, MAX_HOSTS_LOOKED_AT) if wait.why in _STAY_AWAY]
        return waits if sum(wait.queued for wait in waits) >= stats.queued else []

    def _give_up(self, crawl: CrawlJob, refused: Refusals) -> EndReason | None:
        """End the URLs of hosts that refuse everything. What follows them is done as ever: it is asked for once more
        which known pages are left, as far as their hosts answer."""
        given_up = self._ledger.give_up_rest(crawl.id, refused)
        log.warning("hosts_given_up", crawl_id=str(crawl.id), urls=given_up, why=refused.words)
        if not given_up:  # what waits are requests that only ask about pages
            return EndReason.EXHAUSTED
        self._fill_frontier(crawl, sitemaps=False)
        return None

    def _find_refused(self, crawl: CrawlJob, waits: Sequence[HostWait]) -> Refusals | None:
        """What the hosts say that refuse all that still waits, if they did for too long; of several that with most."""
        now, patience = self._clock(), crawl.config.patience_seconds
        known = self._ledger.refusals(crawl.id, sorted({wait.host for wait in waits}))
        begun = now - timedelta(seconds=crawl.working_seconds(now))
        for wait in waits:
            refusals = known.setdefault(wait.host, Refusals(0, begun, begun))
            next_try = now + timedelta(seconds=wait.due_seconds or 0.0)
            if not is_given_up(refusals, next_try, patience, has_pages=crawl.pages_crawled > 0):
                return None
        return known[max(waits, key=lambda wait: wait.queued).host]

    def do_without_browser(self, crawl: CrawlJob) -> bool:
        """Whether there is nothing left that a browser would be waited for: all pages are fetched."""
        if self._end_of_pages(crawl) is None:
            return False
        self._probes.give_up_second_looks(crawl.id)
        return True

    def _end_of_pages(self, crawl: CrawlJob) -> EndReason | None:
        """Why no further page is fetched, of a crawl that only waits for its probes; None of others."""
        is_full = crawl.pages_crawled >= crawl.config.max_pages
        were_planned = self._probes.were_planned(crawl.id)
        if not is_full and not were_planned:
            return None
        if self._ledger.count_queued(crawl.id) == 0:
            return EndReason.EXHAUSTED if were_planned else None
        return EndReason.MAX_PAGES if is_full else None

    def _is_overdue(self, crawl: CrawlJob) -> bool:
        return self._seconds_left(crawl) < 0

    def _seconds_left(self, crawl: CrawlJob) -> float:
        return crawl.config.max_duration_seconds - crawl.working_seconds(self._clock())

    def _is_blocked(self, crawl: CrawlJob, waits: Sequence[HostWait], stats: CrawlStats) -> bool:
        """Whether every remaining host is blocked for longer than the crawl may last."""
        left = self._seconds_left(crawl)
        too_long = [wait for wait in waits if (wait.due_seconds or 0.0) > left]
        return bool(too_long) and sum(wait.queued for wait in too_long) >= stats.queued

    def _has_moved(self, crawl: CrawlJob, before: CrawlStats) -> bool:
        """Whether another process has queued something since these numbers were read."""
        return self._frontier.stats(crawl.id) != before

    def _bring_back(self, crawl: CrawlJob) -> bool:
        """Queue URLs that the ledger has and the frontier lost (a page that changed between a crash and its repeat)."""
        if crawl.config.learned_params:  # a worker may still go by what was known before
            self._fill_frontier(crawl, sitemaps=False)  # nothing was left to do, so they are read
            return True
        lost = [entry_of(row) for row in self._ledger.rows(crawl.id, queued_only=True)]
        return self._frontier.readmit(crawl.id, lost) > 0

    def _end(self, crawl: CrawlJob, end_reason: EndReason, told: str | None = None) -> CrawlJob:
        """`told`: what is said of a crawl that did not end as it should."""
        self._mark_loops(crawl)
        seed = self._ledger.seed_state(crawl.id)
        if seed is None:
            return self.interrupt(crawl)
        now = self._clock()
        reached = seed.state in _SEED_REACHED or seed.reason == Reason.EXISTS
        if crawl.pages_crawled == 0 and crawl.crawl_type is not CrawlType.FETCH_ONLY and not reached:
            why = self._why_no_seed(crawl, end_reason, seed)
            ended = crawl.fail(f"{why}{self._advice(crawl, seed.reason)}", now)
        else:
            ended = crawl.complete(end_reason, now).model_copy(update={"error_message": told})
        return self._change(crawl, ended)

    def _why_no_seed(self, crawl: CrawlJob, end_reason: EndReason, seed: SeedState) -> str:
        if seed.state == FetchState.QUEUED and end_reason is EndReason.MAX_PAGES:
            most = limits_of(crawl).max_fetches
            return f"{crawl.seed_url} could not be fetched with {most} requests, all that max_pages allows; raise it."
        if seed.state == FetchState.QUEUED:
            return f"{crawl.seed_url} could not be fetched in time."
        if seed.reason == Reason.EGRESS:
            with suppress(EgressRefused):  # it names no host that could be opened
                return f"{crawl.seed_url} could not be fetched: {closed_words(seed.url, self._egress())}"
        is_told = seed.http_status is None or str(seed.http_status) in (seed.error or "")
        told = ", ".join(filter(None, ("" if is_told else f"HTTP {seed.http_status}", seed.error)))
        detail = f" ({told})" if told else ""
        return f"{crawl.seed_url} could not be fetched: {name_of(seed.reason) if seed.reason else seed.state}{detail}"

    def _advice(self, crawl: CrawlJob, reason: str | None) -> str:
        """What to do if a site that took the project's credentials before refuses them."""
        if reason != Reason.FORBIDDEN or not self._store.has_credentials(crawl.project_id):
            return ""
        return f". {RENEW} {self._store.get_project(crawl.project_id).name}."

    def interrupt(self, crawl: CrawlJob) -> CrawlJob:
        """Fail a crawl whose queued URLs are lost from the ledger; its pages stay."""
        log.warning("crawl_interrupted", crawl_id=str(crawl.id))
        return self._change(crawl, crawl.fail(INTERRUPTED, self._clock()))

    def _change(self, crawl: CrawlJob, ended: CrawlJob) -> CrawlJob:
        try:
            done = self._store.change_crawl(crawl, ended)
        except InvalidTransition:
            return self._store.get_crawl(crawl.id)
        return self.wind_up(done)

    def _mark_loops(self, crawl: CrawlJob) -> None:
        """Mark redirect loops. Only now is every redirect known: workers meet the ends of a loop in any order."""
        key_of = keys_of(crawl.config)
        targets = {url: key for url, target in self._ledger.redirects(crawl.id) if (key := key_of(target)) is not None}
        looping = loops(targets)
        if looping:
            self._ledger.mark_loops(crawl.id, sorted(looping), "Its redirects lead back to itself.")

    def wind_up(self, crawl: CrawlJob) -> CrawlJob:
        """Do what follows the end of a crawl. Safe to repeat: the reconciler does so if a process died here.

        For a large crawl that takes minutes, so another worker is asked for it.
        """
        if not is_large(crawl):
            return self.wind_up_now(crawl)
        self._frontier.close_crawl(crawl.id)
        self._hints.tend_large_crawl(crawl.id)
        return crawl

    def wind_up_now(self, crawl: CrawlJob) -> CrawlJob:
        self._ledger.close_rest(crawl.id, _leftover(crawl))
        self._probes.close_rest(crawl.id)
        self._frontier.close_crawl(crawl.id)
        if crawl.from_queue:  # its slots are free for entries that still wait
            self._hints.run_queue()
        if crawl.status is CrawlStatus.CANCELLED:
            return crawl
        self._ledger.count_variants(crawl.id, keys_of(crawl.config))
        learned = {"query_params": told_params(crawl.config.learned_params)}
        done = self._store.save_stats(crawl.id, self._ledger.statistics(crawl.id) | learned)
        if crawl.from_queue:  # a list of pages has no earlier one to be compared with; its report is made on request
            self._store.save_diff(crawl.id, None, None)
        self._events.publish(crawl.id, "completed", crawl_result(done))
        if not crawl.from_queue:
            self._hints.after_crawl(crawl.id, later=crawl.goes_later)
        ended = {"crawl_id": str(crawl.id), "status": done.status.value, "pages": done.pages_crawled}
        if done.status is CrawlStatus.FAILED:
            log.warning("crawl_ended", **ended, error=done.error_message)
        else:
            log.info("crawl_ended", **ended)
        return done


def _leftover(crawl: CrawlJob) -> Reason:
    """The reason for URLs that are still queued and will not be fetched."""
    if crawl.status is CrawlStatus.CANCELLED:
        return Reason.CANCELLED
    too_late = crawl.status is CrawlStatus.FAILED or crawl.end_reason in _TOO_LATE
    return Reason.HOST_BLOCKED if too_late else Reason.MAX_PAGES
