"""Why a crawl's changes were told to somebody, or to nobody.

What decides: `should_notify` in `domain/notices/notice.py`, and `domain/changes/significance.py`.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.changes.advice import none_matters
from crawler.domain.changes.coverage import is_failing
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.notices.notice import NOT_ARRIVED, Delivery, is_asked_for, should_notify
from crawler.domain.notices.schedule import NotifyOn, Schedule
from crawler.handlers.notices.find_audience import FindAudience
from crawler.handlers.notices.ports import ScheduleFinder, SentNotices

DECIDING = timedelta(minutes=3)
"""After a crawl is compared its notices are sent. What was not sent by then waits for somebody who can."""


class NoticeExplanation(NamedTuple):
    told: tuple[tuple[str, str], ...]
    """The channels that were used, and what became of each notice."""
    why: str
    is_coming: bool = False
    """It is being decided or sent just now: worth another look in a moment."""


class NoticeRecord(SentNotices, Protocol):
    def is_told(self, crawl_id: UUID) -> bool: ...


class ExplainNotice:
    def __init__(
        self,
        projects: ProjectReader,
        schedules: ScheduleFinder,
        has_audience: FindAudience,
        notifications: NoticeRecord,
        clock: Clock,
    ) -> None:
        self._projects = projects
        self._schedules = schedules
        self._has_audience = has_audience
        self._notifications = notifications
        self._clock = clock

    def __call__(self, crawl: CrawlJob) -> NoticeExplanation:
        told = tuple(self._notifications.sent_for([crawl.id]).get(crawl.id, ()))
        if told:
            statuses = [status for _, status in told]
            return NoticeExplanation(told, _what_came(statuses), Delivery.SENDING in statuses)
        now, project = self._clock(), self._projects.get_project(crawl.project_id)
        why = why_not_notified(
            crawl,
            self._schedules.find(crawl.project_id),
            project.muted_until if project.is_muted(now) else None,
            has_audience=self._has_audience(crawl.project_id),
            is_decided=self._notifications.is_told(crawl.id),
        )
        is_recent = crawl.completed_at is not None and now - crawl.completed_at < DECIDING
        return NoticeExplanation((), why, why == COMING and is_recent)


def _what_came(statuses: Sequence[str]) -> str:
    if Delivery.SENDING in statuses:
        return "Its changes are being sent."
    if all(status == Delivery.HELD for status in statuses):
        return "Its changes are told when the time of those who are told has come."
    if all(status in NOT_ARRIVED for status in statuses):
        return "Its changes were to be told, but nothing arrived; nothing is sent again by itself."
    if any(status in NOT_ARRIVED for status in statuses):
        return "Its changes were told, but not by every channel."
    return "Its changes were told."


def _why_never(crawl: CrawlJob) -> str | None:
    """What holds whatever the schedule says."""
    if crawl.crawl_type is not CrawlType.SCHEDULED and not is_asked_for(crawl):
        return "Manual crawls don't send notifications."
    if crawl.comparison_failed:
        return f"It could not be compared, so the run counts as failed. {crawl.comparison_failed}"
    if crawl.change_summary is None:
        return "There was nothing to compare it with, so there was nothing to tell."
    return None


def why_not_notified(
    crawl: CrawlJob,
    schedule: Schedule | None,
    muted_until: datetime | None,
    *,
    has_audience: bool,
    is_decided: bool = False,
) -> str:
    """Why nobody was told of a crawl, by the schedule as it is now: what it was then is not kept."""
    if why := _why_never(crawl):
        return why
    if muted_until is not None:
        return f"Muted until {muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC, so nobody is told."
    return _why_by_schedule(crawl, schedule, has_audience=has_audience, is_decided=is_decided)


def _why_by_schedule(crawl: CrawlJob, schedule: Schedule | None, *, has_audience: bool, is_decided: bool) -> str:
    if schedule is None:
        return "The project has no schedule any more, so nobody is to be told."
    if not has_audience:
        named = "tells nobody of changes" if not schedule.config.notify_on_changes else "names nobody to tell"
        return f"The schedule {named}."
    if is_failing(crawl.change_summary) and schedule.config.notify_after_failures:
        runs = schedule.config.notify_after_failures
        return (
            f"Too few pages could be compared, so the run counts as failed: told after {runs} of them in a row, once."
        )
    if schedule.config.advice and schedule.config.advice.may_silence and none_matters(crawl.change_summary or {}):
        return "The model that is asked says that none of the changes matters, and may silence them."
    if should_notify(schedule.config, crawl.change_summary) or is_asked_for(crawl):
        return _MUTED_THEN if is_decided else COMING
    return _QUIET.get(schedule.config.notify_on, "Nothing changed, and the schedule tells of changes only.")


COMING = "It is to be told, and was not sent yet."
_MUTED_THEN = "Nobody was told: it was muted when it was compared, or the schedule was another one then."
_QUIET = {
    NotifyOn.CONDITIONS: "The schedule tells only what conditions and watch rules ask for, and none of them held.",
    NotifyOn.SIGNIFICANT: "The schedule tells of significant changes only, and these are not.",
}
