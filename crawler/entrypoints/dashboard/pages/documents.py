"""`/projects/{id}/documents`: pages as documents, their chunks, and search over them.

The list is in `adapters/documents/listing.py`; search is in `handlers/documents/search_documents.py`.
"""

from typing import Annotated, Any
from urllib.parse import urljoin
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.documents.listing import STATES, DocumentFilter
from crawler.domain.crawls.project import Project
from crawler.domain.documents.search_limits import LONGEST_QUERY
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import InvalidCursor, decode, encode
from crawler.entrypoints.http.shapes import Text
from crawler.errors import NotFound

router = APIRouter()

SHOWN = 50
CHUNKS = 20
HITS = 30
Cursor = Annotated[Text | None, Query(max_length=8000)]
Prefix = Annotated[Text, Query(max_length=2000)]


@router.get("/projects/{project_id}/documents")
def documents(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    state: Annotated[Text, Query(max_length=20)] = "",
    prefix: Prefix = "",
    cursor: Cursor = None,
) -> Response:
    project, after = tools.store.get_project(project_id), decode("document list", cursor)
    state = state if state in STATES else ""
    wanted = DocumentFilter(state, _key_prefix(prefix, project))
    rows = tools.documents.listing(project_id, wanted, after[0] if after else None, SHOWN + 1)
    shared: dict[str, Any] = {
        "project": project,
        "rows": rows[:SHOWN],
        "following": encode("document list", rows[SHOWN - 1].normalized_url) if len(rows) > SHOWN else None,
        "filters": {"state": state, "prefix": prefix.strip()},
        "first": cursor is None,
    }
    if is_part(request):
        return page(request, "parts/document_rows.html", **shared)
    return page(
        request,
        "documents.html",
        here="documents",
        counts=tools.documents.reader.counts(project_id),
        vectors=tools.documents.embed.is_wanted(),
        q="",
        **shared,
    )


@router.get("/projects/{project_id}/documents/{document_id}")
def document(
    request: Request, project_id: OwnProject, document_id: UUID, tools: Tools, cursor: Cursor = None
) -> Response:
    project, found = tools.store.get_project(project_id), tools.documents.reader.find(document_id)
    if found is None or found.project_id != project_id:
        raise NotFound(f"There is no document {document_id}.")
    after = decode("document chunks", cursor)
    if after and not (after[0].isascii() and after[0].isdigit() and len(after[0]) < 10):
        raise InvalidCursor
    chunks = tools.documents.reader.chunks(document_id, int(after[0]) if after else -1, CHUNKS + 1)
    return page(
        request,
        "parts/chunk_list.html" if is_part(request) else "document.html",
        here="documents",
        project=project,
        document=found,
        chunks=chunks[:CHUNKS],
        following=encode("document chunks", str(chunks[CHUNKS - 1].position)) if len(chunks) > CHUNKS else None,
        vectors=tools.documents.embed.is_wanted(),
    )


@router.get("/projects/{project_id}/search")
def search(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    q: Annotated[Text, Query(max_length=LONGEST_QUERY)] = "",
    prefix: Prefix = "",
) -> Response:
    project, words = tools.store.get_project(project_id), q.strip()
    key = _key_prefix(prefix, project)
    return page(
        request,
        "parts/search_hits.html" if is_part(request) else "search.html",
        here="documents",
        project=project,
        answer=tools.documents.search(project_id, words, limit=HITS, prefix=key) if words else None,
        counts=None if is_part(request) else tools.documents.reader.counts(project_id),
        vectors=tools.documents.embed.is_wanted(),
        q=words,
        prefix=prefix.strip(),
        most=HITS,
    )


def _key_prefix(prefix: str, project: Project) -> str | None:
    """The URL prefix to filter by, from a path such as /docs or a whole URL."""
    wanted = prefix.strip()
    if wanted.startswith("/") and project.website_url:
        wanted = urljoin(project.website_url, wanted)
    return wanted.lower() or None
