"""`/crawls/{id}`: a crawl's live progress and result, with buttons to pause, resume, cancel and retry.

Decided in `control_crawl.py` and `retry_failed.py` in `handlers/crawls`; the percentage in `domain/crawls/progress.py`;
why hosts wait: `hindrance` in `adapters/frontier/lua/pair_rules.lua`.
"""

from typing import Any
from urllib.parse import urlsplit

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from crawler.adapters.crawls.crawl_pace import MOST_URLS
from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType, FetchState
from crawler.domain.crawls.frontier import HostWait, Wait
from crawler.domain.crawls.host_waits import HELD, by_host, seconds_left
from crawler.domain.explaining.seed_advice import seed_advice
from crawler.domain.pages.lists import UrlFilter
from crawler.domain.reason_words import name_of
from crawler.domain.reasons import Reason
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.dashboard.views.ask_watch import ask_about
from crawler.entrypoints.dashboard.views.feed import LINES, PAGES
from crawler.entrypoints.dashboard.views.notice import notice_of
from crawler.entrypoints.dashboard.views.run_history import MOST_SLOTS, kind_of
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.errors import RedisUnavailable

router = APIRouter()

RECENT = 25
LOOKED_AT = 10
"""Crawls of a project in which a page is looked for."""
STOP_ASKING = 286
"""The HTTP status that makes htmx stop polling."""
HOSTS = 50
SHOWN_HOSTS = 12
WAITS = {
    Wait.READY: "ready",
    Wait.GAP: "waiting for its delay",
    Wait.BLOCKED: "backing off after errors or rate limiting",
    Wait.ROBOTS: "reading robots.txt",
    Wait.PAUSED: "paused",
    Wait.HOST_CAP: "all connections to it are in use",
    Wait.CRAWL_CAP: "all connections of the crawl are in use",
    Wait.BUDGET: "the page limit is nearly reached",
    Wait.RETRY: "waiting for a retry",
}

_REASONS = orjson.dumps({reason.value: name_of(reason) for reason in Reason}).decode()
"""Words for the reasons in live events."""


