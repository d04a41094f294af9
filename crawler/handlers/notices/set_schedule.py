"""Keeps a project's schedule: what was asked, its next run, and the entry that triggers it.

Times, zones and limits: `domain/notices/schedule.py`. Runs are started by `run_schedules.py`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from pydantic import ValidationError

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.hosts.egress import EgressRule, closed_words
from crawler.domain.ids import new_id
from crawler.domain.notices.channels import unmasked, why_refused
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.errors import EgressRefused, InvalidConfig, NotFound
from crawler.handlers.crawls.start_crawl import explain
from crawler.handlers.notices.ports import ScheduleFinder, ScheduleMirror

WhyUnusable = Callable[[Sequence[str]], Sequence[str | None]]
"""What is wrong with each of these Apprise URLs, as far as Apprise knows without sending anything."""


class ScheduleKeeper(ScheduleFinder, Protocol):
    def save(self, schedule: Schedule) -> Schedule: ...
    def enabled(self) -> list[Schedule]: ...
    def notification_urls(self, project_id: UUID) -> tuple[str, ...]: ...


class RebuildableEntries(ScheduleMirror, Protocol):
    def rebuild(self, schedules: Sequence[Schedule]) -> None: ...


class Reach(NamedTuple):
    """What may be told, as far as it can be known before anything is sent."""

    rule: Callable[[], EgressRule]
    """The rule of those who send."""
    why_unusable: WhyUnusable


class SetSchedule:
    def __init__(
        self,
        projects: ProjectReader,
        schedules: ScheduleKeeper,
        entries: RebuildableEntries,
        clock: Clock,
        reach: Reach,
    ) -> None:
        self._projects = projects
        self._schedules = schedules
        self._entries = entries
        self._clock = clock
        self._reach = reach

    def __call__(self, project_id: UUID, given: dict[str, Any]) -> Schedule:
        """What is not given stays as it was; a first schedule needs at least a frequency."""
        project = self._projects.get_project(project_id)
        before = self._find_readable(project_id)
        kept = before.config.model_dump(mode="json") if before else {}
        now = self._clock()
        if before is None and given.get("frequency") is None:
            raise InvalidConfig(
                "This project has no schedule yet: say how often it is crawled, with a frequency of hourly, daily, "
                "weekly, monthly or cron."
            )
        config = schedule_config({**kept, **given})
        if config.enabled and project.website_url is None:
            raise InvalidConfig(f"Project {project.name!r} has no website_url to crawl by a schedule; set one first.")
        if config.notification_webhook and config.notification_webhook != kept.get("notification_webhook"):
            self.check_webhook(config.notification_webhook)
        config = self._with_urls(project_id, config)
        identity = before.id if before else new_id(int(now.timestamp() * 1000))
        gone = None if before is None or "notification_webhook" in given else before.webhook_gone_at
        planned = Schedule(id=identity, project_id=project_id, config=config, webhook_gone_at=gone).planned(now)
        saved = self._schedules.save(planned)
        self._entries.mirror(saved)
        return saved

    def check_webhook(self, url: str) -> None:
        """Raises InvalidConfig if it may not be reached, as far as that can be known without asking for it."""
        check_webhook(self._reach.rule(), url, "notification_webhook")

    def get(self, project_id: UUID) -> Schedule:
        self._projects.get_project(project_id)
        found = self._schedules.find(project_id)
        if found is None:
            raise NotFound("This project has no schedule yet; set how often it is crawled, and who is told.")
        return found

    def _find_readable(self, project_id: UUID) -> Schedule | None:
        """One that makes no sense here can be replaced by a whole new one."""
        try:
            return self._schedules.find(project_id)
        except InvalidConfig:
            return None

    def rebuild_entries(self) -> int:
        """Redis may have forgotten all of them."""
        schedules = self._schedules.enabled()
        self._entries.rebuild(schedules)
        return len(schedules)

    def _with_urls(self, project_id: UUID, config: ScheduleConfig) -> ScheduleConfig:
        """The settings with the addresses themselves where masks of known ones were given."""
        if not config.notification_urls:
            return config
        known = self._schedules.notification_urls(project_id)
        urls = unmasked(config.notification_urls, known)
        self._check_urls([url for url in urls if url not in known])
        return config.model_copy(update={"notification_urls": urls})

    def _check_urls(self, urls: Sequence[str]) -> None:
        for url in urls:
            if why := why_refused(url, self._reach.rule()):
                raise InvalidConfig(f"notification_urls: {why}.")
        if why := next(filter(None, self._reach.why_unusable(urls) if urls else ()), None):
            raise InvalidConfig(f"notification_urls: {why}.")


def check_webhook(rule: EgressRule, url: str, name: str) -> None:
    """An address that is spelled out is judged now; names are when they are dialled."""
    try:
        is_closed = rule.is_closed(url)
    except EgressRefused as exc:
        raise InvalidConfig(f"{name}: {exc.message}") from exc
    if is_closed:
        raise InvalidConfig(f"{name}: {closed_words(url, rule)}.")


def schedule_config(given: dict[str, Any]) -> ScheduleConfig:
    try:
        return ScheduleConfig.model_validate(given)
    except ValidationError as exc:
        raise InvalidConfig(_sentence(exc)) from exc


def _sentence(exc: ValidationError) -> str:
    """What is wrong with the whole names no field."""
    words = explain(exc)
    if exc.errors()[0]["loc"]:
        return words
    words = words.partition(": ")[2]
    return words[:1].upper() + words[1:]
