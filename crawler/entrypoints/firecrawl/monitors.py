"""`/v2/monitor`: a monitor is a project with a schedule, a check is a crawl of it, its pages are the comparison's.

Decided in `handlers/notices/set_schedule.py` and `handlers/changes`.
"""

import re
import time
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request

from crawler.bootstrap import App
from crawler.domain import judging
from crawler.domain.changes.summary import ChangedPage, CrawlChanges
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.engine.ledger import page_id
from crawler.domain.notices.schedule import Schedule
from crawler.entrypoints.firecrawl.answers import as_json
from crawler.entrypoints.firecrawl.bodies import MonitorChange, MonitorSchedule, MonitorTarget, NewMonitor
from crawler.entrypoints.firecrawl.documents import parsed_diff
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.errors import Forbidden, Invalid, NotFound
from crawler.handlers.crawls.scrape_pages import not_fetched

router = APIRouter()

MOST_PAGES = 10_000
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
Limit = Annotated[int, Query(ge=1, le=100)]
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
    target = _only(body.targets)
    settings = _settings(target, tools)
    config = _schedule(body)
    project = tools.projects.manage.create(name=body.name, website_url=target.address, settings=settings)
    try:
        schedule = tools.notices.set_schedule(project.id, {"enabled": body.status != "paused", **config})
    except Exception:
        tools.projects.manage.delete(project.id)
        raise
    return {"success": True, "data": _shown(tools, project, schedule)}


@router.get("/monitor")
def list_monitors(tools: Tools, caller: Caller, limit: Limit = 100, offset: Offset = 0) -> Any:
    found = []
    for project_id in tools.notices.schedules.list_projects(limit, offset, caller.project_ids):
        schedule = tools.notices.schedules.find(project_id)
        if schedule is not None:
            found.append(_shown(tools, tools.store.get_project(project_id), schedule))
    return {"success": True, "data": found}


@router.get("/monitor/{monitor_id}")
def get_monitor(monitor: Monitored, tools: Tools) -> Any:
    return {"success": True, "data": _shown(tools, *monitor)}


@router.patch("/monitor/{monitor_id}")
def change_monitor(monitor: Monitored, body: MonitorChange, tools: Tools) -> Any:
    project, _ = monitor
    changes: dict[str, Any] = {"name": body.name} if body.name else {}
    if body.targets is not None:
        target = _only(body.targets)
        changes |= {"website_url": target.address, "settings": _settings(target, tools)}
    config = _schedule(body)
    if body.status is not None:
        config["enabled"] = body.status == "active"
    if changes:
        project = tools.projects.manage.change(project.id, changes)
    schedule = tools.notices.set_schedule(project.id, config)
    return {"success": True, "data": _shown(tools, project, schedule)}


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
    crawls = [one for one in tools.store.list_crawls(monitor[0].id, limit + offset) if not one.from_queue]
    return {"success": True, "data": [_check(tools, crawl) for crawl in crawls[offset:]]}


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
    changes = tools.changes.describe(crawl, pages=True)
    pages = [one for one in _pages(tools, crawl, changes) if status in (None, one["status"])]
    part = pages[skip : skip + limit]
    _add_diffs(tools, crawl, changes, part)
    told: dict[str, Any] = {"success": True, "data": {**_check(tools, crawl), "pages": part}}
    if skip + limit < len(pages):
        asked = f"limit={limit}&skip={skip + limit}" + (f"&status={status}" if status else "")
        told["next"] = f"{str(request.url).partition('?')[0]}?{asked}"
    return as_json(told)


def _only(targets: list[MonitorTarget]) -> MonitorTarget:
    if len(targets) != 1:
        raise Invalid("targets: a monitor has one target here; make a monitor for each.")
    return targets[0]


def _settings(target: MonitorTarget, tools: App) -> dict[str, Any]:
    if target.type == "scrape":
        return {"max_pages": 1, "max_depth": 0, "use_sitemaps": False}
    return target.crawl_options.settings(target.address, tools.settings.max_pages_ceiling)


