"""What a crawl found changed, for the API, the command line and the dashboard.

They are compared and counted by `diff_crawl.py`; their shape is in `domain/changes/summary.py`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.changes.digest import PageDigest
from crawler.domain.changes.summary import (
    MOST_TEXT_LINES,
    MOST_TEXT_PAGES,
    ChangedLine,
    ChangedPage,
    Compared,
    CrawlChanges,
    PageText,
)
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.ports import CrawlReader
from crawler.handlers.crawls.report_crawl import keys_of


class ComparedCrawls(CrawlReader, Protocol):
    def is_diffed(self, crawl_id: UUID) -> bool: ...


class ReadChangedPages(Protocol):
    def __call__(
        self, crawl_id: UUID, compared_to: UUID, keys: Sequence[str], further: int, /
    ) -> tuple[ChangedPage, ...]: ...


Digest = Callable[[UUID, int, int], Sequence[PageDigest]]
"""What changed in a crawl: so many pages, and so many changed lines of each."""


class DescribeChanges:
    def __init__(self, crawls: ComparedCrawls, changed_pages: ReadChangedPages, digest: Digest) -> None:
        self._crawls = crawls
        self._changed_pages = changed_pages
        self._digest = digest

    def with_texts(self, crawl: CrawlJob, pages: int = 20, lines: int = 10) -> CrawlChanges:
        """A crawl's changes, with the changed lines of the first changed pages, without noise."""
        return self(crawl).model_copy(update={"texts": self.texts(crawl, pages, lines)})

    def texts(self, crawl: CrawlJob, pages: int, lines: int) -> tuple[PageText, ...]:
        few, short = min(pages, MOST_TEXT_PAGES), min(lines, MOST_TEXT_LINES)
        return tuple(_text(digest) for digest in self._digest(crawl.id, few, short))

    def __call__(self, crawl: CrawlJob, *, pages: bool = False) -> CrawlChanges:
        """A crawl's changes. `pages` adds the changed pages' ids and versions, which can be compared word by word."""
        if crawl.change_summary is None and self._crawls.is_diffed(crawl.id):
            crawl = self._crawls.get_crawl(crawl.id)  # compared since it was read, perhaps
        if crawl.change_summary is None:
            never = crawl.status in (CrawlStatus.CANCELLED, CrawlStatus.FAILED)  # only completed ones are compared
            state = Compared.NOTHING if never or self._crawls.is_diffed(crawl.id) else Compared.NOT_YET
            return CrawlChanges(crawl_id=crawl.id, state=state, changed_pages=() if pages else None)
        found = CrawlChanges.model_validate({**crawl.change_summary, "state": Compared.YES})
        if not pages:
            return found
        return found.model_copy(update={"changed_pages": tuple(self._compared(crawl, found))})

    def _compared(self, crawl: CrawlJob, found: CrawlChanges) -> list[ChangedPage]:
        """Changed pages by URL. One that stood behind a wall is compared with what it was before the wall."""
        back = (crawl.change_summary or {}).get("further_back", {})
        key_of = keys_of(crawl)
        by_steps: dict[int, list[str]] = {}
        for url in found.changed_page_urls:
            if key := key_of(url):
                by_steps.setdefault(back.get(url, 0), []).append(key)
        if found.compared_to is None:
            return []
        pages = [
            page
            for further, keys in by_steps.items()
            for page in self._changed_pages(crawl.id, found.compared_to, keys, further)
        ]
        return sorted(pages, key=lambda page: page.url)


def _text(digest: PageDigest) -> PageText:
    lines = tuple(ChangedLine(removed=line.removed, added=line.added) for line in digest.lines)
    return PageText(url=digest.url, page_id=digest.page_id, lines=lines, more=digest.more, note=digest.note)
