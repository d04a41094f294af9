"""What a crawl found changed, for the API, the command line and the dashboard.

They are compared and counted by `diff_crawl.py`; their shape is in `domain/changes/summary.py`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.changes.page_digest import PageDigest
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
        is_diffed = crawl.change_summary is None and self._crawls.is_diffed(crawl.id)
        if is_diffed:
            crawl = self._crawls.get_crawl(crawl.id)  # compared since it was read, perhaps
        if crawl.change_summary is None:
            return CrawlChanges(
                crawl_id=crawl.id,
                state=_state(crawl, is_diffed=is_diffed),
                reason=crawl.comparison_failed,
                changed_pages=() if pages else None,
            )
        found = CrawlChanges.model_validate({**crawl.change_summary, "crawl_id": crawl.id, "state": Compared.YES})
        if not pages:
            return found
        return found.model_copy(update={"changed_pages": self._versions(crawl, found)})

    def _versions(self, crawl: CrawlJob, found: CrawlChanges) -> tuple[ChangedPage, ...]:
        """The changed pages, each with the versions that were compared: not with a wall that stood there in between."""
        if found.compared_to is None or not found.changed_page_urls:
            return ()
        back, key_of = (crawl.change_summary or {}).get("further_back", {}), keys_of(crawl)
        changed: list[ChangedPage] = []
        for further in sorted({0, *back.values()}):
            keys = [key for url in found.changed_page_urls if back.get(url, 0) == further and (key := key_of(url))]
            changed += self._changed_pages(crawl.id, found.compared_to, keys, further) if keys else ()
        return tuple(sorted(changed, key=lambda page: page.url))


def _state(crawl: CrawlJob, *, is_diffed: bool) -> Compared:
    """How it stands with a crawl that has no summary."""
    if crawl.comparison_failed:
        return Compared.FAILED
    never = crawl.status in (CrawlStatus.CANCELLED, CrawlStatus.FAILED)  # only completed ones are compared
    return Compared.NOTHING if never or is_diffed else Compared.NOT_YET


def _text(digest: PageDigest) -> PageText:
    lines = tuple(ChangedLine(removed=line.removed, added=line.added) for line in digest.lines)
    return PageText(
        url=digest.url,
        page_id=digest.page_id,
        lines=lines,
        more=digest.more,
        note=digest.note,
        also_at=digest.also_at,
    )
