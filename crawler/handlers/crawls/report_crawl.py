"""Report of a crawl: what it found wrong with the site, and which findings are new. For terminal and API.

What counts as a finding: `adapters/reports/queries.py`. Limits (slow, large) and words: `domain/exports/reports.py`.
"""

from collections.abc import Callable, Generator, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.baseline import choose_baseline
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.ports import CrawlReader
from crawler.domain.exports.reports import (
    HEADINGS,
    Finding,
    FindingKind,
    KindReport,
    Report,
    ReportHead,
    ReportLimits,
    summed,
)
from crawler.domain.urls.url import QueryRule, Url, normalize, read
from crawler.errors import Conflict

log = telemetry.logger(__name__)

FIRST = 5
"""Findings of each kind that a summary shows."""


class ReportedCrawls(CrawlReader, Protocol):
    def earlier_crawls(self, crawl: CrawlJob, limit: int = 50) -> list[CrawlJob]: ...


class Builder(Protocol):
    def __call__(
        self,
        crawl: CrawlJob,
        baseline: ReportHead | None,
        key_of: Callable[[str], str | None],
        limits: ReportLimits,
        /,
    ) -> None: ...


class FindingReader(Protocol):
    def find(self, crawl_id: UUID) -> ReportHead | None: ...
    def page(
        self, crawl_id: UUID, kind: FindingKind, *, new_only: bool = False, after: int = 0, limit: int = 100
    ) -> list[Finding]: ...
    def stream(self, crawl_id: UUID, kinds: Sequence[FindingKind], *, new_only: bool = False) -> Generator[Finding]: ...


class FindingPage(NamedTuple):
    items: list[Finding]
    next_after: int | None
    """The position where the next page begins; None when this is the last."""


class ReportCrawl:
    """Makes and reads reports. A report is made once, after its crawl: later crawls change the pages it is about."""

    def __init__(
        self, crawls: ReportedCrawls, build: Builder, reader: FindingReader, limits: ReportLimits | None = None
    ) -> None:
        self._crawls = crawls
        self._build = build
        self._reader = reader
        self._limits = limits or ReportLimits()

    def __call__(
        self,
        crawl_id: UUID,
        *,
        kinds: Sequence[FindingKind] = tuple(FindingKind),
        new_only: bool = False,
        first: int = FIRST,
    ) -> Report:
        """Number of findings of each kind, and the first few."""
        head = self.ensure(crawl_id)
        return summed(head, [self._kind(head, kind, new_only=new_only, first=first) for kind in kinds])

    def page(
        self, crawl_id: UUID, kind: FindingKind, *, new_only: bool = False, after: int = 0, limit: int = 100
    ) -> FindingPage:
        """A page of findings of one kind, after position `after`."""
        self.ensure(crawl_id)
        found = self._reader.page(crawl_id, kind, new_only=new_only, after=after, limit=limit + 1)
        more = len(found) > limit
        return FindingPage(found[:limit], found[limit - 1].position if more else None)

    def findings(
        self, crawl_id: UUID, kinds: Sequence[FindingKind] = tuple(FindingKind), *, new_only: bool = False
    ) -> Generator[Finding]:
        """All findings, streamed. Invalid arguments raise at the call, not at the first finding."""
        self.ensure(crawl_id)
        return self._reader.stream(crawl_id, kinds, new_only=new_only)

    def ensure(self, crawl_id: UUID) -> ReportHead:
        """The report's head; the report is made if there is none yet. Safe to repeat."""
        crawl = self._crawls.get_crawl(crawl_id)
        if not crawl.status.is_over:
            raise Conflict(f"Crawl {crawl_id} is {crawl.status}; its report is made when it is over.")
        return self._reader.find(crawl_id) or self._make(crawl, self._baseline(crawl))

    def _baseline(self, crawl: CrawlJob) -> ReportHead | None:
        """Report of the crawl this one is compared with. It is made if missing, but without a baseline of its own."""
        if crawl.status is not CrawlStatus.COMPLETED:
            return None
        earlier = choose_baseline(self._crawls.earlier_crawls(crawl), crawl)
        if earlier is None:
            return None
        head = self._reader.find(earlier.id)
        if head is not None:
            return head
        try:
            return self._make(earlier, None)
        except Conflict:  # its URLs were deleted
            return None

    def _make(self, crawl: CrawlJob, baseline: ReportHead | None) -> ReportHead:
        self._build(crawl, baseline, keys_of(crawl), self._limits)
        head = self._reader.find(crawl.id)
        assert head is not None  # it was just written
        log.info("crawl_reported", crawl_id=str(crawl.id), found=sum(count.found for count in head.counts.values()))
        return head

    def _kind(self, head: ReportHead, kind: FindingKind, *, new_only: bool, first: int) -> KindReport:
        counted = head.counts[kind]
        few = counted.found and first
        return KindReport(
            kind=kind,
            heading=HEADINGS[kind],
            found=counted.found,
            new=counted.new,
            note=head.notes.get(kind),
            first=tuple(self._reader.page(head.crawl_id, kind, new_only=new_only, limit=first)) if few else (),
        )


def keys_of(crawl: CrawlJob) -> Callable[[str], str | None]:
    """A function that gives a URL's key by the crawl's own rules; None for what is no URL."""
    rule = QueryRule.of(crawl.config)

    def key(href: str) -> str | None:
        url = read(href)
        return normalize(url, rule) if isinstance(url, Url) else None

    return key
