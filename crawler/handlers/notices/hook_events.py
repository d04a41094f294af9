"""The events of a Firecrawl job or monitor in their order, made of the job's own rows each time they are asked for."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.checks import CheckedPage, check_summary
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.exports.firecrawl_documents import document
from crawler.domain.markdown.page_formats import Wanted
from crawler.domain.notices.hooks import MONITOR, Hook, HookEvent
from crawler.domain.pages.scraped import PageEnd, ScrapedVersion
from crawler.domain.reasons import Reason
from crawler.errors import CrawlerError
from crawler.handlers.crawls.scrape_pages import ShownPage, not_fetched

AT_ONCE = 20
MOST_FAILED = 1000
SETTLED = timedelta(seconds=5)
"""While a job goes on, pages of the last seconds are not told yet: another worker may commit one that came before."""


class JobPages(Protocol):
    def list_done(self, crawl_id: UUID, skip: int, limit: int, until: datetime | None = None) -> Sequence[PageEnd]: ...
    def count_done(self, crawl_id: UUID) -> int: ...
    def list_bad(
        self, crawl_id: UUID, limit: int, *, only_failed: bool = False
    ) -> Sequence[tuple[PageEnd, datetime | None]]: ...


class Shows(Protocol):
    def wanted(self, crawl_id: UUID) -> Wanted | None: ...
    def version(self, crawl: CrawlJob, end: PageEnd) -> ScrapedVersion: ...
    def show(self, version: ScrapedVersion, wanted: Wanted) -> ShownPage: ...


class Sources(NamedTuple):
    pages: JobPages
    scrape: Shows
    track: Callable[[CrawlJob, ScrapedVersion, Sequence[str]], dict[str, Any]]
    checked: Callable[[CrawlJob], Sequence[CheckedPage]]
    diff: Callable[[CrawlJob, CheckedPage], dict[str, Any] | None]
    clock: Clock


class HookEvents:
    def __init__(self, sources: Sources) -> None:
        self._from = sources

    def __call__(self, crawl: CrawlJob, hook: Hook, told: int) -> Iterator[HookEvent]:
        return self._check(crawl, told) if hook.kind == MONITOR else self._job(crawl, hook, told)

    def _job(self, crawl: CrawlJob, hook: Hook, told: int) -> Iterator[HookEvent]:
        if told == 0:
            yield HookEvent(f"{hook.kind}.started", [])
        reached = max(0, told - 1)
        is_over = crawl.status.is_over
        until = None if is_over else self._from.clock() - SETTLED
        while ends := self._from.pages.list_done(crawl.id, reached, AT_ONCE, until):
            for end in ends:
                yield self._page(crawl, hook, end)
            reached += len(ends)
        if is_over:
            yield from self._rest(crawl, hook, max(0, told - 1 - self._from.pages.count_done(crawl.id)))

    def _rest(self, crawl: CrawlJob, hook: Hook, skip: int) -> Iterator[HookEvent]:
        """What failed, then the end."""
        bad = [
            HookEvent(f"{hook.kind}.page", [], not_fetched(end).message)
            for end, _ in self._from.pages.list_bad(crawl.id, MOST_FAILED)
            if end.reason != Reason.ROBOTS
        ]
        yield from [*bad, _end(crawl, hook)][skip:]

    def _page(self, crawl: CrawlJob, hook: Hook, end: PageEnd) -> HookEvent:
        scrape, kind = self._from.scrape, f"{hook.kind}.page"
        if not hook.wants(kind):
            return HookEvent(kind, [])  # nobody will see it
        try:
            version = scrape.version(crawl, end)
            wanted = scrape.wanted(crawl.id) or Wanted()
            told = document(*scrape.show(version, wanted), end.url, wanted)
            if hook.modes is not None:
                told["changeTracking"] = self._from.track(crawl, version, hook.modes)
        except CrawlerError as exc:
            return HookEvent(kind, [{"metadata": {"sourceURL": end.url, "url": end.url}}], exc.message)
        return HookEvent(kind, [told])

    def _check(self, crawl: CrawlJob, told: int) -> Iterator[HookEvent]:
        ids = {"monitorId": str(crawl.project_id), "checkId": str(crawl.id)}
        pages = self._from.checked(crawl)
        for page in pages[told:]:
            shown = {"url": page.url, "status": page.status, "error": page.error, "statusCode": page.http_status}
            scrapes = {"previousScrapeId": page.before, "currentScrapeId": page.version}
            more = {"isMeaningful": None, "judgment": None, "diff": self._from.diff(crawl, page)}
            yield HookEvent("monitor.page", [{**ids, **shown, **scrapes, **more}], page.error)
        if told <= len(pages):
            status = "completed" if crawl.status is CrawlStatus.COMPLETED else "failed"
            summary = check_summary(pages)
            wrong = crawl.error_message or ("Some pages could not be fetched." if summary["error"] else None)
            yield HookEvent("monitor.check.completed", [{**ids, "status": status, "summary": summary}], wrong)


def _end(crawl: CrawlJob, hook: Hook) -> HookEvent:
    if crawl.status is CrawlStatus.CANCELLED:
        return HookEvent(f"{hook.kind}.cancelled", [], "The job was cancelled.")
    if crawl.status is CrawlStatus.FAILED:
        return HookEvent(f"{hook.kind}.failed", [], crawl.error_message or "The job failed.")
    return HookEvent(f"{hook.kind}.completed", [])
