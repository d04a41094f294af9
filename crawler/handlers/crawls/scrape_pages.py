"""Fetch pages that somebody asks for by their address, now: a small crawl beside all others, by the same engine.

It is claimed like any other crawl, so politeness, robots.txt, the egress rule and the browser lane hold. A crawl that
was never served is served first (`adapters/frontier/lua/due.lua`). How pages are shown: `domain/markdown/page_formats`.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.acquisition.entries import batch_config
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, FetchState, QueryParams, RenderMode
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.crawls.project import SINGLE_PAGES_ID, Project
from crawler.domain.engine.ledger import Found
from crawler.domain.hosts.credentials import Credentials
from crawler.domain.judging import OpenJudge
from crawler.domain.markdown.page_formats import PageFormat, ShapedPage, Wanted, shape
from crawler.domain.pages.files import is_pdf
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.pdf_reading import ReadPdf
from crawler.domain.pages.scraped import PageEnd, ScrapedVersion
from crawler.domain.reason_words import MEANINGS
from crawler.domain.reasons import Reason
from crawler.domain.urls.keys import keys_of
from crawler.domain.urls.scope import Scope
from crawler.domain.urls.url import parse
from crawler.errors import Conflict, Invalid, NotFound, PageNotFetched
from crawler.handlers.crawls.start_crawl import first_urls, valid_config

SINGLE_PAGES_NAME = "single pages"
LONGEST_SECONDS = 900
"""After which a page that could not be had is given up."""
FILE_TYPES = (
    "text/html", "application/xhtml+xml", "application/pdf", "application/json", "text/plain", "text/markdown",
    "text/csv", "application/xml", "text/xml", "application/rss+xml", "application/atom+xml",
)  # fmt: skip
WANTED = "wanted"
HEADERS = "headers"
_MOST_HOPS = 20


class ScrapeOptions(NamedTuple):
    wanted: Wanted = Wanted()
    render: RenderMode = RenderMode.AUTO
    wait_seconds: float = 0.0
    headers: Mapping[str, str] | None = None
    """Sent to the URL's own origin, kept encrypted while the crawl is kept."""

    @property
    def pictured(self) -> bool:
        return PageFormat.SCREENSHOT in self.wanted.formats

    @property
    def rendered(self) -> bool:
        return self.render is RenderMode.ALWAYS or self.wait_seconds > 0 or self.pictured


class ShownPage(NamedTuple):
    version: ScrapedVersion
    shaped: ShapedPage
    screenshot: bytes | None


class ScrapeStore(ProjectReader, Protocol):
    def add_project(self, project: Project) -> Project: ...
    def add_batch(
        self,
        crawl: CrawlJob,
        urls: Sequence[Found],
        *,
        scope: Mapping[str, Any] | None = None,
        opened: tuple[str, int] | None = None,
    ) -> CrawlJob: ...
    def get_scope(self, crawl_id: UUID) -> dict[str, Any]: ...


class PageFinder(Protocol):
    def find_end(self, crawl_id: UUID, normalized_url: str) -> tuple[PageEnd, str | None] | None: ...
    def find_version(self, project_id: UUID, version_id: UUID) -> ScrapedVersion | None: ...
    def find_seen(
        self, project_id: UUID, normalized_url: str, since: datetime, *, rendered: bool, pictured: bool
    ) -> ScrapedVersion | None: ...
    def find_picture(self, version_id: UUID) -> bytes | None: ...


