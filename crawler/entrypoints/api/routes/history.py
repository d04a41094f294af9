"""`/projects/{id}/crawl-history`: a project's earlier crawls, and the changes each of them found.

The comparison is made by `handlers/changes/diff_crawl.py`, and described by `describe_changes.py` beside it.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from crawler.domain.changes.summary import MOST_TEXT_LINES, MOST_TEXT_PAGES, CrawlChanges, ShortChanges
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import Cursor, Limit, decode_id, encode, listed
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Listed, Wire
from crawler.errors import NotFound

router = APIRouter(tags=["history"])


class PastCrawl(Wire):
    id: UUID
    project_id: UUID
    crawl_type: str
    started_at: datetime | None
    completed_at: datetime | None
    status: str
    pages_crawled: int
    change_summary: ShortChanges | None = Field(description="Null when there was nothing to compare it with")
    error_message: str | None

    @classmethod
    def of(cls, crawl: CrawlJob) -> "PastCrawl":
        own = crawl.model_dump(mode="json", include=set(cls.model_fields))
        return cls.model_validate(own)


class ChangesInclude(StrEnum):
    PAGES = "pages"
    TEXT = "text"


@router.get("/projects/{project_id}/crawl-history", summary="Crawls, newest first", responses=problems(404))
def list_crawl_history(
    project_id: OwnProject, tools: Tools, cursor: Cursor = None, limit: Limit = 50
) -> Listed[PastCrawl]:
    before = decode_id("crawls", cursor)
    tools.store.get_project(project_id)
    found = tools.store.list_crawls(project_id, limit + 1, before)
    return listed(found, limit, PastCrawl.of, lambda row: encode("crawls", str(row.id)))


@router.get(
    "/projects/{project_id}/crawl-history/{crawl_id}/changes",
    response_model=CrawlChanges,
    summary="What a crawl found changed",
    responses=problems(404),
)
def get_crawl_changes(
    project_id: OwnProject,
    crawl_id: Annotated[UUID, Path()],
    caller: Caller,
    tools: Tools,
    include: Annotated[
        ChangesInclude | None, Query(description="The changed pages' ids and versions, or what changed in their text")
    ] = None,
    text_pages: Annotated[
        int, Query(ge=1, le=MOST_TEXT_PAGES, description="With include=text: so many changed pages")
    ] = 20,
    text_lines: Annotated[
        int, Query(ge=1, le=MOST_TEXT_LINES, description="With include=text: so many changed lines of each")
    ] = 10,
) -> Response:
    crawl = tools.store.find_crawl(crawl_id)
    if crawl is None or crawl.project_id != project_id or not caller.sees(project_id):
        raise NotFound(f"There is no crawl {crawl_id} of project {project_id}.")
    describe = tools.changes.describe
    if include is ChangesInclude.TEXT:
        found = describe.with_texts(crawl, text_pages, text_lines)
    else:
        found = describe(crawl, pages=include is ChangesInclude.PAGES)
    # Made here, in a thread: it names every page of a site.
    return Response(found.model_dump_json(by_alias=True), media_type="application/json")
