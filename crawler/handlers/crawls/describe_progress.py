"""Progress of a project's latest crawl, as its phase status. Batches of the acquisition queue do not count.

The percentage is computed by `progress` in `domain/crawls/progress.py`.
"""

from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import CrawlStats
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.crawls.progress import progress


class ProjectCrawls(ProjectReader, Protocol):
    def find_latest_crawl(self, project_id: UUID) -> CrawlJob | None: ...


class LiveStats(Protocol):
    def stats(self, crawl_id: UUID) -> CrawlStats | None: ...


class Shown(Protocol):
    def highest(self, crawl_id: UUID, percentage: float) -> float: ...


class PhaseStatus(NamedTuple):
    status: str
    crawl_id: UUID | None
    progress: float
    pages_crawled: int
    estimated_total: int
    paused: bool
    error_message: str | None
    stats: dict[str, Any]


class DescribeProgress:
    def __init__(self, store: ProjectCrawls, frontier: LiveStats, shown: Shown) -> None:
        self._store = store
        self._frontier = frontier
        self._shown = shown

    def of_project(self, project_id: UUID) -> PhaseStatus:
        project = self._store.get_project(project_id)
        latest = self._store.find_latest_crawl(project_id)
        if latest is None:
            return PhaseStatus(
                status="pending",
                crawl_id=None,
                progress=0.0,
                pages_crawled=0,
                estimated_total=project.settings.max_pages,
                paused=False,
                error_message=None,
                stats={},
            )
        return self.of_crawl(latest)

    def of_crawl(self, crawl: CrawlJob) -> PhaseStatus:
        waiting = None if crawl.status.is_over else self._frontier.stats(crawl.id)
        queued, leased = (waiting.queued, waiting.leased) if waiting else (0, 0)
        share, total = progress(
            max_pages=crawl.config.max_pages,
            pages_crawled=crawl.pages_crawled,
            queued=min(queued, crawl.urls_left),
            leased=min(leased, crawl.urls_left),
            homepage_done=crawl.pages_crawled > 0 or crawl.status.is_over,
            completed=crawl.status is CrawlStatus.COMPLETED,
        )
        return PhaseStatus(
            status=crawl.status.value,
            crawl_id=crawl.id,
            progress=share if crawl.status is CrawlStatus.COMPLETED else self._shown.highest(crawl.id, share),
            pages_crawled=crawl.pages_crawled,
            estimated_total=total,
            paused=crawl.paused,
            error_message=crawl.error_message,
            stats=_stats(crawl, queued, leased),
        )


def _stats(crawl: CrawlJob, queued: int, leased: int) -> dict[str, Any]:
    return {
        "total_discovered": crawl.total_discovered,
        "pages_failed": crawl.pages_failed,
        "pages_skipped": crawl.pages_skipped,
        "lightweight": crawl.lightweight,
        "rendered": crawl.rendered,
        "queued": queued,
        "under_way": leased,
        **crawl.stats,
    }
