"""A page's content: markdown, stored HTML, screenshots, versions, and the diff between two versions.

Read by `adapters/pages/content.py`; markdown is made in `domain/markdown/page.py`, diffs in
`handlers/changes/compare_versions.py`.
"""

import re
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from crawler.domain.exports.files import as_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import (
    Cursor,
    Limit,
    decode_version,
    encode,
    listed,
)
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Flag, Listed, Wire
from crawler.entrypoints.http.streaming import stream

router = APIRouter(tags=["pages"])

_MARKDOWN = "text/markdown; charset=utf-8"
_TEXT = {"schema": {"type": "string"}}
_AS_TEXT: dict[int | str, dict[str, Any]] = {200: {"description": "The text", "content": {"text/markdown": _TEXT}}}
_BYTES = {"schema": {"type": "string", "format": "binary"}}
_OCTETS = "application/octet-stream"
_AS_BYTES: dict[int | str, dict[str, Any]] = {200: {"description": "The bytes", "content": {_OCTETS: _BYTES}}}
_AS_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The picture; as octets to who accepts only these",
        "content": {"image/png": _BYTES, _OCTETS: _BYTES},
    }
}
_PRINTABLE = re.compile(r"[^\x20-\x7e]")

WhichVersion = Annotated[UUID | None, Query(description="One of the page's versions; the newest when not given")]


class VersionShown(Wire):
    id: UUID
    crawl_id: UUID = Field(description="The crawl that met it first")
    title: str | None
    content_hash: str
    crawl_method: str | None
    final_url: str | None
    byte_length: int | None = Field(description="Null when its bytes were pruned")
    fetched_at: datetime


class DiffShown(Wire):
    from_version: UUID
    to_version: UUID
    added: int = Field(description="Lines of the page's markdown")
    removed: int
    unified: str = Field(description="As diff -u writes it; empty when the text did not change")
    exact: bool = Field(description="False: too much changed to look for the fewest lines that did")


@router.get(
    "/projects/{project_id}/markdown",
    summary="The whole site as one text, streamed",
    response_class=Response,
    responses={**_AS_TEXT, **problems(404)},
)
def get_project_markdown(project_id: OwnProject, tools: Tools) -> Response:
    tools.store.get_project(project_id)
    rows = tools.pages.content.project_markdown(project_id)
    return stream(rows, as_markdown(rows), _MARKDOWN, "site.md")


@router.get(
    "/projects/{project_id}/pages/{page_id}/markdown",
    summary="A page as markdown",
    response_class=Response,
    responses={**_AS_TEXT, **problems(404)},
)
def get_page_markdown(project_id: OwnProject, page_id: UUID, tools: Tools, version: WhichVersion = None) -> Response:
    snapshot = tools.pages.content.get_snapshot(project_id, page_id, version)
    markdown = tools.changes.show_markdown(snapshot, Pruning() if snapshot.prunes else None)
    return Response(markdown.encode("utf-8", "replace"), media_type=_MARKDOWN)


@router.get(
    "/projects/{project_id}/pages/{page_id}/snapshot",
    summary="A page's bytes as they came; to be kept, not to be shown",
    response_class=Response,
    responses={**_AS_BYTES, **problems(404)},
)
def get_page_snapshot(project_id: OwnProject, page_id: UUID, tools: Tools, version: WhichVersion = None) -> Response:
    """Somebody else's markup: no browser may run it as ours, so it is a download without a type."""
    snapshot = tools.pages.content.get_snapshot(project_id, page_id, version)
    headers = {
        "Content-Disposition": f'attachment; filename="{snapshot.version_id}.html"',
        "X-Original-Content-Type": _PRINTABLE.sub("?", snapshot.content_type)[:200],
        "X-Version-Id": str(snapshot.version_id),
    }
    return Response(snapshot.content, media_type=_OCTETS, headers=headers)


@router.get(
    "/projects/{project_id}/pages/{page_id}/screenshot",
    summary="How a page looked, as PNG; taken where `screenshots` asks for it",
    response_class=Response,
    responses={**_AS_PICTURE, **problems(404)},
)
def get_page_screenshot(
    request: Request,
    project_id: OwnProject,
    page_id: UUID,
    tools: Tools,
    version: WhichVersion = None,
    thumbnail: Annotated[Flag, Query(description="The top of the page, 320 pixels wide")] = False,
) -> Response:
    found = tools.pages.content.get_screenshot(project_id, page_id, version, thumbnail=thumbnail)
    headers = {
        "Content-Disposition": f'inline; filename="{found.version_id}.png"',
        "X-Version-Id": str(found.version_id),
    }
    wants_octets = request.headers.get("accept", "").partition(";")[0].strip() == _OCTETS
    return Response(found.image, media_type=_OCTETS if wants_octets else "image/png", headers=headers)


@router.get(
    "/projects/{project_id}/pages/{page_id}/versions",
    summary="A page's versions, newest first",
    responses=problems(404),
)
def list_page_versions(
    project_id: OwnProject, page_id: UUID, tools: Tools, cursor: Cursor = None, limit: Limit = 50
) -> Listed[VersionShown]:
    found = tools.pages.content.list_versions(project_id, page_id, decode_version(cursor), limit + 1)
    return listed(
        found,
        limit,
        lambda row: VersionShown(**row._asdict()),
        lambda row: encode("versions", row.fetched_at.isoformat(), str(row.id)),
    )


@router.get(
    "/projects/{project_id}/pages/{page_id}/diff",
    summary="What changed between two versions of a page",
    responses=problems(404),
)
def get_page_diff(
    project_id: OwnProject,
    page_id: UUID,
    tools: Tools,
    older: Annotated[UUID | None, Query(alias="from", description="A version; both or none")] = None,
    newer: Annotated[UUID | None, Query(alias="to", description="A version; default the newest two")] = None,
) -> DiffShown:
    found = tools.changes.compare_versions(project_id, page_id, older, newer)
    return DiffShown(from_version=found.from_version, to_version=found.to_version, **found.diff._asdict())
