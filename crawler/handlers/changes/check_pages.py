"""Pages of a crawl as a monitor's check tells them: same, new, changed, removed or error; changed ones with a diff.

And what `changeTracking` says of one page. What counts as a change: `diff_crawl.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.changes.checks import CHANGED, ERROR, NEW, ORDER, REMOVED, SAME, CheckedPage
from crawler.domain.changes.summary import CrawlChanges
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.exports.firecrawl_documents import change_tracking, parsed_diff
from crawler.domain.pages.scraped import PageEnd, ScrapedVersion
from crawler.errors import Invalid, NotFound
from crawler.handlers.changes.compare_versions import CompareVersions
from crawler.handlers.crawls.scrape_pages import not_fetched

MOST_PAGES = 10_000
GIT_DIFF = "git-diff"


class Describes(Protocol):
    def __call__(self, crawl: CrawlJob, *, pages: bool = False) -> CrawlChanges: ...


class CrawlPages(Protocol):
    def list_done(self, crawl_id: UUID, skip: int, limit: int) -> Sequence[PageEnd]: ...
    def list_bad(
        self, crawl_id: UUID, limit: int, *, only_failed: bool = False
    ) -> Sequence[tuple[PageEnd, datetime | None]]: ...
    def find_before(self, version_id: UUID) -> ScrapedVersion | None: ...


class CheckPages:
    def __init__(self, describe: Describes, pages: CrawlPages, compare: CompareVersions) -> None:
        self._describe = describe
        self._pages = pages
        self._compare = compare

    def __call__(self, crawl: CrawlJob) -> list[CheckedPage]:
        """What is told first, then what stayed the same. Of a first check all pages are new."""
        changes = self._describe(crawl, pages=True)
        kinds = dict.fromkeys(changes.new_page_urls, NEW) | dict.fromkeys(changes.changed_page_urls, CHANGED)
        other = SAME if changes.summary is not None else NEW
        versions = {
            page.url: (str(page.from_version), str(page.to_version), page.page_id)
            for page in changes.changed_pages or ()
        }
        told = []
        for end in self._pages.list_done(crawl.id, 0, MOST_PAGES):
            both = versions.get(end.url, (None, str(end.version_id), None))
            told.append(CheckedPage(end.url, kinds.get(end.url, other), end.http_status, None, *both))
        gone = set(changes.removed_page_urls)
        told += [CheckedPage(url, REMOVED) for url in gone]
        bad = self._pages.list_bad(crawl.id, MOST_PAGES, only_failed=True)
        told += [
            CheckedPage(end.url, ERROR, end.http_status, not_fetched(end).message)
            for end, _ in bad
            if end.url not in gone
        ]
        return sorted(told, key=lambda page: (ORDER.index(page.status), page.url))

    def diff(self, crawl: CrawlJob, page: CheckedPage) -> dict[str, Any] | None:
        """What changed on the page; None if nothing did, or if it cannot be shown any more."""
        if page.page_id is None or page.before is None or page.version is None:
            return None
        return self._diff(crawl.project_id, page.page_id, UUID(page.before), UUID(page.version))

    def track(self, crawl_id: UUID | None, project_id: UUID, version: ScrapedVersion, modes: Sequence[str]) -> Any:
        """How the page stands to what was stored of it before the crawl that fetched it now."""
        is_new = crawl_id is not None and version.crawl_id == crawl_id
        before = self._pages.find_before(version.version_id) if is_new else None
        diff = None
        if before is not None and GIT_DIFF in modes:
            diff = self._diff(project_id, version.page_id, before.version_id, version.version_id)
        return change_tracking(before, version, is_new_version=is_new, diff=diff)

    def _diff(self, project_id: UUID, page_id: UUID, before: UUID, after: UUID) -> dict[str, Any] | None:
        try:
            unified = self._compare(project_id, page_id, before, after).diff.unified
        except (Invalid, NotFound):  # too large to be compared, or no longer kept
            return None
        return {"text": unified, "json": parsed_diff(unified)}
