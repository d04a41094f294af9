"""Work off the acquisition queue: entries become batches, which are crawls like any other to the engine.

Which entries are next: `adapters/acquisition/queue_claims.py`. Settings of a batch and ends of stranded entries:
`domain/acquisition/entries.py`.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.acquisition.entries import (
    LedgerEnd,
    QueueBatch,
    Stranded,
    StrandedEnd,
    Waiting,
    acquisition,
    batch_config,
    stranded_end,
)
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import STORED, CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.crawls.project import ACQUISITION_ID, Project
from crawler.domain.engine.ledger import Found
from crawler.domain.reasons import Reason
from crawler.domain.urls.keys import keys_of
from crawler.domain.urls.url import QueryRule, normalize, parse
from crawler.errors import Conflict, NotFound
from crawler.handlers.crawls.start_crawl import first_urls

log = telemetry.logger(__name__)

HOSTS_AT_LEAST = 20
"""Hosts among which the places are shared: no slow one has more than its part of them."""
_MOST_HOPS = 20


class QueueProjects(ProjectReader, Protocol):
    def add_project(self, project: Project) -> Project: ...


Plan = Callable[[Sequence[Waiting]], Sequence[tuple[QueueBatch, Sequence[Found]]]]


class Claims(Protocol):
    def claim(self, places: int, per_run: int, per_host: int, plan: Plan) -> list[tuple[UUID, int]]: ...
    def under_way(self) -> int: ...
    def stranded(self) -> list[Stranded]: ...
    def ledger_end(self, crawl_id: UUID, url: str) -> LedgerEnd | None: ...
    def first_redirecting(self, crawl_id: UUID, url: str) -> str | None:
        """Who first led there, over any number of redirects."""

    def settle(self, ends: Sequence[StrandedEnd]) -> None: ...


class QueueRun(NamedTuple):
    entries: int
    crawl_ids: tuple[UUID, ...]


class RunQueue:
    def __init__(
        self,
        claims: Claims,
        projects: QueueProjects,
        hint: Callable[[UUID], None],
        clock: Clock,
        *,
        batch_size: Callable[[], int],
        concurrency: int,
    ) -> None:
        self._claims = claims
        self._projects = projects
        self._hint = hint
        self._clock = clock
        self._batch_size = batch_size
        self._concurrency = concurrency

    def __call__(self) -> QueueRun:
        """Start as many batches as there is room for. Safe to repeat, and several at once take each entry once."""
        self._requeue_stranded()
        started: list[tuple[UUID, int]] = []
        per_host = max(1, self._concurrency // HOSTS_AT_LEAST)
        while made := self._claims.claim(self._concurrency, self._batch_size(), per_host, self._plan):
            started += made
            for crawl_id, _ in made:  # a crash before this is what the reconciler starts pending crawls for
                self._hint(crawl_id)
        run = QueueRun(sum(entries for _, entries in started), tuple(crawl_id for crawl_id, _ in started))
        if started:
            log.info("queue_claimed", entries=run.entries, crawls=len(run.crawl_ids))
        return run

    def recover(self) -> None:
        """Go on with a run that is under way; entries of dead batches come back."""
        if self._claims.under_way():
            self()

    def _plan(self, waiting: Sequence[Waiting]) -> list[tuple[QueueBatch, Sequence[Found]]]:
        by_project: dict[UUID, list[Waiting]] = {}
        for entry in waiting:
            by_project.setdefault(entry.project_id, []).append(entry)
        return [self._batch(project_id, entries) for project_id, entries in by_project.items()]

    def _batch(self, project_id: UUID, entries: Sequence[Waiting]) -> tuple[QueueBatch, Sequence[Found]]:
        if project_id == ACQUISITION_ID:
            project = ensure_acquisition(self._projects, self._clock)
        else:
            project = self._projects.get_project(project_id)
        urls = [parse(entry.url) for entry in entries]
        crawl = CrawlJob.create(
            project_id=project_id,
            seed_url=urls[0].href,
            domain=urls[0].host,
            crawl_type=CrawlType.FETCH_ONLY,
            config=batch_config(project.settings, len(urls)),
            now=self._clock(),
            from_queue=True,
        )
        rule = QueryRule.of(crawl.config)
        keys = {entry.id: normalize(url, rule) for entry, url in zip(entries, urls, strict=True)}
        return QueueBatch(crawl, keys), first_urls(crawl, urls)

    def _requeue_stranded(self) -> None:
        """Entries whose batch is over end as their URL did; those whose turn never came wait again."""
        while stranded := self._claims.stranded():
            self._claims.settle([self._stranded_end(entry) for entry in stranded])
            log.info("queue_entries_settled", entries=len(stranded))

    def _stranded_end(self, entry: Stranded) -> StrandedEnd:
        url, end = entry.url, entry.end
        if entry.config is None:
            return stranded_end(entry, url, None)
        key_of = keys_of(CrawlConfig.model_validate(entry.config, context=STORED))
        for _ in range(_MOST_HOPS):
            if end is None or end.reason != Reason.REDIRECTED or end.final_url is None:
                break
            url = key_of(end.final_url)
            end = self._claims.ledger_end(entry.crawl_id, url) if url else None
        if url is None or end is None or end.reason != Reason.REDIRECT_LOOP or end.final_url is not None:
            return stranded_end(entry, url, end)
        # Redirects are counted from whoever led there first; an entry that came to its way later may have fewer.
        first = self._claims.first_redirecting(entry.crawl_id, url)
        return stranded_end(entry, url, end, is_own=first == key_of(entry.source_url))


def ensure_acquisition(projects: QueueProjects, clock: Clock) -> Project:
    """The built-in project, made when it is first needed."""
    try:
        return projects.get_project(ACQUISITION_ID)
    except NotFound:
        made = acquisition(clock())
    try:
        return projects.add_project(made)
    except Conflict:
        try:
            return projects.get_project(ACQUISITION_ID)  # somebody else made it in this moment
        except NotFound:
            raise Conflict(
                f"The queue's own project is to be called {made.name!r}, and another one has that name; rename it."
            ) from None
