"""What a crawl found changed, for every door."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from crawler.domain.crawl_changes import ChangedPage, Compared, CrawlChanges
from crawler.domain.crawls import CrawlJob


class Crawls(Protocol):
    def is_diffed(self, crawl_id: UUID) -> bool: ...


class Reader(Protocol):
    def __call__(self, crawl_id: UUID, compared_to: UUID, urls: Sequence[str], /) -> tuple[ChangedPage, ...]: ...


class DescribeChanges:
    def __init__(self, crawls: Crawls, changed_pages: Reader) -> None:
        self._crawls = crawls
        self._changed_pages = changed_pages

    def __call__(self, crawl: CrawlJob, *, pages: bool = False) -> CrawlChanges:
        """With `pages`, the changed pages' ids and versions: those can be compared word by word."""
        if crawl.change_summary is None:
            state = Compared.NOTHING if self._crawls.is_diffed(crawl.id) else Compared.NOT_YET
            return CrawlChanges(crawl_id=crawl.id, state=state, changed_pages=() if pages else None)
        found = CrawlChanges.model_validate({**crawl.change_summary, "state": Compared.YES})
        if not pages:
            return found
        changed: tuple[ChangedPage, ...] = ()
        if found.compared_to is not None and found.changed_page_urls:
            changed = self._changed_pages(crawl.id, found.compared_to, found.changed_page_urls)
        return found.model_copy(update={"changed_pages": changed})
