"""`/v2/crawl` and `/v2/batch/scrape`: start, status with pages, errors, cancel, and news over WebSocket.

Each is a crawl beside all others: `begin_crawl` and `start` in `handlers/crawls/scrape_pages.py`.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Header, Query, Request, WebSocket
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocketDisconnect

from crawler.adapters.operating.event_tail import end as end_tasks
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.exports.firecrawl_documents import document
from crawler.domain.markdown.page_formats import Wanted
from crawler.domain.notices import hooks
from crawler.domain.notices.hooks import Hook
from crawler.domain.pages.scraped import PageEnd
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import Unusable, read
from crawler.entrypoints.firecrawl.answers import as_json
from crawler.entrypoints.firecrawl.bodies import BatchBody, CrawlBody, WantedFormat, Webhook
from crawler.entrypoints.firecrawl.refusals import NotOffered
from crawler.entrypoints.http.access import Tools, own_or_single
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.idempotency import Once, OnceKey
from crawler.entrypoints.http.page_waits import PageWaits
from crawler.entrypoints.http.shown_addresses import shown_webhook
from crawler.entrypoints.http.sockets import until_gone, until_shut_out
from crawler.errors import Conflict, CrawlerError, Invalid, InvalidTransition, NotFound
from crawler.handlers.crawls.scrape_pages import not_fetched

router = APIRouter()

PAGES_AT_ONCE = 20
MOST_BYTES = 10_000_000
MOST_ERRORS = 1000
KEPT = timedelta(days=365)
DOOR = "door"
"""Key in a crawl's scope: which of the two it is, to Firecrawl's clients."""
TRACKED = "tracked"
"""Key in a crawl's scope: the modes of `changeTracking`, if its pages are told with it."""
_STATUS = {
    CrawlStatus.PENDING: "scraping",
    CrawlStatus.IN_PROGRESS: "scraping",
    CrawlStatus.COMPLETED: "completed",
    CrawlStatus.FAILED: "failed",
    CrawlStatus.CANCELLED: "cancelled",
}
SHUT_OUT = 4401, "The API key was revoked."
CRAWL, BATCH = "crawl", "batch/scrape"
Skip = Annotated[int, Query(ge=0, le=10_000_000)]


def _job(connection: HTTPConnection, job_id: str, caller: Caller, tools: Tools) -> CrawlJob:
    with suppress(ValueError):
        crawl = tools.store.find_crawl(UUID(job_id))
        if crawl is not None and caller.sees(crawl.project_id):
            kind = tools.store.get_scope(crawl.id).get(DOOR)
            if kind is not None and connection.url.path.startswith(f"/v2/{kind}/"):
                return crawl
    raise NotFound("Job not found.")


Job = Annotated[CrawlJob, Depends(_job)]


def _once(
    request: Request, caller: Caller, tools: Tools, key: Annotated[OnceKey, Header(alias="x-idempotency-key")] = None
) -> Once:
    return Once(request, caller, tools, key)


DoOnce = Annotated[Once, Depends(_once)]


class Started(BaseModel):
    model_config = ConfigDict(frozen=True)

    success: bool = True
    id: str
    url: str


class BatchStarted(Started):
    invalid_urls: list[str] = Field(serialization_alias="invalidURLs")


@router.post("/crawl")
def start_crawl(request: Request, body: CrawlBody, tools: Tools, caller: Caller, once: DoOnce) -> Any:
    project_id, tracked = own_or_single(caller, None), body.scrape_options.change_tracking
    hook = _hook(tools, body.webhook, hooks.CRAWL, tracked)
    settings = body.settings(body.url, tools.settings.max_pages_ceiling)
    options = body.scrape_options.options()
    secret = {"scrape_options": {"headers"}, "webhook": {"headers"}}
    told = body.model_dump(mode="json", by_alias=True, exclude=secret, exclude_unset=True)
    notes = {DOOR: CRAWL, "told": told, **_tracking(tracked)}

    def start() -> Started:
        crawl = tools.crawls.scrape.begin_crawl(project_id, body.url, settings, options, notes=notes)
        return Started(id=str(crawl.id), url=_begun(request, tools, CRAWL, crawl, hook))

    return once(body, start, 200)


