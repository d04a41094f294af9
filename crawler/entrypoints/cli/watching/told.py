"""Whether somebody was told of a crawl, for the end of `crawler crawl watch` and of `crawler changes`."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.notices.notice import Delivery, Notification, targets
from crawler.domain.notices.schedule import Schedule, ScheduleConfig
from crawler.entrypoints.cli.backend.service_errors import told_as_ours
from crawler.entrypoints.cli.screen.next_step import command_line
from crawler.entrypoints.cli.screen.terminal import clean, console, moment
from crawler.errors import CrawlerError, NotFound
from crawler.handlers.notices.explain_notice import COMING, why_not_notified

if TYPE_CHECKING:
    from crawler.domain.crawls.project import Project
    from crawler.entrypoints.cli.backend.backend import Backend

PATIENCE_SECONDS = 10.0
"""A notice is sent after the comparison, by another worker."""
LOOK_SECONDS = 0.5
LOOKED_AT = 50
"""The newest notifications of the project, among which the crawl's are looked for."""


class Told(NamedTuple):
    project: str
    sent: list[Notification]
    why: str
    """Why nobody was told, where nobody was."""


def whom_told(backend: "Backend", crawl: CrawlJob, *, patience: float = 0.0) -> Told | None:
    """Who was told of a crawl, or why nobody was. Of a project without a schedule there is nothing to say."""
    if not crawl.status.is_over:
        return None
    try:
        with told_as_ours():
            project, schedule = backend.get_project(crawl.project_id), _schedule(backend, crawl)
            if schedule is None:
                return None
            why = why_not_notified(
                crawl, schedule, _muted_until(project), has_audience=_has_audience(backend, schedule)
            )
            return Told(project.name, _sent(backend, crawl, patience if why == COMING else 0.0), why)
    except CrawlerError:  # the crawl's own result is printed and stays true
        return None


def tell_whom(told: Told | None) -> None:
    if told is None:
        return
    for words in told_lines(told.sent, told.why):
        console().print(clean(words), style="dim", soft_wrap=True)
    if told.sent:
        listed = command_line("notification", "list", told.project)
        console().print(clean(f"'{listed}' shows what was sent."), style="dim", soft_wrap=True)


def told_lines(sent: list[Notification], why: str) -> Iterator[str]:
    for one in sent:
        if one.status == Delivery.SENT:
            yield f"Told {one.target}."
        elif one.status == Delivery.HELD and one.deliver_at:
            yield f"{one.target} will be told at {moment(one.deliver_at)}."
        elif one.status == Delivery.SENDING:
            yield f"{one.target} is being told."
        else:
            yield f"Not told: {one.target} ({(one.answer or one.status).rstrip('.')})."
    if not sent:
        yield f"Nobody was told. {why}"


def _sent(backend: "Backend", crawl: CrawlJob, patience: float) -> list[Notification]:
    until = time.monotonic() + patience
    while True:
        newest = backend.list_notifications(LOOKED_AT, crawl.project_id)
        found = [one for one in newest if one.crawl_id == crawl.id]
        is_done = found and all(one.status != Delivery.SENDING for one in found)
        if is_done or time.monotonic() >= until:
            return found
        time.sleep(LOOK_SECONDS)


def _schedule(backend: "Backend", crawl: CrawlJob) -> Schedule | None:
    try:
        with told_as_ours():
            found = backend.get_schedule(crawl.project_id)
    except NotFound:
        return None
    config = ScheduleConfig.model_validate(found.model_dump(include=set(ScheduleConfig.model_fields)))
    gone = found.webhook_gone_at
    return Schedule(id=found.project_id, project_id=found.project_id, config=config, webhook_gone_at=gone)


def _has_audience(backend: "Backend", schedule: Schedule) -> bool:
    is_named = schedule.config.notify_on_changes and bool(targets(schedule))
    return is_named or any(one.enabled for one in backend.recipients.list(schedule.project_id))


def _muted_until(project: "Project") -> datetime | None:
    return project.muted_until if project.is_muted(datetime.now(UTC)) else None
