"""Why a crawl's changes were told to somebody, or to nobody."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.notices.notice import NOT_ARRIVED, is_news, targets
from crawler.domain.notices.schedule import NotifyOn, Schedule


class Schedules(Protocol):
    def find(self, project_id: UUID) -> Schedule | None: ...


class Told(Protocol):
    def told_of(self, crawl_ids: Sequence[UUID]) -> Mapping[UUID, Sequence[tuple[str, str]]]: ...


class Notice(NamedTuple):
    told: tuple[tuple[str, str], ...]
    """By which channels, and what became of each."""
    why: str


class ExplainNotice:
    def __init__(self, schedules: Schedules, notifications: Told) -> None:
        self._schedules = schedules
        self._notifications = notifications

    def __call__(self, crawl: CrawlJob) -> Notice:
        told = tuple(self._notifications.told_of([crawl.id]).get(crawl.id, ()))
        if told:
            return Notice(told, _what_came([status for _, status in told]))
        return Notice((), why_silent(crawl, self._schedules.find(crawl.project_id)))


def _what_came(statuses: Sequence[str]) -> str:
    if all(status in NOT_ARRIVED for status in statuses):
        return "Its changes were to be told, but nothing arrived; nothing is sent again by itself."
    if any(status in NOT_ARRIVED for status in statuses):
        return "Its changes were told, but not by every channel."
    return "Its changes were told."


def why_silent(crawl: CrawlJob, schedule: Schedule | None) -> str:
    """By the schedule as it is now: what it was then is not kept."""
    if crawl.crawl_type is not CrawlType.SCHEDULED:
        return "Only crawls of a schedule are told of; whoever starts one by hand looks at it here."
    if crawl.change_summary is None:
        return "There was nothing to compare it with, so there was nothing to tell."
    if schedule is None:
        return "The project has no schedule any more, so nobody is to be told."
    if not schedule.config.notify_on_changes:
        return "The schedule tells nobody of changes."
    if not targets(schedule):
        return "The schedule names nobody to tell: no address, no webhook."
    if is_news(schedule.config, crawl.change_summary):
        return "Nothing was sent yet. By the schedule as it is now, it is to be told."
    if schedule.config.notify_on is NotifyOn.SIGNIFICANT:
        return "The schedule tells of significant changes only, and these are not."
    return "Nothing changed, and the schedule tells of changes only."