@router.post("/batch/scrape")
def start_batch(request: Request, body: BatchBody, tools: Tools, caller: Caller, once: DoOnce) -> Any:
    hook = _hook(tools, body.webhook, hooks.BATCH, body.change_tracking)
    if body.append_to_id:
        raise NotOffered("A batch cannot be added to here; start another one.")
    invalid = [url for url in body.urls if isinstance(read(url), Unusable)]
    if invalid and (not body.ignore_invalid_urls or len(invalid) == len(body.urls)):
        raise Invalid(f"{len(invalid)} of the urls cannot be fetched; ignoreInvalidURLs leaves such out.")
    urls = [url for url in body.urls if url not in invalid]
    notes = {DOOR: BATCH, **_tracking(body.change_tracking)}
    project_id, options = own_or_single(caller, None), body.options()

    def start() -> BatchStarted:
        crawl = tools.crawls.scrape.start(project_id, urls, options, notes=notes)
        return BatchStarted(id=str(crawl.id), url=_begun(request, tools, BATCH, crawl, hook), invalid_urls=invalid)

    return once(body, start, 200)


def _hook(tools: App, webhook: Webhook | None, kind: str, tracked: WantedFormat | None) -> Hook | None:
    """Before the job begins: an address that may not be reached is refused with it."""
    return tools.notices.tell_hook.checked(webhook.hook(kind, tracked), webhook.headers) if webhook else None


def _tracking(tracked: WantedFormat | None) -> dict[str, Any]:
    return {} if tracked is None else {TRACKED: tracked.modes}


def _begun(request: Request, tools: App, kind: str, crawl: CrawlJob, hook: Hook | None) -> str:
    """Where its status is told."""
    if hook is not None:
        tools.notices.tell_hook.begin(crawl, hook)
    return f"{request.base_url}v2/{kind}/{crawl.id}"


@router.get("/crawl/ongoing")
@router.get("/crawl/active")
def list_active(tools: Tools, caller: Caller) -> Any:
    found = []
    for crawl in tools.store.open_crawls():
        scope = tools.store.get_scope(crawl.id) if crawl.from_queue and caller.sees(crawl.project_id) else {}
        if scope.get(DOOR) == CRAWL:
            options = _options(caller, scope.get("told") or {})
            found.append({"id": str(crawl.id), "teamId": "", "url": crawl.seed_url, "options": options})
    return {"success": True, "crawls": found}


def _options(caller: ApiKey, told: dict[str, Any]) -> dict[str, Any]:
    hook = told.get("webhook")
    return {**told, "webhook": {**hook, "url": shown_webhook(caller, hook["url"])}} if hook else told


@router.post("/crawl/params-preview")
def preview_params() -> Any:
    raise NotOffered("Options from a prompt are not offered here: this server has no language model.")


@router.get("/crawl/{job_id}")
@router.get("/batch/scrape/{job_id}")
async def get_status(request: Request, crawl: Job, tools: Tools, skip: Skip = 0) -> Any:
    waits: PageWaits = request.app.state.waits
    pages = [page async for page in _pages(tools, waits, crawl, skip)]
    told = {"success": True, **_told(crawl), "data": pages}
    reached = skip + len(pages)
    if not crawl.status.is_over or reached < crawl.pages_crawled:
        told["next"] = f"{str(request.url).partition('?')[0]}?skip={reached}"
    return await run_in_threadpool(as_json, told)


@router.get("/crawl/{job_id}/errors")
@router.get("/batch/scrape/{job_id}/errors")
def list_errors(crawl: Job, tools: Tools) -> Any:
    found = tools.crawls.scraped_pages.list_bad(crawl.id, MOST_ERRORS)
    errors = [
        {
            "id": str(number),
            "timestamp": at.isoformat() if at else None,
            "url": end.url,
            "code": end.reason,
            "error": not_fetched(end).message,
        }
        for number, (end, at) in enumerate(found)
        if end.reason != Reason.ROBOTS
    ]
    forbidden = [end.url for end, _ in found if end.reason == Reason.ROBOTS]
    return {"success": True, "errors": errors, "robotsBlocked": forbidden}


@router.delete("/crawl/{job_id}")
@router.delete("/batch/scrape/{job_id}")
def cancel(crawl: Job, tools: Tools) -> Any:
    try:
        tools.crawls.control.cancel(crawl.id)
    except InvalidTransition as exc:
        raise Conflict("The job is over already.") from exc
    return {"success": True, "status": "cancelled"}