@router.get("/crawls/{crawl_id}")
def crawl(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    recent, seen = _recent(tools, crawl)
    return page(
        request,
        "crawl.html",
        here="progress",
        recent=recent,
        seen=seen,
        reasons=_REASONS,
        **_state(tools, crawl),
    )


@router.get("/crawls/{crawl_id}/state")
def state(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    """The part of the page that changes with the crawl's state: asked for when it ends, and now and then."""
    return page(request, "parts/crawl_state.html", **_state(tools, crawl))


@router.get("/crawls/{crawl_id}/recent")
def recent(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    """Asked for when the crawl ends or events were missed: a short crawl is over before its page listens."""
    found, _ = _recent(tools, crawl)
    return page(request, "parts/recent_rows.html", crawl=crawl, recent=found, own_host=urlsplit(crawl.seed_url).netloc)


@router.get("/crawls/{crawl_id}/hosts")
def hosts(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    """Asked for every few seconds while the crawl runs; tells also that it has ended, should nobody else."""
    status = STOP_ASKING if crawl.status.is_over else 200
    answer = page(request, "parts/crawl_hosts.html", status, crawl=crawl, **_hosts(tools, crawl))
    if crawl.status.is_over:
        answer.headers["HX-Trigger"] = "crawl-over"
    return answer


@router.get("/crawls/{crawl_id}/pace.json")
def pace(crawl: OwnCrawl, tools: Tools) -> JSONResponse:
    if crawl.started_at is None or crawl.total_discovered > MOST_URLS:
        return JSONResponse({"step": 1, "points": [], "answers": {}, "counted": False})
    found = tools.crawls.pace(crawl.id, crawl.started_at, crawl.completed_at or tools.clock())
    told = {"step": found.step_seconds, "points": found.points, "answers": found.answers, "counted": True}
    return JSONResponse(told)


@router.get("/crawls/{crawl_id}/told")
def told(request: Request, crawl: OwnCrawl, tools: Tools) -> Response:
    """Asked for every few seconds while a notification is on its way."""
    project = tools.store.get_project(crawl.project_id)
    return page(request, "parts/told.html", crawl=crawl, project=project, **notice_of(tools, crawl))


@router.post("/crawls/{crawl_id}/tell")
def tell(crawl: OwnCrawl, tools: Tools) -> Response:
    """Send what it found to whoever is told of scheduled crawls."""
    tools.notices.tell_crawl(crawl.id)
    return go(f"/crawls/{crawl.id}", "telling")


@router.post("/crawls/{crawl_id}/pause")
def pause(crawl: OwnCrawl, tools: Tools) -> Response:
    tools.crawls.control.pause(crawl.id)
    return go(f"/crawls/{crawl.id}", "paused")


@router.post("/crawls/{crawl_id}/resume")
def resume(crawl: OwnCrawl, tools: Tools) -> Response:
    tools.crawls.control.resume(crawl.id)
    return go(f"/crawls/{crawl.id}", "resumed")


@router.post("/crawls/{crawl_id}/cancel")
def cancel(crawl: OwnCrawl, tools: Tools) -> Response:
    tools.crawls.control.cancel(crawl.id)
    return go(f"/crawls/{crawl.id}", "cancelled")


@router.post("/crawls/{crawl_id}/retry-failed")
def retry(crawl: OwnCrawl, tools: Tools) -> Response:
    return go(f"/crawls/{tools.crawls.retry_failed(crawl.id).crawl_id}", "retried")


def _state(tools: App, crawl: CrawlJob) -> dict[str, Any]:
    spent = (crawl.completed_at or tools.clock()) - (crawl.started_at or crawl.created_at)
    seconds = max(spent.total_seconds(), 0.0)
    project = tools.store.get_project(crawl.project_id)
    asked = crawl.status is CrawlStatus.COMPLETED and crawl.crawl_type is not CrawlType.FETCH_ONLY
    return {
        "crawl": crawl,
        "project": project,
        "kind": kind_of(crawl, tools.notices.schedules.slots(project.id, MOST_SLOTS)),
        **(ask_about(tools, project) if asked else {"ask": None}),
        "progress": tools.crawls.progress.of_crawl(crawl),
        "seconds": seconds,
        "speed": crawl.pages_crawled / seconds if seconds >= 0.1 else None,
        "own_host": urlsplit(crawl.seed_url).netloc,
        "in_vain": _in_vain(tools, crawl),
        **_comparison(tools, crawl),
        **_hosts(tools, crawl),
    }


def _in_vain(tools: App, crawl: CrawlJob) -> dict[str, Any] | None:
    """A crawl whose address could not be fetched: what to do, and whether the project holds nothing at all."""
    if crawl.status is not CrawlStatus.FAILED or crawl.pages_crawled:
        return None
    earlier = tools.store.list_crawls(crawl.project_id, LOOKED_AT)
    advice = seed_advice(tools.engine.ledger.seed_state(crawl.id))
    return {"advice": advice, "is_empty": not any(one.pages_crawled for one in earlier)}


def _comparison(tools: App, crawl: CrawlJob) -> dict[str, Any]:
    """Whether the comparison is still to come, and what it found: the page asks again until it is there."""
    comparing = crawl.status is CrawlStatus.COMPLETED and not tools.store.is_diffed(crawl.id)
    entry = tools.changes.feed.find(crawl.id) if crawl.change_summary else None
    notice = notice_of(tools, crawl) if entry else {}
    return {"comparing": comparing, "entry": entry, "feed_pages": PAGES, "feed_lines": LINES, **notice}


def _hosts(tools: App, crawl: CrawlJob) -> dict[str, Any]:
    """The hosts with queued URLs.

    Hosts that are blocked or paused come first, because people ask why nothing happens there.
    """
    waits = (
        [] if crawl.status.is_over else by_host(wait for wait in tools.frontier.waiting(crawl.id, HOSTS) if wait.queued)
    )
    shown = [_host(wait, crawl) for wait in waits[:SHOWN_HOSTS]]
    return {"hosts": shown, "more_hosts": max(0, len(waits) - SHOWN_HOSTS)}


def _host(wait: HostWait, crawl: CrawlJob) -> dict[str, Any]:
    is_new = wait.why is Wait.PAUSED and crawl.status is CrawlStatus.PENDING and not crawl.paused
    return {
        "host": wait.host,
        "lane": wait.lane.value,
        "queued": wait.queued,
        "why": "begins in a moment" if is_new else WAITS[wait.why],
        "held": wait.why in HELD and not is_new,
        "seconds": seconds_left(wait, crawl.config.delay_seconds),
    }


def _recent(tools: App, crawl: CrawlJob) -> tuple[list[dict[str, Any]], int | None]:
    """The latest page events, newest first, and the event number after which the browser listens for live events."""
    try:
        events = tools.events.latest(crawl.id, "page", entries=20)
    except RedisUnavailable:
        events = []
    if not events and crawl.status.is_over:
        return _stored(tools, crawl), None
    return [event.data for event in reversed(events)][:RECENT], events[-1].seq if events else None


def _stored(tools: App, crawl: CrawlJob) -> list[dict[str, Any]]:
    """The first URLs of the record, when no events are kept any more."""
    part = tools.crawls.urls.list_urls(crawl.id, UrlFilter(None, None, None, None), None, RECENT)
    return [
        {
            "url": row.url,
            "status": "success" if row.fetch_state == FetchState.DONE else str(row.fetch_state),
            "http_status": row.http_status,
            "reason": row.reason,
            "title": None,
        }
        for row in part.rows
    ]
