"""Survey query parameters when a crawl has nothing else left: which of them name pages, and which pages those are.

Links whose parameters nobody knows wait until here. Some are fetched as trials (probes, beyond the crawl's pages); what
they say is kept with the crawl and its project, and all links are queued by it. Each step is one transaction in
Postgres and then a frontier with a new epoch, so that no worker goes on by the old rule. A crawl that ends at its limit
of pages makes a few trials for the next one.

What a step finds out: `query_step.py`, by the rules in `domain/urls/query_survey.py`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.probes import Probe, Purpose, probe_entry
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, QueryParams
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.learned_params import UNANSWERED, UNREAD
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.engine.ledger import Found
from crawler.domain.engine.ports import Frontier, Hints
from crawler.domain.judging import OpenJudge, Unjudged
from crawler.domain.rendering.signals import lane_of, lanes_of, misses_browser
from crawler.domain.urls.query_survey import MOST_GROUPS, Answer
from crawler.handlers.crawls.query_step import MOST_ASKED, QueryStep, TriedPage, answer_of
from crawler.handlers.engine.crawl_context import scope_of
from crawler.handlers.engine.fill_frontier import FillFrontier

log = telemetry.logger(__name__)

PAGES_FOR_EACH = 50
"""A crawl that ends at max_pages tries one parameter for so many of its pages. A trial fetches about six addresses."""


class Saved(Protocol):
    """A crawl with what was found out, and how many requests and URLs are new by it."""

    @property
    def crawl(self) -> CrawlJob: ...
    @property
    def new(self) -> int: ...


class Survey(Protocol):
    def links(self, crawl_id: UUID) -> Iterator[tuple[str, int, str]]: ...
    def met(self, crawl_id: UUID) -> set[str]: ...
    def addresses(self, crawl_id: UUID, keys: Sequence[str]) -> set[str]: ...
    def standing(self, crawl_id: UUID, keys: Sequence[str]) -> dict[str, str]: ...
    def no_pages(self, crawl_id: UUID, keys: Sequence[str]) -> dict[str, str]: ...
    def readdressed(self, crawl_id: UUID) -> Sequence[tuple[str, str]]: ...
    def tried(self, crawl_id: UUID) -> Sequence[TriedPage]: ...
    def asked(self, crawl_id: UUID) -> dict[str, str]: ...
    def unanswered(self, crawl_id: UUID) -> set[str]: ...
    def tried_before(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> Sequence[TriedPage]: ...
    def stored_before(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> Sequence[TriedPage]: ...
    def stored(self, crawl_id: UUID, urls: Sequence[str], lane: Lane) -> Sequence[TriedPage]: ...
    def save(
        self,
        crawl: CrawlJob,
        config: CrawlConfig,
        probes: Sequence[Probe] = (),
        found: Sequence[Found] = (),
        settled: Sequence[str] = (),
    ) -> Saved | None: ...


class SurveyQueries:
    def __init__(
        self,
        survey: Survey,
        probes_of: Callable[[UUID], Sequence[Probe]],
        load: Callable[[UUID], CrawlState | None],
        fill_frontier: FillFrontier,
        frontier: Frontier,
        hints: Hints,
        open_judge: OpenJudge,
    ) -> None:
        self._survey = survey
        self._probes_of = probes_of
        self._load = load
        self._fill_frontier = fill_frontier
        self._frontier = frontier
        self._hints = hints
        self._open_judge = open_judge

    def __call__(self, crawl: CrawlJob, *, has_room: bool, may_look: bool) -> bool:
        """Whether the crawl goes on. Without room for pages nothing is tried: what was found is only recorded.

        It goes on only if a step has written something new, a request or a URL: so it comes to an end.
        `may_look`: addresses that were taken for other spellings of a page are looked at, before the crawl is over.
        """
        if not _is_surveyed(crawl):
            return False
        if any(probe.purpose is Purpose.TRIAL for probe in self._probes_of(crawl.id)):
            return self._go_on(crawl)  # they were planned, and lost with their process or with Redis
        state = self._load(crawl.id)
        if state is None:
            return False
        step = self._step(crawl, state)
        if not step.open and not (may_look and self._survey.readdressed(crawl.id)):
            return False
        tried = self._survey.tried(crawl.id)
        self._judge(crawl, step, tried)
        # Pages that are known to be some come first: their links show what else stands beside them.
        left = self._admit(crawl, step, state)
        may_try = has_room and not misses_browser(crawl)
        if left and may_try:
            left = self._try(left, step, tried)
        if left is None:
            return True
        step.settle_rest()
        left = self._admit(left, step, state, last=True)
        return left is None or (may_try and may_look and self._look(left, step, state, tried))

    def _try(self, crawl: CrawlJob, step: QueryStep, tried: Sequence[TriedPage]) -> CrawlJob | None:
        """Plan trials. None if the crawl goes on with them; else all that they would ask was asked, and is judged."""
        probes = step.plan(crawl.id, self._survey.asked(crawl.id), len(tried))
        if probes:
            log.info("queries_tried", crawl_id=str(crawl.id), requests=len(probes))
            saved = self._survey.save(crawl, step.config, probes)
            if saved is None or self._goes_on(saved):
                return None
            crawl = saved.crawl
        if step.is_trying:
            self._judge(crawl, step, tried)
        return crawl

    def try_at_limit(self, crawl: CrawlJob) -> bool:
        """Whether the crawl waits for trials, though it has no room for more pages. There are few of them, once: so
        that the next crawl knows which pages there are."""
        waiting = [probe for probe in self._probes_of(crawl.id) if probe.purpose is Purpose.TRIAL]
        waiting = waiting or self._plan_at_limit(crawl)
        if waiting:
            self._frontier.readmit(crawl.id, [probe_entry(probe) for probe in waiting])
            self._wake(crawl)
        return bool(waiting)

    def _plan_at_limit(self, crawl: CrawlJob) -> list[Probe]:
        most = min(MOST_GROUPS, crawl.config.max_pages // PAGES_FOR_EACH)
        state = self._load(crawl.id) if _is_surveyed(crawl) and most and not misses_browser(crawl) else None
        if state is None or self._survey.tried(crawl.id) or self._survey.unanswered(crawl.id):
            return []
        step = self._step(crawl, state)
        step.judge((), frozenset(self._survey.met(crawl.id)), {})
        probes = step.plan(crawl.id, self._survey.asked(crawl.id), 0, most)
        if not probes:
            return []
        log.info("queries_tried", crawl_id=str(crawl.id), requests=len(probes))
        saved = self._survey.save(crawl, step.config, probes)
        if saved and saved.new:
            return probes
        return [probe for probe in self._probes_of(crawl.id) if probe.purpose is Purpose.TRIAL]

    def record(self, crawl: CrawlJob) -> None:
        """Keep what is known of parameters at the end of a crawl that has no room for more pages, and which of them
        were not tried. Links to more pages only go to the ledger, where they end like all that had no room."""
        state = self._load(crawl.id) if _is_surveyed(crawl) else None
        if state is None:
            return
        step = self._step(crawl, state)
        if step.open or step.is_trying:
            self._judge(crawl, step, self._survey.tried(crawl.id))
            step.settle_rest()
            self._keep(crawl, step, state, last=True)

    def _judge(self, crawl: CrawlJob, step: QueryStep, tried: Sequence[TriedPage]) -> None:
        read = self._read(tried, crawl.config) if step.is_trying else {}
        silent = dict.fromkeys((url for url, found in read.items() if isinstance(found, Unjudged)), UNREAD)
        silent |= dict.fromkeys(self._survey.unanswered(crawl.id), UNANSWERED)
        step.judge(_answers(read), frozenset(self._survey.met(crawl.id)), silent)

    def _step(self, crawl: CrawlJob, state: CrawlState) -> QueryStep:
        parents = {href: (depth, parent) for href, depth, parent in self._survey.links(crawl.id)}
        return QueryStep(crawl.config, scope_of(state), parents)

    def _look(self, crawl: CrawlJob, step: QueryStep, state: CrawlState, tried: Sequence[TriedPage]) -> bool:
        """Look at addresses that were taken for other spellings of a page; queue those that are pages of their own.

        They are looked at as the crawl's pages are fetched, and compared with pages that were fetched so.
        """
        lane = lane_of(crawl)
        no_pages = self._survey.no_pages(crawl.id, step.keys)
        known = no_pages | self._survey.standing(crawl.id, step.keys), self._survey.readdressed(crawl.id)
        looks, probes = step.looks(crawl.id, *known, self._survey.asked(crawl.id), MOST_ASKED - len(tried))
        if probes:
            log.info("folds_looked_at", crawl_id=str(crawl.id), requests=len(probes))
            saved = self._survey.save(crawl, crawl.config, probes)
            if saved is None or self._goes_on(saved):
                return True
        seen = {fold.other.href for fold in looks}
        pages = [page for page in tried if page.url in seen]
        if not pages:
            return False
        stands = sorted({fold.stands.href for fold in looks})
        answers = _answers(self._read([*pages, *self._survey.stored(crawl.id, stands, lane)], crawl.config))
        looked = self._survey.tried_before(crawl.id, sorted(seen), lane)
        earlier = (*looked, *self._survey.stored_before(crawl.id, stands, lane))
        before = _answers(self._read(earlier, crawl.config))
        if not step.tell_apart(looks, answers, before, self._survey.met(crawl.id), set(no_pages.values())):
            return False
        log.info("folds_told_apart", crawl_id=str(crawl.id))
        return self._admit(crawl, step, state, last=True) is None

    def _read(self, tried: Sequence[TriedPage], config: CrawlConfig) -> dict[str, Answer | Unjudged | None]:
        """By address what the trials say, as far as they can be read in time."""
        with self._open_judge() as judge:
            return {page.url: found for page, found in judge.each(answer_of, tried, config.follow_nofollow)}

    def _admit(self, crawl: CrawlJob, step: QueryStep, state: CrawlState, *, last: bool = False) -> CrawlJob | None:
        """Queue the links whose parameters are known now. None if the crawl goes on with them; else the crawl as it is
        kept. The last step is kept though there be nothing to queue: if another process was faster, this one has seen
        too little to say that the crawl is over."""
        kept = self._keep(crawl, step, state, last=last)
        if kept is None:
            return crawl
        (saved,) = kept
        return None if saved is None or self._goes_on(saved) else saved.crawl

    def _keep(self, crawl: CrawlJob, step: QueryStep, state: CrawlState, *, last: bool) -> tuple[Saved | None] | None:
        """What was kept, with links that are new in its ledger (None if another process was faster); None if there is
        nothing to keep."""
        done = crawl.model_copy(update={"config": step.config})
        scope = scope_of(replace(state, crawl=done))
        met = self._survey.met(crawl.id)
        found = list(step.found(done, scope, met, self._survey.addresses(crawl.id, step.keys)))
        if not found and not last:
            return None
        first = self._frontier.reserve_sequence(crawl.id, len(found)) if found else 0
        found = [one._replace(seq=first + at) for at, one in enumerate(found)]
        saved = self._survey.save(crawl, step.config, found=found, settled=step.settled)
        if saved is not None:
            log.info("queries_settled", crawl_id=str(crawl.id), urls=saved.new)
        return (saved,)

    def _goes_on(self, saved: Saved) -> bool:
        """Whether there is something new, with which the frontier is filled."""
        return saved.new > 0 and self._go_on(saved.crawl)

    def _go_on(self, crawl: CrawlJob) -> bool:
        self._fill_frontier(crawl, sitemaps=False)  # nothing was left to do, so they are read
        self._wake(crawl)
        return True

    def _wake(self, crawl: CrawlJob) -> None:
        for lane in lanes_of(crawl):
            self._hints.fetch(lane)


def _answers(read: Mapping[str, Answer | Unjudged | None]) -> list[Answer]:
    return [found for found in read.values() if isinstance(found, Answer)]


def _is_surveyed(crawl: CrawlJob) -> bool:
    return crawl.config.query_params is QueryParams.AUTO and crawl.crawl_type is not CrawlType.FETCH_ONLY
