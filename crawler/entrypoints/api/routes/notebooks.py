"""`/notebooks/{id}/crawl`: projects and their crawls, under the names that notebook clients use.

Crawls are started by `handlers/crawls/start_crawl.py`, with the settings of `domain/crawls/source_crawl.py`.
"""

from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import ConfigDict

from crawler.domain.crawls.source_crawl import SourceCrawl
from crawler.entrypoints.api.shapes.crawl import CrawlShown
from crawler.entrypoints.http.access import OwnNotebook, Tools
from crawler.entrypoints.http.cursors import Cursor, Limit, decode_id, encode, listed
from crawler.entrypoints.http.idempotency import DoOnce
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Wire

router = APIRouter(tags=["notebooks"])


class NotebookCrawl(SourceCrawl, Body):
    model_config = ConfigDict(json_schema_extra={"example": {"url": "https://example.org/", "max_depth": 2}})


class JobId(Wire):
    id: UUID


@router.post(
    "/notebooks/{notebook_id}/crawl",
    status_code=201,
    response_model=JobId,
    summary="Start a crawl of a notebook",
    responses=problems(404, 409),
)
def start_notebook_crawl(notebook_id: OwnNotebook, body: NotebookCrawl, tools: Tools, once: DoOnce) -> Response:
    def start() -> JobId:
        tools.hints.ping()
        crawl = tools.crawls.start(notebook_id, seed_url=body.url, config=body.config(), idempotency_key=once.crawl_key)
        return JobId(id=crawl.id)

    return once(body, start, 201)


@router.get("/notebooks/{notebook_id}/crawl", summary="A notebook's crawls, newest first", responses=problems(404))
def list_notebook_crawls(
    notebook_id: OwnNotebook, tools: Tools, cursor: Cursor = None, limit: Limit = 50
) -> Listed[CrawlShown]:
    before = decode_id("crawls", cursor)
    tools.store.get_project(notebook_id)
    found = tools.store.list_crawls(notebook_id, limit + 1, before)
    return listed(found, limit, CrawlShown.of, lambda row: encode("crawls", str(row.id)))
