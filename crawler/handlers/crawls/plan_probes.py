"""Plan probes at the end of a crawl: check pages that it did not find, and fetch some pages a second time.

The rules are in `domain/changes/probes.py`.
"""

from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.baseline import choose_baseline, dropped_types
from crawler.domain.changes.coverage import is_failing
from crawler.domain.changes.probes import (
    MOST_MISSING,
    MOST_MISSING_AT_LIMIT,
    MOST_SAMPLED,
    Probe,
    ProbeState,
    Purpose,
    UnmetPage,
    choose_second_looks,
    host_of,
    probe_entry,
)
from crawler.domain.changes.removals import Removal
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.ports import CrawlReader
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.engine.ledger import UrlKey
from crawler.domain.engine.ports import Frontier, Hints
from crawler.domain.rendering.signals import lacks_browser
from crawler.domain.urls.scope import Admission, Scope
from crawler.domain.urls.url import Url, read
from crawler.handlers.engine.crawl_context import scope_of

log = telemetry.logger(__name__)


class Probes(Protocol):
    def state(self, crawl_id: UUID) -> ProbeState: ...
    def plan(self, crawl_id: UUID, probes: Sequence[Probe]) -> None: ...
    def queued(self, crawl_id: UUID) -> list[Probe]: ...
    def close_rest(self, crawl_id: UUID) -> None: ...
    def close_second_looks(self, crawl_id: UUID) -> None: ...
    def missing_pages(
        self, crawl_id: UUID, baseline_id: UUID, unsettled: Container[str], *, was_blind: bool
    ) -> list[UnmetPage]: ...
    def unsure_pages(self, crawl_id: UUID, baseline_id: UUID) -> list[UnmetPage]: ...
    def files_of(self, crawl_id: UUID, types: Collection[str]) -> set[str]: ...
    def fresh_pages(self, crawl_id: UUID, *, rendered: bool) -> list[tuple[str, str]]: ...
    def keys_of(self, crawl_id: UUID, urls: Sequence[str]) -> set[str]: ...
    def looked_at(self, crawl_id: UUID) -> dict[str, int]: ...


class Earlier(CrawlReader, Protocol):
    def earlier_crawls(self, crawl: CrawlJob, limit: int = 50) -> list[CrawlJob]: ...


class Lanes(Protocol):
    def is_open(self, lane: Lane) -> bool: ...


