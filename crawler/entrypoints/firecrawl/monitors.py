"""`/v2/monitor`: a monitor is a project with a schedule, a check is a crawl of it, its pages are the comparison's.

Decided in `handlers/notices/set_schedule.py` and `handlers/changes`.
"""

import re
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from crawler.bootstrap import App
from crawler.domain import judging
from crawler.domain.api_keys import ApiKey
from crawler.domain.changes.checks import CHANGED, CheckedPage
from crawler.domain.changes.summary import CrawlChanges
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import page_id
from crawler.domain.notices.hooks import MONITOR, Hook
from crawler.domain.notices.schedule import Schedule
from crawler.entrypoints.firecrawl.answers import as_json
from crawler.entrypoints.firecrawl.bodies import MonitorChange, MonitorSchedule, NewMonitor
from crawler.entrypoints.firecrawl.targets import TargetIndex, crawl_of, recrawl_of, shown_targets
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shown_addresses import shown_webhook
from crawler.errors import Forbidden, Invalid, NotFound
from crawler.handlers.changes.check_pages import CheckPages

router = APIRouter()

MOST_DIFFS = 25
"""Changed pages of one answer that are shown with their diff: each is read by a judge."""
DIFF_SECONDS = 15.0
MOST_DIFF_CHARS = 2_000_000
"""Of all of them together; further ones are shown without."""
RETENTION_DAYS = 365
_EVERY = re.compile(r"every (?:(\d+) )?(minute|hour|day)s?", re.IGNORECASE).fullmatch
_DAILY = re.compile(r"(?:daily|every day)(?: at (\d{1,2})(?::(\d{2}))?)?", re.IGNORECASE).fullmatch
_WORDS = {"hourly": "0 * * * *", "daily": "0 0 * * *", "weekly": "0 0 * * 1", "monthly": "0 0 1 * *"}
_STATUS = {
    CrawlStatus.PENDING: "queued",
    CrawlStatus.IN_PROGRESS: "running",
    CrawlStatus.FAILED: "failed",
    CrawlStatus.CANCELLED: "failed",
}
Limit = Annotated[int, Query(ge=1, le=100)]  # changed pages come with their diff: each is read by a judge
Offset = Annotated[int, Query(ge=0, le=1_000_000)]


def _monitor(monitor_id: str, caller: Caller, tools: Tools) -> tuple[Project, Schedule]:
    try:
        project_id = UUID(monitor_id)
    except ValueError:
        raise NotFound("Monitor not found.") from None
    schedule = tools.notices.schedules.find(project_id) if caller.sees(project_id) else None
    if schedule is None:
        raise NotFound("Monitor not found.")
    return tools.store.get_project(project_id), schedule


Monitored = Annotated[tuple[Project, Schedule], Depends(_monitor)]


@router.post("/monitor")
def create_monitor(body: NewMonitor, tools: Tools, caller: Caller) -> Any:
    if caller.project_ids is not None:
        raise Forbidden("A monitor is a new project, and this API key is limited to some.")
    website, settings = crawl_of(body.targets, tools.settings.max_pages_ceiling)
    config, hook = _schedule(body), _hook(tools, body)
    project = tools.projects.manage.create(name=body.name, website_url=website, settings=settings)
    try:
        schedule = tools.notices.set_schedule(project.id, {"enabled": body.status != "paused", **config})
        _keep(tools, project, body, hook)
    except Exception:
        tools.projects.manage.delete(project.id)
        raise
    return {"success": True, "data": _shown(tools, caller, project, schedule)}


@router.get("/monitor")
def list_monitors(tools: Tools, caller: Caller, limit: Limit = 100, offset: Offset = 0) -> Any:
    found = []
    for project_id in tools.notices.schedules.list_projects(limit, offset, caller.project_ids):
        schedule = tools.notices.schedules.find(project_id)
        if schedule is not None:
            found.append(_shown(tools, caller, tools.store.get_project(project_id), schedule))
    return {"success": True, "data": found}


@router.get("/monitor/{monitor_id}")
def get_monitor(monitor: Monitored, tools: Tools, caller: Caller) -> Any:
    return {"success": True, "data": _shown(tools, caller, *monitor)}


