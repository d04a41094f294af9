"""`/projects/{id}/pages`: list and read a project's pages as they were last fetched.

The query is in `adapters/pages/reader.py`.
"""

from datetime import datetime
from typing import Annotated
from urllib.parse import urljoin
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from crawler.domain.moments import ZonedMoment
from crawler.domain.pages.lists import PageFilter, PageRow
from crawler.domain.reasons import Reason
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import Cursor, Limit, decode, encode, listed
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Listed, PageStatus, Text, Wire

router = APIRouter(tags=["pages"])


class PageShown(Wire):
    """A page in a list: without its text and links."""

    id: UUID
    url: str
    normalized_url: str
    title: str | None
    h1: str | None
    meta_description: str | None
    word_count: int | None
    status: str = Field(description="success, failed or skipped")
    reason: str | None
    error_message: str | None
    http_status: int | None
    depth: int | None
    language: str | None
    crawl_method: str | None = Field(description="lightweight or crawl4ai")
    noindex: bool
    byte_length: int | None
    content_hash: str | None = Field(description="SHA-256 in hex")
    crawl_id: UUID | None = Field(description="The crawl that saw it last")
    crawled_at: datetime
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    last_changed_at: datetime | None

    @classmethod
    def of(cls, row: PageRow) -> "PageShown":
        return cls(**row._asdict())


class WholePageShown(PageShown):
    project_id: UUID
    content_text: str | None
    links_found: list[str]
    canonical_url: str | None
    etag: str | None
    last_modified: str | None
    version_id: UUID | None


@router.get("/projects/{project_id}/pages", summary="A project's pages, by URL", responses=problems(404))
def list_pages(
    project_id: OwnProject,
    tools: Tools,
    status: PageStatus | None = None,
    reason: Reason | None = None,
    changed_since: Annotated[ZonedMoment | None, Query(description="Whose content changed after this")] = None,
    prefix: Annotated[Text | None, Query(max_length=2000, description="Of the URL, or of its path (/docs)")] = None,
    q: Annotated[Text | None, Query(max_length=200, description="Words the title must have")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Listed[PageShown]:
    after = decode("pages", cursor)
    project = tools.store.get_project(project_id)
    if prefix and prefix.startswith("/") and project.website_url:
        prefix = urljoin(project.website_url, prefix)
    chosen = PageFilter(status, reason, changed_since, prefix.lower() if prefix else None, q)
    found = tools.pages.reader.list_pages(project_id, chosen, after[0] if after else None, limit + 1)
    until = encode("pages", found.looked_until) if found.looked_until else None
    return listed(found.rows, limit, PageShown.of, lambda row: encode("pages", row.normalized_url), until)


@router.get("/projects/{project_id}/pages/{page_id}", summary="One page with its text", responses=problems(404))
def get_page(project_id: OwnProject, page_id: UUID, tools: Tools) -> WholePageShown:
    page = tools.pages.reader.get_page(project_id, page_id)
    whole = page._asdict()
    return WholePageShown(**whole.pop("row")._asdict(), **whole)