@router.websocket("/crawl/{job_id}")
@router.websocket("/batch/scrape/{job_id}")
async def watch(socket: WebSocket, crawl: Job, tools: Tools, caller: Caller) -> None:
    """What is there first, then each page as it comes, then the end."""
    await socket.accept()
    telling = asyncio.create_task(_tell(socket, crawl, tools, caller))
    leaving = asyncio.create_task(until_gone(socket))
    losing = asyncio.create_task(until_shut_out(tools, socket, caller))
    try:
        done, _ = await asyncio.wait({telling, leaving, losing}, return_when=asyncio.FIRST_COMPLETED)
        if telling in done:
            telling.result()
        elif losing in done and leaving not in done:
            await end_tasks(telling)
            await socket.close(*SHUT_OUT)
    except WebSocketDisconnect:
        return
    finally:
        await end_tasks(telling, leaving, losing)


async def _tell(socket: WebSocket, crawl: CrawlJob, tools: App, caller: ApiKey) -> None:
    waits: PageWaits = socket.app.state.waits
    try:
        async with waits.following(crawl, caller.id) as rings:
            first = [page async for page in _pages(tools, waits, crawl, 0)]
            await _send(socket, {"type": "catchup", "data": {**_told(crawl), "data": first}})
            sent = len(first)
            while True:
                crawl = await run_in_threadpool(tools.store.get_crawl, crawl.id)
                async for page in _pages(tools, waits, crawl, sent, whole=True):
                    await _send(socket, {"type": "document", "data": page})
                    sent += 1
                if crawl.status.is_over:
                    break
                await rings()
        if crawl.status is CrawlStatus.FAILED:
            await _send(socket, {"type": "error", "error": crawl.error_message or "The crawl failed."})
        else:
            await _send(socket, {"type": "done", "data": {**_told(crawl), "data": []}})
    except CrawlerError as exc:
        await _send(socket, {"type": "error", "error": exc.message})
    await socket.close()


async def _send(socket: WebSocket, told: Mapping[str, Any]) -> None:
    await socket.send_text((await run_in_threadpool(orjson.dumps, told)).decode())


async def _pages(
    tools: App, waits: PageWaits, crawl: CrawlJob, skip: int, *, whole: bool = False
) -> AsyncIterator[Mapping[str, Any]]:
    """Pages of the job in the order they came, from this one on: some of them, or all that are there."""
    wanted = await run_in_threadpool(tools.crawls.scrape.wanted, crawl.id) or Wanted()
    modes = (await run_in_threadpool(tools.store.get_scope, crawl.id)).get(TRACKED)
    size = 0
    while ends := await run_in_threadpool(tools.crawls.scraped_pages.list_done, crawl.id, skip, PAGES_AT_ONCE):
        for end in ends:
            page = await _page(tools, waits, crawl, end, wanted, modes)
            size += sum(len(value) for value in page.values() if isinstance(value, str))
            yield page
            if not whole and size > MOST_BYTES:
                return
        skip += len(ends)
        if not whole or len(ends) < PAGES_AT_ONCE:
            return


async def _page(
    tools: App, waits: PageWaits, crawl: CrawlJob, end: PageEnd, wanted: Wanted, modes: Sequence[str] | None
) -> dict[str, Any]:
    try:
        version = await run_in_threadpool(tools.crawls.scrape.version, crawl, end)
        told = document(*await waits.show(version, wanted), end.url, wanted)
        if modes is not None:
            track = tools.changes.check_pages.track
            told["changeTracking"] = await run_in_threadpool(track, crawl.id, crawl.project_id, version, modes)
    except Invalid as exc:  # too much for a judge: the others are no worse for it
        return {"metadata": {"sourceURL": end.url, "url": end.url, "error": exc.message}}
    return told


def _told(crawl: CrawlJob) -> dict[str, Any]:
    done = crawl.pages_crawled
    return {
        "status": _STATUS[crawl.status],
        "total": max(done, done + (0 if crawl.status.is_over else crawl.urls_left)),
        "completed": done,
        "creditsUsed": 0,
        "expiresAt": (crawl.created_at + KEPT).isoformat(),
    }
