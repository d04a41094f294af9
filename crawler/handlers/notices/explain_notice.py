"""Why a crawl's changes were told to somebody, or to nobody.

What decides: `should_notify` in `domain/notices/notice.py`, and `domain/changes/significance.py`.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from crawler.domain.changes.advice import none_matters
from crawler.domain.changes.coverage import is_failing
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.notices.notice import NOT_ARRIVED, Delivery, should_notify, targets
from crawler.domain.notices.schedule import NotifyOn, Schedule
from crawler.handlers.notices.ports import ScheduleFinder, SentNotices


class NoticeExplanation(NamedTuple):
    told: tuple[tuple[str, str], ...]
    """The channels that were used, and what became of each notice."""
    why: str


class ExplainNotice:
    def __init__(
        self, schedules: ScheduleFinder, notifications: SentNotices, muted_until: Callable[[UUID], datetime | None]
    ) -> None:
        self._schedules = schedules
        self._notifications = notifications
        self._muted_until = muted_until

    def __call__(self, crawl: CrawlJob) -> NoticeExplanation:
        told = tuple(self._notifications.sent_for([crawl.id]).get(crawl.id, ()))
        if told:
            return NoticeExplanation(told, _what_came([status for _, status in told]))
        return NoticeExplanation(
            (), why_not_notified(crawl, self._schedules.find(crawl.project_id), self._muted_until(crawl.project_id))
        )


TO_COME = "Nothing was sent yet. By the schedule as it is now, it is to be told."


def _what_came(statuses: Sequence[str]) -> str:
    if all(status == Delivery.HELD for status in statuses):
        return "Its changes are told when the time of those who are told has come."
    if all(status in NOT_ARRIVED for status in statuses):
        return "Its changes were to be told, but nothing arrived; nothing is sent again by itself."
    if any(status in NOT_ARRIVED for status in statuses):
        return "Its changes were told, but not by every channel."
    return "Its changes were told."


def why_not_notified(crawl: CrawlJob, schedule: Schedule | None, muted_until: datetime | None = None) -> str:
    """Why nobody was told of a crawl, by the schedule as it is now: what it was then is not kept."""
    if crawl.crawl_type is not CrawlType.SCHEDULED:
        return "Manual crawls don't send notifications."
    if crawl.comparison_failed:
        return f"It could not be compared, so the run counts as failed. {crawl.comparison_failed}"
    if crawl.change_summary is None:
        return "There was nothing to compare it with, so there was nothing to tell."
    if muted_until is not None:
        return f"The project is muted until {muted_until.astimezone(UTC):%Y-%m-%d %H:%M} UTC."
    return _of_the_schedule(crawl, schedule)


def _of_the_schedule(crawl: CrawlJob, schedule: Schedule | None) -> str:
    if schedule is None:
        return "The project has no schedule any more, so nobody is to be told."
    if not schedule.config.notify_on_changes:
        return "The schedule tells nobody of changes."
    if not targets(schedule):
        return "The schedule names nobody to tell: no address, no webhook."
    if is_failing(crawl.change_summary) and schedule.config.notify_after_failures:
        runs = schedule.config.notify_after_failures
        return (
            f"Too few pages could be compared, so the run counts as failed: told after {runs} of them in a row, once."
        )
    if schedule.config.advice and schedule.config.advice.may_silence and none_matters(crawl.change_summary or {}):
        return "The model that is asked says that none of the changes matters, and may silence them."
    if should_notify(schedule.config, crawl.change_summary):
        return TO_COME
    return _QUIET.get(schedule.config.notify_on, "Nothing changed, and the schedule tells of changes only.")


_QUIET = {
    NotifyOn.CONDITIONS: "The schedule tells only what conditions and watch rules ask for, and none of them held.",
    NotifyOn.SIGNIFICANT: "The schedule tells of significant changes only, and these are not.",
}