def _schedule(body: MonitorChange) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if body.schedule is not None:
        config |= {"frequency": "cron", "cron": _cron(body.schedule), "timezone": body.schedule.timezone}
    email = body.notification.email if body.notification else None
    if email is not None:
        config["notification_email"] = email.recipients[0] if email.enabled and email.recipients else None
    if body.webhook is not None:
        config |= {"notification_webhook": body.webhook.url, "notify_on": "always"}
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


def _shown(tools: App, project: Project, schedule: Schedule) -> dict[str, Any]:
    config = schedule.config
    last = next((one for one in tools.store.list_crawls(project.id, 5) if not one.from_queue), None)
    url, is_page = project.website_url or "", _is_one_page(project.settings)
    target: dict[str, Any] = {"id": str(project.id), "type": "scrape" if is_page else "crawl"}
    target |= {"urls": [url]} if is_page else {"url": url, "crawlOptions": {"limit": project.settings.max_pages}}
    mail = config.notification_email
    return {
        "id": str(project.id),
        "name": project.name,
        "status": "active" if config.enabled else "paused",
        "schedule": {"cron": config.expression, "timezone": config.timezone},
        "nextRunAt": _iso(schedule.next_run_at),
        "lastRunAt": _iso(last.started_at if last else None),
        "currentCheckId": str(last.id) if last and not last.status.is_over else None,
        "targets": [target],
        "webhook": {"url": config.notification_webhook} if config.notification_webhook else None,
        "notification": {"email": {"enabled": True, "recipients": [mail]}} if mail else None,
        "retentionDays": RETENTION_DAYS,
        "estimatedCreditsPerMonth": 0,
        "lastCheckSummary": _summary(last, tools.changes.describe(last)) if last and last.status.is_over else None,
        "createdAt": project.created_at.isoformat(),
        "updatedAt": project.updated_at.isoformat(),
    }


def _is_one_page(settings: CrawlConfig) -> bool:
    return settings.max_pages == 1 and settings.max_depth == 0


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


def _pages(tools: App, crawl: CrawlJob, changes: CrawlChanges) -> list[dict[str, Any]]:
    """Every page of the check with what became of it: what is told first, then what stayed the same."""
    known = changes.summary is not None
    kinds = dict.fromkeys(changes.new_page_urls, "new") | dict.fromkeys(changes.changed_page_urls, "changed")
    done = tools.crawls.scraped_pages.list_done(crawl.id, 0, MOST_PAGES)
    told: list[tuple[str, str, int | None, str | None]] = [
        (end.url, kinds.get(end.url, "same" if known else "new"), end.http_status, None) for end in done
    ]
    told += [(url, "removed", None, None) for url in changes.removed_page_urls]
    gone = set(changes.removed_page_urls)
    bad = tools.crawls.scraped_pages.list_bad(crawl.id, MOST_PAGES, only_failed=True)
    told += [(end.url, "error", end.http_status, not_fetched(end).message) for end, _ in bad if end.url not in gone]
    order = {"changed": 0, "new": 1, "removed": 2, "error": 3, "same": 4}
    return [
        {
            "id": str(page_id(crawl.project_id, url)),
            "targetId": str(crawl.project_id),
            "url": url,
            "status": kind,
            "statusCode": code,
            "error": error,
            "createdAt": (crawl.completed_at or crawl.created_at).isoformat(),
        }
        for url, kind, code, error in sorted(told, key=lambda one: (order[one[1]], one[0]))
    ]


def _add_diffs(tools: App, crawl: CrawlJob, changes: CrawlChanges, pages: list[dict[str, Any]]) -> None:
    judging.until.set(time.monotonic() + DIFF_SECONDS)
    left = MOST_DIFF_CHARS
    versions: dict[str, ChangedPage] = {page.url: page for page in changes.changed_pages or ()}
    for page in [one for one in pages if one["status"] == "changed" and one["url"] in versions][:MOST_DIFFS]:
        both = versions[page["url"]]
        try:
            diff = tools.changes.compare_versions(crawl.project_id, both.page_id, both.from_version, both.to_version)
        except (Invalid, NotFound):  # too large to be compared, or no longer kept
            continue
        left -= len(diff.diff.unified)
        if left < 0:
            return
        page["diff"] = {"text": diff.diff.unified, "json": parsed_diff(diff.diff.unified)}


def _iso(at: datetime | None) -> str | None:
    return at.isoformat() if at else None