class PlanProbes:
    def __init__(
        self,
        probes: Probes,
        crawls: Earlier,
        load: Callable[[UUID], CrawlState | None],
        frontier: Frontier,
        lanes: Lanes,
        hints: Hints,
    ) -> None:
        self._probes = probes
        self._crawls = crawls
        self._load = load
        self._frontier = frontier
        self._lanes = lanes
        self._hints = hints

    def __call__(self, crawl: CrawlJob, *, saw_all: bool) -> bool:
        """Whether the crawl has to wait for its probes. They are planned once, and queued again if they were lost.

        A crawl that stopped at max_pages asks for few of those to which nothing links any more, and records the others
        for the next one.
        """
        state = self._probes.state(crawl.id)
        # A crawl that stored nothing has failed: hundreds of further requests would not help the site.
        if not state.planned and crawl.pages_crawled and crawl.crawl_type is not CrawlType.FETCH_ONLY:
            self._plan(crawl, saw_all=saw_all)
        waiting = self._probes.queued(crawl.id)
        if not waiting:
            return False
        self._frontier.readmit(crawl.id, [probe_entry(probe) for probe in waiting])
        self._hints.fetch(Lane.HTTP)
        return True

    def were_planned(self, crawl_id: UUID) -> bool:
        return self._probes.state(crawl_id).planned > 0

    def are_done(self, crawl_id: UUID) -> bool:
        """Whether all probes have ended in Postgres. Entries of hosts that do not respond may still be queued."""
        state = self._probes.state(crawl_id)
        return state.planned > 0 and state.queued == 0

    def close_rest(self, crawl_id: UUID) -> None:
        self._probes.close_rest(crawl_id)

    def give_up_second_looks(self, crawl_id: UUID) -> None:
        """For a crawl that still waits for them, while there is no browser any more."""
        self._probes.close_second_looks(crawl_id)

    def _plan(self, crawl: CrawlJob, *, saw_all: bool) -> None:
        state = self._load(crawl.id)
        if state is None:
            return
        probes = [*self._missing(crawl, scope_of(state), saw_all=saw_all), *self._again(crawl)]
        if probes:
            self._probes.plan(crawl.id, probes)
            asked = sum(probe.outcome is None for probe in probes)
            log.info("probes_planned", crawl_id=str(crawl.id), requests=asked, known=len(probes) - asked)

    def _missing(self, crawl: CrawlJob, scope: Scope, *, saw_all: bool) -> Iterable[Probe]:
        chosen = choose_baseline(self._crawls.earlier_crawls(crawl), crawl)
        if chosen is None:
            return
        baseline = self._crawls.get_crawl(chosen.id)
        asked, most = 0, MOST_MISSING if saw_all else MOST_MISSING_AT_LIMIT
        unsettled = frozenset((baseline.change_summary or {}).get("not_compared_urls", ()))
        was_blind = is_failing(baseline.change_summary)
        missing = self._probes.missing_pages(crawl.id, baseline.id, unsettled, was_blind=was_blind)
        dropped = self._probes.files_of(baseline.id, dropped_types(baseline.config, crawl.config))
        for position, page in enumerate(missing):
            outcome: Removal | None = None
            if page.normalized_url in dropped or not _is_wanted(page, scope):
                outcome = Removal.EXCLUDED
            elif asked >= most or (page.is_linked and not saw_all):
                outcome = Removal.NOT_REACHED
            asked += outcome is None
            yield _probe(crawl.id, page, position, outcome)
        # Pages this crawl met and could not fetch are recorded, so that a later crawl can tell what became of them.
        for page in self._probes.unsure_pages(crawl.id, baseline.id):
            if page.normalized_url not in dropped:
                yield _probe(crawl.id, page, 0, Removal.NOT_REACHED)

    def _again(self, crawl: CrawlJob) -> Iterable[Probe]:
        if not crawl.learns_noise:
            return
        has_browser = not lacks_browser(crawl) and self._lanes.is_open(Lane.BROWSER)
        pages = self._probes.fresh_pages(crawl.id, rendered=has_browser)
        chosen = choose_second_looks(pages, self._probes.looked_at(crawl.id), self._told_before(crawl))
        for position, (key, url) in enumerate(chosen):
            yield Probe(UrlKey(crawl.id, key), url, host_of(url), Purpose.AGAIN, position)

    def _told_before(self, crawl: CrawlJob) -> set[str]:
        """Keys of pages that the crawl before told as changed."""
        chosen = choose_baseline(self._crawls.earlier_crawls(crawl), crawl)
        summary = self._crawls.get_crawl(chosen.id).change_summary if chosen else None
        urls = (summary or {}).get("changed_page_urls", ())[:MOST_SAMPLED]
        return self._probes.keys_of(chosen.id, urls) if chosen and urls else set()


def _is_wanted(page: UnmetPage, scope: Scope) -> bool:
    """Whether this crawl would have fetched the page under this URL, had it found a link."""
    url = read(page.url)
    if not isinstance(url, Url):
        return False
    candidate = scope.candidate(url, page.depth)
    return isinstance(candidate.verdict, Admission) and candidate.normalized == page.normalized_url


def _probe(crawl_id: UUID, page: UnmetPage, position: int, outcome: Removal | None) -> Probe:
    return Probe(
        UrlKey(crawl_id, page.normalized_url),
        page.url,
        host_of(page.url),
        Purpose.MISSING,
        position,
        outcome.value if outcome else None,
        page.content_hash,
        page.rounds,
        page.depth,
    )
