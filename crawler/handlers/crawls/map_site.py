"""List the URLs of a site without crawling it: one page and the sitemaps are read, politely, and the store is asked.

It is a crawl of one page beside all others: whatever it finds and does not fetch stands in its ledger.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType, QueryParams
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import Found
from crawler.domain.pages.scraped import MappedUrl
from crawler.domain.urls.url import Url, parse
from crawler.handlers.crawls.start_crawl import first_urls

LONGEST_SECONDS = 180
MOST_URLS = 50_000


class MapOptions(NamedTuple):
    use_sitemaps: bool = True
    only_sitemaps: bool = False
    subdomains: bool = False
    ignore_query: bool = False
    search: str = ""
    limit: int = 5_000


class MapStore(Protocol):
    def add_batch(
        self, crawl: CrawlJob, urls: Sequence[Found], *, opened: tuple[str, int] | None = None
    ) -> CrawlJob: ...


class UrlFinder(Protocol):
    def found(self, crawl_id: UUID, *, only_sitemaps: bool, limit: int) -> list[MappedUrl]: ...
    def known(self, host: str, projects: Sequence[UUID] | None, limit: int) -> list[MappedUrl]: ...


class MapSite:
    def __init__(
        self,
        store: MapStore,
        project: Callable[[UUID], Project],
        urls: UrlFinder,
        begin: Callable[[CrawlJob, Sequence[Found]], None],
        clock: Clock,
    ) -> None:
        self._store = store
        self._project = project
        self._urls = urls
        self._begin = begin
        self._clock = clock

    def start(
        self, project_id: UUID, url: str, options: MapOptions, *, opened: tuple[str, int] | None = None
    ) -> CrawlJob:
        seed, now = parse(url), self._clock()
        crawl = CrawlJob.create(
            project_id=project_id,
            seed_url=seed.href,
            domain=seed.host,
            crawl_type=CrawlType.MANUAL,
            config=_config(self._project(project_id).settings, options),
            now=now,
            from_queue=True,
        ).start(now)
        found = first_urls(crawl, [seed])
        self._store.add_batch(crawl, found, opened=opened)
        self._begin(crawl, found)
        return crawl

    def list(self, crawl: CrawlJob, options: MapOptions, projects: Sequence[UUID] | None) -> list[MappedUrl]:
        """What is known of the site by now: from this crawl, and from projects that the caller may see."""
        seed = parse(crawl.seed_url)
        most = MOST_URLS if options.search else options.limit
        found = self._urls.found(crawl.id, only_sitemaps=options.only_sitemaps, limit=most)
        known = [] if options.only_sitemaps else self._urls.known(seed.host, projects, most)
        return _chosen(_merged(seed, known, found, options), options)


def _config(project: CrawlConfig, options: MapOptions) -> CrawlConfig:
    """The project's manners, and nothing of what it is after."""
    return CrawlConfig(
        max_pages=1,
        query_params=QueryParams.DROP if options.ignore_query else QueryParams.KEEP,
        allow_subdomains=options.subdomains,
        use_sitemaps=options.use_sitemaps,
        # A URL that a link named first would not count as the sitemap's.
        max_links_per_page=1 if options.only_sitemaps else None,
        delay_seconds=project.delay_seconds,
        respect_robots_txt=project.respect_robots_txt,
        max_duration_seconds=LONGEST_SECONDS,
        learn_noise=False,
    )


def _merged(seed: Url, known: list[MappedUrl], found: list[MappedUrl], options: MapOptions) -> list[MappedUrl]:
    """Each URL once, the site's start first; what is known with its title stays so."""
    merged: dict[str, MappedUrl] = {}
    for one in (*known, *found):
        url = one.url.partition("?")[0] if options.ignore_query else one.url
        merged.setdefault(url, one._replace(url=url))
    first = merged.pop(seed.href, None)
    return [*([first] if first else []), *merged.values()]


def _chosen(urls: list[MappedUrl], options: MapOptions) -> list[MappedUrl]:
    words = options.search.lower().split()
    if not words:
        return urls[: options.limit]
    ranked = [(_hits(one, words), -place, one) for place, one in enumerate(urls)]
    best = sorted((entry for entry in ranked if entry[0]), reverse=True)
    return [one for _, _, one in best[: options.limit]]


def _hits(one: MappedUrl, words: list[str]) -> int:
    text = f"{one.url} {one.title or ''} {one.description or ''}".lower()
    return sum(word in text for word in words)
