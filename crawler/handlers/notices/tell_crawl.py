"""Tell what a crawl found because somebody asks: one that was started by hand, or was not worth a notice.

Sent by `NotifyCrawl` in `notify_crawl.py`: by the workers where there are any, since their settings count.
"""

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import CrawlReader, ProjectReader
from crawler.domain.notices.notice import Notifiers, has_changes
from crawler.errors import Conflict
from crawler.handlers.notices.find_audience import FindAudience
from crawler.handlers.notices.ports import SentNotices


class Crawls(CrawlReader, ProjectReader, Protocol): ...


class Asked(SentNotices, Protocol):
    def ask_for(self, crawl_id: UUID) -> None: ...


class TellCrawl:
    def __init__(
        self,
        crawls: Crawls,
        kept: Asked,
        has_audience: FindAudience,
        notify: Callable[[UUID], int],
        notifiers: Callable[[], Notifiers],
        hint: Callable[[UUID], None],
        clock: Clock,
    ) -> None:
        self._crawls = crawls
        self._kept = kept
        self._has_audience = has_audience
        self._notify = notify
        self._notifiers = notifiers
        self._hint = hint
        self._clock = clock

    def __call__(self, crawl_id: UUID) -> None:
        """Raises Conflict where there is nothing to tell, or nobody to tell it to."""
        if why := self.why_not(crawl_id):
            raise Conflict(why)
        self._kept.ask_for(crawl_id)
        if self._notifiers().workers:
            self._hint(crawl_id)
        else:
            self._notify(crawl_id)

    def why_not(self, crawl_id: UUID) -> str | None:
        crawl = self._crawls.get_crawl(crawl_id)
        if crawl.change_summary is None or not has_changes(crawl.change_summary):
            return "This crawl found no changes, so there is nothing to send."
        if self._kept.sent_for([crawl_id]):
            return "Its changes were sent already; the notification itself can be sent again."
        if self._crawls.get_project(crawl.project_id).is_muted(self._clock()):
            return "The project is muted. Unmute it first."
        if not self._has_audience(crawl.project_id):
            return "Nobody is named who would be told."
        return None