@router.patch("/monitor/{monitor_id}")
def change_monitor(monitor: Monitored, body: MonitorChange, tools: Tools, caller: Caller) -> Any:
    project, _ = monitor
    changes: dict[str, Any] = {"name": body.name} if body.name else {}
    if body.targets is not None:
        website, settings = recrawl_of(body.targets, tools.settings.max_pages_ceiling)
        changes |= {"website_url": website, "settings": settings}
    config, hook = _schedule(body), _hook(tools, body)
    if body.status is not None:
        config["enabled"] = body.status == "active"
    if changes:
        project = tools.projects.manage.change(project.id, changes)
    schedule = tools.notices.set_schedule(project.id, config)
    _keep(tools, project, body, hook)
    return {"success": True, "data": _shown(tools, caller, project, schedule)}


def _hook(tools: App, body: MonitorChange) -> Hook | None:
    webhook = body.webhook
    return tools.notices.tell_hook.checked(webhook.hook(MONITOR), webhook.headers) if webhook else None


def _keep(tools: App, project: Project, body: MonitorChange, hook: Hook | None) -> None:
    """What a project and its schedule cannot hold. A webhook that is given as null is removed, as there."""
    if body.targets:
        tools.notices.hooks.set_targets(project.id, shown_targets(project.id, body.targets))
    if "webhook" in body.model_fields_set:
        tools.notices.tell_hook.set_for(project.id, hook)


@router.delete("/monitor/{monitor_id}")
def delete_monitor(monitor: Monitored, tools: Tools) -> Any:
    tools.projects.manage.delete(monitor[0].id)
    return {"success": True}


@router.post("/monitor/{monitor_id}/run")
def run_monitor(monitor: Monitored, tools: Tools) -> Any:
    tools.hints.ping()
    crawl = tools.crawls.start(monitor[0].id, crawl_type=CrawlType.SCHEDULED)
    return {"success": True, "data": _check(tools, crawl)}


@router.get("/monitor/{monitor_id}/checks")
def list_checks(monitor: Monitored, tools: Tools, limit: Limit = 25, offset: Offset = 0) -> Any:
    crawls = tools.store.list_crawls(monitor[0].id, limit, skip=offset, everything=False)
    return {"success": True, "data": [_check(tools, crawl) for crawl in crawls]}


@router.get("/monitor/{monitor_id}/checks/{check_id}")
def get_check(
    request: Request,
    monitor: Monitored,
    check_id: UUID,
    tools: Tools,
    limit: Limit = 25,
    skip: Offset = 0,
    status: Annotated[str | None, Query(pattern="^(same|new|changed|removed|error)$")] = None,
) -> Any:
    crawl = tools.store.find_crawl(check_id)
    if crawl is None or crawl.project_id != monitor[0].id:
        raise NotFound("Check not found.")
    told_check = _check(tools, crawl)  # first: pages that are read after a check is complete were compared
    check, targets = tools.changes.check_pages, TargetIndex(tools.notices.hooks.list_targets(crawl.project_id))
    pages = [page for page in check(crawl) if status in (None, page.status)]
    chosen = pages[skip : skip + limit]
    diffs = _diffs(check, crawl, chosen)
    part = [_page(crawl, page, targets) | diffs.get(page.url, {}) for page in chosen]
    told: dict[str, Any] = {"success": True, "data": {**told_check, "pages": part}}
    if skip + limit < len(pages):
        asked = f"limit={limit}&skip={skip + limit}" + (f"&status={status}" if status else "")
        told["next"] = f"{str(request.url).partition('?')[0]}?{asked}"
    return as_json(told)


def _schedule(body: MonitorChange) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if body.schedule is not None:
        config |= {"frequency": "cron", "cron": _cron(body.schedule), "timezone": body.schedule.timezone}
    email = body.notification.email if body.notification else None
    if email is not None:
        config["notification_email"] = email.recipients[0] if email.enabled and email.recipients else None
    return config


def _cron(schedule: MonitorSchedule) -> str:
    """A schedule in words that mean one thing only; others are refused."""
    if schedule.cron:
        return schedule.cron
    words = " ".join((schedule.text or "").lower().split())
    if words in _WORDS:
        return _WORDS[words]
    if found := _DAILY(words):
        return f"{int(found[2] or 0)} {int(found[1] or 0)} * * *"
    if found := _EVERY(words):
        count, unit = int(found[1] or 1), found[2]
        steps = {
            "minute": (f"*/{count} * * * *", 59),
            "hour": (f"0 */{count} * * *", 23),
            "day": (f"0 0 */{count} * *", 28),
        }
        cron, most = steps[unit]
        if 1 <= count <= most:
            return cron
    raise Invalid("schedule.text: say it as a cron expression, or as 'every 30 minutes', 'hourly' or 'daily at 9:00'.")