class ScrapePages:
    def __init__(
        self,
        store: ScrapeStore,
        pages: PageFinder,
        begin: Callable[[CrawlJob, Sequence[Found]], None],
        seal: Callable[[Credentials], str],
        read_pdf: ReadPdf,
        open_judge: OpenJudge,
        clock: Clock,
    ) -> None:
        self._store = store
        self._pages = pages
        self._begin = begin
        self._seal = seal
        self._read_pdf = read_pdf
        self._open_judge = open_judge
        self._clock = clock

    def start(
        self,
        project_id: UUID,
        urls: Sequence[str],
        options: ScrapeOptions,
        *,
        opened: tuple[str, int] | None = None,
        notes: Mapping[str, Any] | None = None,
    ) -> CrawlJob:
        """Begin to fetch these pages. `notes` are kept with the crawl, for the door that began it."""
        if options.render is RenderMode.NEVER and options.rendered:
            raise Invalid("A screenshot and a wait need a browser: leave out render, or set it to always.")
        read = [parse(url) for url in urls]
        project = self.project(project_id)
        if not project.is_active:
            raise Conflict(f"Project {project.name!r} is not active; activate it before crawling it.")
        scope = self._scope(options, notes)
        now = self._clock()
        crawl = CrawlJob.create(
            project_id=project_id,
            seed_url=read[0].href,
            domain=read[0].host,
            crawl_type=CrawlType.FETCH_ONLY,
            config=_config(project.settings, options, len(read)),
            now=now,
            from_queue=True,
        ).start(now)
        found = first_urls(crawl, read)
        self._store.add_batch(crawl, found, scope=scope, opened=opened)
        self._begin(crawl, found)
        return crawl

    def begin_crawl(
        self,
        project_id: UUID,
        url: str,
        settings: Mapping[str, Any],
        options: ScrapeOptions,
        *,
        notes: Mapping[str, Any] | None = None,
    ) -> CrawlJob:
        """Begin to crawl a site beside other crawls of the project: it is compared with none of them."""
        seed, now, project = parse(url), self._clock(), self.project(project_id)
        kept = {name: getattr(project.settings, name) for name in ("delay_seconds", "respect_robots_txt")}
        changes = {"screenshots": options.pictured, "render_wait_seconds": options.wait_seconds, "learn_noise": False}
        config = valid_config({**kept, **settings, **changes})
        Scope.of(seed.href, config)  # refuses invalid hosts before a worker meets them
        crawl = CrawlJob.create(
            project_id=project_id,
            seed_url=seed.href,
            domain=seed.host,
            crawl_type=CrawlType.MANUAL,
            config=config,
            now=now,
            from_queue=True,
        ).start(now)
        found = first_urls(crawl, [seed])
        self._store.add_batch(crawl, found, scope=self._scope(options, notes))
        self._begin(crawl, found)
        return crawl

    def _scope(self, options: ScrapeOptions, notes: Mapping[str, Any] | None) -> dict[str, Any]:
        scope: dict[str, Any] = {WANTED: options.wanted.model_dump(mode="json"), **(notes or {})}
        if options.headers:
            scope[HEADERS] = self._seal(Credentials.of_headers(options.headers))
        return scope

    def wanted(self, crawl_id: UUID) -> Wanted | None:
        """In which forms the pages of this crawl were asked for; None if it was begun in another way."""
        kept = self._store.get_scope(crawl_id).get(WANTED)
        return Wanted.model_validate(kept) if kept else None

    def find_seen(
        self, project_id: UUID, url: str, options: ScrapeOptions, max_age: timedelta
    ) -> ScrapedVersion | None:
        """What is stored of the page, if it was found so not longer ago than that."""
        if options.headers or max_age <= timedelta(0):
            return None
        try:
            settings = self._store.get_project(project_id).settings
        except NotFound:
            if project_id != SINGLE_PAGES_ID:
                raise
            return None
        key = keys_of(batch_config(settings, 1))(parse(url).href)
        if key is None:
            return None
        since = self._clock() - max_age
        return self._pages.find_seen(project_id, key, since, rendered=options.rendered, pictured=options.pictured)

    def find_end(self, crawl: CrawlJob, url: str) -> PageEnd | None:
        """How a URL of the crawl ended, wherever its redirects led; None while it is under way."""
        key_of = keys_of(crawl.config)
        key = key_of(url)
        for _ in range(_MOST_HOPS):
            found = self._pages.find_end(crawl.id, key) if key else None
            if found is None:
                return None
            end, target = found
            if end.reason != Reason.REDIRECTED or target is None:
                return end
            key = key_of(target)
        return end._replace(reason=Reason.REDIRECT_LOOP)

    def version(self, crawl: CrawlJob, end: PageEnd) -> ScrapedVersion:
        """The version that the URL ended with. Raises PageNotFetched if there is none."""
        if end.state == FetchState.DONE and end.version_id is not None:
            found = self._pages.find_version(crawl.project_id, end.version_id)
            if found is not None:
                return found._replace(http_status=end.http_status or found.http_status)
        raise not_fetched(end)

    def show(self, version: ScrapedVersion, wanted: Wanted) -> ShownPage:
        """The page in the forms that are wanted, made within bounds."""
        picture = self._pages.find_picture(version.version_id) if PageFormat.SCREENSHOT in wanted.formats else None
        if set(wanted.formats) <= {PageFormat.SCREENSHOT}:
            return ShownPage(version, ShapedPage(), picture)
        body, kind = version.body, version.content_type
        pdf = self._read_pdf(body) if is_pdf(kind, body) else None
        with self._open_judge() as judge:
            try:
                shaped = judge.one(shape, body, version.url, kind, pdf, wanted)
            except UnparsablePage as exc:
                raise Invalid("This page's markup was built to hurt parsers, so it is not read again.") from exc
        return ShownPage(version, shaped, picture)

    def project(self, project_id: UUID) -> Project:
        """The project; the built-in one is made when it is first needed."""
        try:
            return self._store.get_project(project_id)
        except NotFound:
            if project_id != SINGLE_PAGES_ID:
                raise
        try:
            return self._store.add_project(_single_pages(self._clock()))
        except Conflict:
            try:
                return self._store.get_project(project_id)  # somebody else made it in this moment
            except NotFound:
                raise Conflict(
                    f"The project of single pages is to be called {SINGLE_PAGES_NAME!r}, "
                    "and another one has that name; rename it."
                ) from None


def not_fetched(end: PageEnd) -> PageNotFetched:
    words = MEANINGS[Reason(end.reason)] if end.reason else "It could not be fetched."
    told = ", ".join(filter(None, (f"HTTP {end.http_status}" if end.http_status else "", end.error)))
    detail = f" ({told})" if told else ""
    return PageNotFetched(f"{words.rstrip('.')}{detail}.", reason=end.reason, http_status=end.http_status)


def _config(project: CrawlConfig, options: ScrapeOptions, urls: int) -> CrawlConfig:
    changes = {
        "render": options.render,
        "screenshots": options.pictured,
        "render_wait_seconds": options.wait_seconds,
        "content_types": tuple(dict.fromkeys((*project.content_types, *FILE_TYPES))),
        "max_duration_seconds": LONGEST_SECONDS + 10 * urls,
        "max_scrolls": 0,
    }
    return CrawlConfig.model_validate({**batch_config(project, urls).model_dump(), **changes})


def _single_pages(now: datetime) -> Project:
    return Project(
        id=SINGLE_PAGES_ID,
        name=SINGLE_PAGES_NAME,
        settings=CrawlConfig(query_params=QueryParams.KEEP, use_sitemaps=False),
        created_at=now,
        updated_at=now,
    )
