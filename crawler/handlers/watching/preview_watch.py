"""Shows what a watch rule finds on stored pages, before it is switched on."""

from collections.abc import Iterator, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.judging import OpenJudge, Unjudged
from crawler.domain.noise.page_pairs import PageOfCrawl
from crawler.domain.patterns import compile_pattern
from crawler.domain.watching.previews import PagePreview, WatchPreview, preview_of, previewed
from crawler.domain.watching.rules import WatchOrder

MOST_PAGES = 20
MOST_URLS = 100_000
"""Among which pages are looked for."""


class StoredUrls(Protocol):
    def newest_crawl(self, project_id: UUID) -> UUID | None: ...
    def urls(self, crawl_id: UUID, most: int) -> list[str]: ...


class Pages(Protocol):
    def stored(self, crawl_id: UUID, urls: Sequence[str]) -> Iterator[PageOfCrawl]: ...


class PreviewWatch:
    def __init__(self, projects: ProjectReader, urls: StoredUrls, pages: Pages, open_judge: OpenJudge) -> None:
        self._projects = projects
        self._urls = urls
        self._pages = pages
        self._open_judge = open_judge

    def __call__(self, project_id: UUID, order: WatchOrder, pages: int = MOST_PAGES) -> WatchPreview:
        """What the rule finds on pages of the newest crawl."""
        self._projects.get_project(project_id)
        crawl_id = self._urls.newest_crawl(project_id)
        if crawl_id is None:
            return preview_of(order, [], 0)
        pattern = compile_pattern(order.pattern)
        matching = [url for url in self._urls.urls(crawl_id, MOST_URLS) if pattern.search(url)]
        few = matching[: min(pages, MOST_PAGES)]
        with self._open_judge() as judge:
            found = judge.each(previewed, self._pages.stored(crawl_id, few), order)
            shown = [PagePreview.unread(page.url) if isinstance(one, Unjudged) else one for page, one in found]
        return preview_of(order, shown, len(matching))