def _shown(tools: App, caller: ApiKey, project: Project, schedule: Schedule) -> dict[str, Any]:
    config = schedule.config
    last = next(iter(tools.store.list_crawls(project.id, 1, everything=False)), None)
    targets, hook = tools.notices.hooks.list_targets(project.id), tools.notices.tell_hook.find_for(project.id)
    mail = config.notification_email
    return {
        "id": str(project.id),
        "name": project.name,
        "status": "active" if config.enabled else "paused",
        "schedule": {"cron": config.expression, "timezone": config.timezone},
        "nextRunAt": _iso(schedule.next_run_at),
        "lastRunAt": _iso(last.started_at if last else None),
        "currentCheckId": str(last.id) if last and not last.status.is_over else None,
        "targets": targets or [_site(project)],
        "webhook": _shown_hook(caller, hook) if hook else None,
        "notification": {"email": {"enabled": True, "recipients": [mail]}} if mail else None,
        "retentionDays": RETENTION_DAYS,
        "estimatedCreditsPerMonth": 0,
        "lastCheckSummary": _summary(last, tools.changes.describe(last)) if last and last.status.is_over else None,
        "createdAt": project.created_at.isoformat(),
        "updatedAt": project.updated_at.isoformat(),
    }


def _shown_hook(caller: ApiKey, hook: Hook) -> dict[str, Any]:
    return {**hook.model_dump(include={"url", "metadata", "events"}), "url": shown_webhook(caller, hook.url)}


def _site(project: Project) -> dict[str, Any]:
    """What a project watches that was not made at this door."""
    options = {"limit": project.settings.max_pages}
    return {"id": str(project.id), "type": "crawl", "url": project.website_url or "", "crawlOptions": options}


def _check(tools: App, crawl: CrawlJob) -> dict[str, Any]:
    is_compared = crawl.status is CrawlStatus.COMPLETED and tools.store.is_diffed(crawl.id)
    status = "completed" if is_compared else _STATUS.get(crawl.status, "running")
    slots = {run for _, _, run in tools.notices.schedules.slots(crawl.project_id, 20)}
    return {
        "id": str(crawl.id),
        "monitorId": str(crawl.project_id),
        "status": status,
        "trigger": "scheduled" if crawl.id in slots else "manual",
        "startedAt": _iso(crawl.started_at),
        "finishedAt": _iso(crawl.completed_at) if status in ("completed", "failed") else None,
        "estimatedCredits": 0,
        "actualCredits": 0,
        "billingStatus": "not_applicable",
        "summary": _summary(crawl, tools.changes.describe(crawl)),
        "error": crawl.error_message,
        "createdAt": crawl.created_at.isoformat(),
        "updatedAt": crawl.updated_at.isoformat(),
    }


def _summary(crawl: CrawlJob, changes: CrawlChanges) -> dict[str, int]:
    """Of a first check all pages are new."""
    counts, done = changes.summary, crawl.pages_crawled
    new, changed, removed = (counts.new_pages, counts.changed_pages, counts.removed_pages) if counts else (done, 0, 0)
    return {
        "totalPages": done + crawl.pages_failed,
        "same": max(0, done - new - changed),
        "changed": changed,
        "new": new,
        "removed": removed,
        "error": crawl.pages_failed,
    }


def _diffs(check: CheckPages, crawl: CrawlJob, pages: Sequence[CheckedPage]) -> dict[str, dict[str, Any]]:
    """What changed on the first changed ones, by URL, within bounds of time and size."""
    judging.until.set(time.monotonic() + DIFF_SECONDS)
    left, found = MOST_DIFF_CHARS, {}
    for page in [one for one in pages if one.status == CHANGED][:MOST_DIFFS]:
        diff = check.diff(crawl, page)
        if diff is None:
            continue
        left -= len(diff["text"])
        if left < 0:
            break
        found[page.url] = {"diff": diff}
    return found


def _page(crawl: CrawlJob, page: CheckedPage, targets: TargetIndex) -> dict[str, Any]:
    return {
        "id": str(page_id(crawl.project_id, page.url)),
        "targetId": targets.find(page.url) or str(crawl.project_id),
        "url": page.url,
        "status": page.status,
        "previousScrapeId": page.before,
        "currentScrapeId": page.version,
        "statusCode": page.http_status,
        "error": page.error,
        "createdAt": (crawl.completed_at or crawl.created_at).isoformat(),
    }


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
