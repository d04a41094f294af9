"""Start a crawl: commit its row and its first URLs, then send a hint to a worker.

Settings and their limits: `CrawlConfig` in `domain/crawls/crawl.py`. One crawl of a project at a time: an index in
`adapters/postgres/tables/crawls.py`. Next step: `seed_crawl.py`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from pydantic import ValidationError

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, FetchState
from crawler.domain.crawls.frontier import Priority
from crawler.domain.crawls.learned_params import LearnedParam, ParamRole
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import Found, Source, UrlKey
from crawler.domain.urls.query_survey import learned
from crawler.domain.urls.scope import Scope
from crawler.domain.urls.url import QueryRule, Url, normalize, param_names, parse, path_key
from crawler.errors import Conflict, Invalid, InvalidConfig


class NewCrawls(ProjectReader, Protocol):
    def save_project(self, project: Project) -> Project: ...
    def has_full_crawl(self, project_id: UUID) -> bool: ...
    def add_crawl(
        self,
        crawl: CrawlJob,
        *,
        idempotency_key: str | None = None,
        urls: Sequence[Found] = (),
        opened: tuple[str, int] | None = None,
    ) -> CrawlJob: ...


class StartCrawl:
    def __init__(
        self, store: NewCrawls, hint: Callable[[CrawlJob], None], clock: Clock, max_pages_ceiling: int
    ) -> None:
        self._store = store
        self._hint = hint
        self._clock = clock
        self._ceiling = max_pages_ceiling

    def __call__(
        self,
        project_id: UUID,
        *,
        seed_url: str | None = None,
        crawl_type: CrawlType = CrawlType.MANUAL,
        config: Mapping[str, Any] | None = None,
        urls: Sequence[str] = (),
        idempotency_key: str | None = None,
        opened: tuple[str, int] | None = None,
        max_seconds: int | None = None,
        retry_of: UUID | None = None,
    ) -> CrawlJob:
        """Start a crawl. `max_seconds` holds for this crawl alone, not for the project's settings.

        `opened` is only for a person at a terminal: the host and port they typed may be dialled in this crawl.
        """
        project = self._store.get_project(project_id)
        if not project.is_active:
            raise Conflict(f"Project {project.name!r} is not active; activate it before crawling it.")
        options = self._options(project, config or {})
        seed = parse(urls[0] if urls else seed_url or project.website_url or _no_seed(project))
        if not urls:
            for named in (seed, *map(parse, options.start_urls)):
                options = _with_params_of(named, options)
            Scope.of(seed.href, options)  # refuses invalid hosts before a worker meets them
        first = not urls and not self._store.has_full_crawl(project_id)
        crawl = CrawlJob.create(
            project_id=project_id,
            seed_url=seed.href,
            domain=seed.host,
            crawl_type=_type(crawl_type, first=first, fetch_only=bool(urls)),
            config=_for_this_crawl(options, len(urls), max_seconds),
            now=self._clock(),
            retry_of=retry_of,
        )
        started = self._store.add_crawl(
            crawl,
            idempotency_key=idempotency_key,
            urls=first_urls(crawl, [parse(url) for url in urls or (seed.href, *options.start_urls)]),
            opened=opened,
        )
        if first and config and started.id == crawl.id:
            # Options given with the first crawl become the project's own; scheduled crawls use those. Skipping URLs
            # that have a document is for this crawl alone: later crawls are there to find changes.
            kept = options.model_copy(update={"refresh": True})
            self._store.save_project(project.changed(self._clock(), settings=kept))
        self._hint(started)
        return started

    def record_refusal(self, project_id: UUID, why: str, idempotency_key: str, retry_of: UUID | None) -> CrawlJob:
        """Record a scheduled crawl that could not be started as a failed crawl, so that the history shows it."""
        project, now = self._store.get_project(project_id), self._clock()
        refused = CrawlJob.create(
            project_id=project_id,
            seed_url=project.website_url or "",
            domain="",
            crawl_type=CrawlType.SCHEDULED,
            config=project.settings,
            now=now,
            retry_of=retry_of,
        )
        failed = refused.model_copy(
            update={"status": CrawlStatus.FAILED, "error_message": why, "started_at": now, "completed_at": now}
        )
        return self._store.add_crawl(failed, idempotency_key=idempotency_key)

    def _options(self, project: Project, given: Mapping[str, Any]) -> CrawlConfig:
        return valid_config({**project.settings.model_dump(), **given}).within(self._ceiling)


def _with_params_of(seed: Url, options: CrawlConfig) -> CrawlConfig:
    """Whoever gives a seed with a query names a page by it."""
    rule = QueryRule.of(options)
    if not rule.leaves_open(seed):
        return options
    path = path_key(seed)
    given = [
        LearnedParam(path=path, name=name, role=ParamRole.KEPT, why="it stands in the seed")
        for name in param_names(seed)
        if rule.role(path, name) is None
    ]
    return options.model_copy(update={"learned_params": learned(given, options.learned_params)})


def _for_this_crawl(options: CrawlConfig, urls: int, max_seconds: int | None) -> CrawlConfig:
    """Options for this crawl alone: a list of URLs is fetched whole, and `max_seconds` may be given."""
    return options.model_copy(
        update={
            "max_pages": max(options.max_pages, urls),
            "max_duration_seconds": max_seconds or options.max_duration_seconds,
        }
    )


def valid_config(given: Mapping[str, Any]) -> CrawlConfig:
    try:
        return CrawlConfig.model_validate(given)
    except ValidationError as exc:
        raise InvalidConfig(explain(exc)) from exc


def explain(exc: ValidationError) -> str:
    first = exc.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "The options"
    return f"{where}: {first['msg'].removeprefix('Value error, ').rstrip('.')}."


def _no_seed(project: Project) -> str:
    raise Invalid(f"Project {project.name!r} has no website_url, so each crawl of it needs a seed_url.")


def _type(asked: CrawlType, *, first: bool, fetch_only: bool) -> CrawlType:
    if fetch_only:
        return CrawlType.FETCH_ONLY
    if first and asked is CrawlType.MANUAL:
        return CrawlType.INITIAL
    return asked


def first_urls(crawl: CrawlJob, urls: Sequence[Url]) -> list[Found]:
    rule = QueryRule.of(crawl.config)
    fetch_only = crawl.crawl_type is CrawlType.FETCH_ONLY
    found: dict[str, Found] = {}
    for seq, url in enumerate(urls):
        normalized, is_seed = normalize(url, rule), not fetch_only and seq == 0
        found.setdefault(
            normalized,
            Found(
                UrlKey(crawl.id, normalized),
                url.href,
                depth=0,
                priority=Priority.HOMEPAGE if is_seed else Priority.OTHER if fetch_only else Priority.INCLUDED,
                seq=seq,
                state=FetchState.QUEUED,
                reason=None,
                rule="homepage" if is_seed else "given",
                source=Source.SEED if is_seed else Source.LIST,
                parent=None,
            ),
        )
    return list(found.values())
