"""Crawl a project because somebody asks, and tell whoever is told of its scheduled crawls.

A change is found once. Were it found by a crawl that tells nobody, nobody would ever be told of it.
"""

from typing import Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.handlers.notices.find_audience import FindAudience


class Start(Protocol):
    def __call__(self, project_id: UUID, /, *, seed_url: str | None = ..., crawl_type: CrawlType = ...) -> CrawlJob: ...


class FullCrawls(Protocol):
    def has_full_crawl(self, project_id: UUID) -> bool: ...


class CrawlNow:
    def __init__(self, start: Start, crawls: FullCrawls, has_audience: FindAudience) -> None:
        self._start = start
        self._crawls = crawls
        self._has_audience = has_audience

    def __call__(self, project_id: UUID, *, seed_url: str | None = None, quietly: bool = False) -> CrawlJob:
        """`quietly`: as a crawl by hand, of which nobody is told. The first crawl has nothing to tell."""
        is_told = not quietly and not seed_url and self.tells(project_id) and self._crawls.has_full_crawl(project_id)
        kind = CrawlType.SCHEDULED if is_told else CrawlType.MANUAL
        return self._start(project_id, seed_url=seed_url, crawl_type=kind)

    def tells(self, project_id: UUID) -> bool:
        return self._has_audience(project_id)
