"""`/projects/{id}/pages/{page_id}`: one page with fields, text, markdown, versions, links, and its HTML source.

Links to and from it: `adapters/pages/neighbours.py`. Versions: `adapters/pages/content.py`. Markdown:
`domain/markdown/page.py`.
"""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.pages.neighbours import MOST_LOOKED_AT
from crawler.bootstrap import App
from crawler.domain.crawls.project import Project
from crawler.domain.explaining.url_explanation import SOURCE_WORDS
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.lists import WholePage
from crawler.domain.urls.keys import keys_of
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import decode, decode_version, encode
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid, NotFound

router = APIRouter()

VERSIONS = 50
MOST_TEXT = 40_000
MOST_SOURCE = 100_000
"""Characters of source that are shown; the API has the whole text."""
NOT_KEPT = "Nothing of this page was stored, or this version of it is no longer kept."
Cursor = Annotated[Text | None, Query(max_length=8000)]
Version = Annotated[UUID | None, Query()]


@router.get("/projects/{project_id}/pages/{page_id}")
def one_page(request: Request, project_id: OwnProject, page_id: UUID, tools: Tools) -> Response:
    found = tools.pages.reader.get_page(project_id, page_id)
    crawl_id = found.row.crawl_id
    finder = tools.pages.neighbours.finder(crawl_id, found.row.normalized_url) if crawl_id else None
    version = tools.changes.compared_pages.versions(project_id, page_id, [found.version_id]) if found.version_id else []
    return page(
        request,
        "one_page.html",
        finder=finder,
        sources=SOURCE_WORDS,
        parent_id=_id_of(tools, project_id, finder.parent) if finder and finder.parent else None,
        picture=version[0].picture if version else None,
        most=MOST_TEXT,
        **around(tools, project_id, found, "page"),
    )


@router.get("/projects/{project_id}/pages/{page_id}/markdown")
def markdown(
    request: Request, project_id: OwnProject, page_id: UUID, tools: Tools, version: Version = None
) -> Response:
    found = tools.pages.reader.get_page(project_id, page_id)
    text, why_not = None, None
    try:
        snapshot = tools.pages.content.get_snapshot(project_id, page_id, version)
        text = tools.changes.show_markdown(snapshot, Pruning() if snapshot.prunes else None)
    except NotFound:
        why_not = NOT_KEPT
    except Invalid as exc:
        why_not = exc.message
    return page(
        request,
        "page_text.html",
        text=text,
        why_not=why_not,
        shown_version=version,
        most=MOST_TEXT,
        file="markdown",
        **around(tools, project_id, found, "markdown"),
    )


@router.get("/projects/{project_id}/pages/{page_id}/source")
def source(request: Request, project_id: OwnProject, page_id: UUID, tools: Tools, version: Version = None) -> Response:
    """Somebody else's markup, as text and nothing else."""
    found = tools.pages.reader.get_page(project_id, page_id)
    text, why_not = None, None
    try:
        snapshot = tools.pages.content.get_snapshot(project_id, page_id, version)
        # A character has at most four bytes: read no more than is shown.
        decoded, _charset = to_utf8(snapshot.content[: MOST_SOURCE * 4], snapshot.content_type)
        text = decoded.decode("utf-8", "replace")
    except NotFound:
        why_not = NOT_KEPT
    return page(
        request,
        "page_text.html",
        text=text,
        why_not=why_not,
        shown_version=version,
        most=MOST_SOURCE,
        file="snapshot",
        **around(tools, project_id, found, "source"),
    )


@router.get("/projects/{project_id}/pages/{page_id}/versions")
def versions(request: Request, project_id: OwnProject, page_id: UUID, tools: Tools, cursor: Cursor = None) -> Response:
    found = tools.pages.reader.get_page(project_id, page_id)
    rows = tools.pages.content.list_versions(project_id, page_id, decode_version(cursor), VERSIONS + 1)
    last = rows[VERSIONS - 1] if len(rows) > VERSIONS else None
    shown = rows[:VERSIONS]
    pictures = {
        one.id
        for one in tools.changes.compared_pages.versions(project_id, page_id, [row.id for row in shown])
        if one.picture
    }
    return page(
        request,
        "parts/version_rows.html" if is_part(request) else "page_versions.html",
        rows=shown,
        pictures=pictures,
        first=cursor is None,
        following=encode("versions", last.fetched_at.isoformat(), str(last.id)) if last else None,
        **around(tools, project_id, found, "versions"),
    )


@router.get("/projects/{project_id}/pages/{page_id}/links")
def links(request: Request, project_id: OwnProject, page_id: UUID, tools: Tools) -> Response:
    found = tools.pages.reader.get_page(project_id, page_id)
    project = tools.store.get_project(project_id)
    outgoing = tools.pages.neighbours.outgoing(page_id)
    key_of = keys_of(project.settings)
    keyed = [(link, key_of(link.url)) for link in outgoing.links]
    known = tools.pages.neighbours.known(project_id, sorted({key for _, key in keyed if key}))
    finder = tools.pages.neighbours.finder(found.row.crawl_id, found.row.normalized_url) if found.row.crawl_id else None
    return page(
        request,
        "page_links.html",
        links=[(link, known.get(key) if key else None) for link, key in keyed],
        total=outgoing.total,
        finder=finder,
        parent_id=_id_of(tools, project_id, finder.parent) if finder and finder.parent else None,
        sources=SOURCE_WORDS,
        at_once=MOST_LOOKED_AT,
        **around(tools, project_id, found, "links", project),
    )


@router.get("/projects/{project_id}/pages/{page_id}/links-in")
def links_in(
    request: Request,
    project_id: OwnProject,
    page_id: UUID,
    tools: Tools,
    cursor: Cursor = None,
    looked: Annotated[int, Query(ge=0, le=100_000_000)] = 0,
) -> Response:
    """Looks through so many pages at a time, so it is asked for apart and says how far it looked."""
    found = tools.pages.reader.get_page(project_id, page_id)
    after = decode("links-in", cursor)
    part = tools.pages.neighbours.incoming(project_id, page_id, _spellings(found), after[0] if after else None)
    return page(
        request,
        "parts/links_in.html" if is_part(request) else "page_links_in.html",
        rows=part.pages,
        looked=looked + part.looked_at,
        first=cursor is None,
        following=encode("links-in", part.looked_until) if part.looked_until else None,
        **around(tools, project_id, found, "links"),
    )


def around(tools: App, project_id: UUID, found: WholePage, here: str, project: Project | None = None) -> dict[str, Any]:
    return {"here": here, "project": project or tools.store.get_project(project_id), "found": found}


def _id_of(tools: App, project_id: UUID, url: str) -> UUID | None:
    key = keys_of(tools.store.get_project(project_id).settings)(url)
    return tools.pages.neighbours.known(project_id, [key]).get(key) if key else None


def _spellings(found: WholePage) -> list[str]:
    """Spellings of the page's URL in other pages' links: as fetched and normalized, with and without the last slash."""
    urls = [found.row.url, found.row.normalized_url]
    bare = [url.rstrip("/") for url in urls]
    return [*urls, *bare, *(f"{url}/" for url in bare)]
