"""`/crawls`: crawls of all projects. `/crawl/{id}`: show and steer a crawl, list its URLs, export its pages.

Decided in `control_crawl.py` and `retry_failed.py` in `handlers/crawls`; export formats in `domain/exports/files.py`;
the list of URLs in `adapters/crawls/url_reader.py`.
"""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from crawler.domain.crawls.crawl import FetchState, IngestState
from crawler.domain.exports.files import FORMATS, MARKDOWN_PAGES
from crawler.domain.pages.lists import UrlFilter
from crawler.domain.reasons import Reason
from crawler.entrypoints.api.shapes.crawl import CrawlShown, UrlShown, with_urls
from crawler.entrypoints.http.access import OwnCrawl, Tools, sees_project
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import Cursor, Limit, decode, decode_id, encode, listed
from crawler.entrypoints.http.etags import NOT_MODIFIED, tagged, tagged_json
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Listed, Text, Wire
from crawler.entrypoints.http.streaming import stream

router = APIRouter(tags=["crawls"])

URLS_INCLUDED = 1000


class Include(StrEnum):
    URLS = "urls"


_SENT = {**FORMATS, MARKDOWN_PAGES.name: MARKDOWN_PAGES}
Format = StrEnum("Format", {name.upper(): name for name in _SENT})  # type: ignore[misc]


class Retried(Wire):
    crawl_id: UUID = Field(description="Where they are tried again: this crawl while it runs, else a new one")
    urls: int


@router.get("/crawls", summary="Crawls of all projects, newest first", responses=problems(404))
def list_crawls(
    caller: Caller,
    tools: Tools,
    project_id: Annotated[UUID | None, Query(description="Only those of this project")] = None,
    begins: Annotated[Text, Query(max_length=36, description="Only those whose id begins so")] = "",
    everything: Annotated[bool, Query(description="Also batches of the queue, and single pages")] = False,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[CrawlShown]:
    only = caller.project_ids if project_id is None else (sees_project(caller, project_id),)
    before = decode_id("crawls", cursor)
    found = tools.store.newest_crawls(limit + 1, before, only, begins=begins, everything=everything)
    return listed(found, limit, CrawlShown.of, lambda row: encode("crawls", str(row.id)))


@router.get(
    "/crawl/{crawl_id}",
    response_model=CrawlShown,
    summary="One crawl",
    responses={**problems(404), **NOT_MODIFIED},
)
def get_crawl(request: Request, crawl: OwnCrawl, tools: Tools, include: Include | None = None) -> Response:
    if include is None:
        return tagged(request, CrawlShown.of(crawl))
    urls = tools.crawls.urls.list_urls(crawl.id, UrlFilter(), None, URLS_INCLUDED)
    return tagged_json(request, with_urls(crawl, urls.rows))


@router.post(
    "/crawl/{crawl_id}/cancel",
    status_code=204,
    response_class=Response,
    summary="End a crawl now; its pages are kept",
    responses=problems(404, 409),
)
def cancel_crawl(crawl: OwnCrawl, tools: Tools) -> Response:
    tools.crawls.control.cancel(crawl.id)
    return Response(status_code=204)


@router.post("/crawl/{crawl_id}/pause", summary="Start no request until it is resumed", responses=problems(404, 409))
def pause_crawl(crawl: OwnCrawl, tools: Tools) -> CrawlShown:
    return CrawlShown.of(tools.crawls.control.pause(crawl.id))


@router.post("/crawl/{crawl_id}/resume", summary="Go on with a paused crawl", responses=problems(404, 409))
def resume_crawl(crawl: OwnCrawl, tools: Tools) -> CrawlShown:
    return CrawlShown.of(tools.crawls.control.resume(crawl.id))


@router.post(
    "/crawl/{crawl_id}/retry-failed",
    status_code=202,
    summary="Give failed URLs another chance",
    responses=problems(404, 409),
)
def retry_failed_urls(crawl: OwnCrawl, tools: Tools) -> Retried:
    return Retried(**tools.crawls.retry_failed(crawl.id)._asdict())


@router.get("/crawl/{crawl_id}/urls", summary="Every URL a crawl met, by URL", responses=problems(404))
def list_crawl_urls(
    crawl: OwnCrawl,
    tools: Tools,
    fetch_state: FetchState | None = None,
    status: Annotated[IngestState | None, Query(description="Of ingestion")] = None,
    reason: Reason | None = None,
    prefix: Annotated[Text | None, Query(max_length=2000, description="Of the normalized URL")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[UrlShown]:
    after = decode("urls", cursor)
    chosen = UrlFilter(fetch_state, status, reason, prefix.lower() if prefix else None)
    found = tools.crawls.urls.list_urls(crawl.id, chosen, after[0] if after else None, limit + 1)
    until = encode("urls", found.looked_until) if found.looked_until else None
    return listed(found.rows, limit, UrlShown.of, lambda row: encode("urls", row.normalized_url), until)


@router.get(
    "/crawl/{crawl_id}/export",
    summary="A crawl's pages as they were then, streamed",
    response_class=Response,
    responses={
        200: {
            "description": "The file",
            "content": {each.media_type.partition(";")[0]: {} for each in FORMATS.values()},
        },
        **problems(404),
    },
)
def export_crawl(
    crawl: OwnCrawl,
    tools: Tools,
    format: Annotated[Format, Query(description="Of the file; `markdown_pages` is a JSON object a page")],  # noqa: A002
) -> Response:
    chosen = _SENT[format.value]
    rows = tools.pages.export.rows(crawl.id, chosen.rows)
    return stream(rows, chosen.render(rows), chosen.media_type, chosen.file_name)
