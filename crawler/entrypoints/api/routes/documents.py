"""`/projects/{id}/documents`, `/documents/{id}`, `/projects/{id}/search`: pages as documents, and search.

The feed is read by `adapters/documents/reader.py`; search is in `handlers/documents/search_documents.py`.
"""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import urljoin
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query
from pydantic import ConfigDict, Field

from crawler.domain.documents.document import Document, DocumentChunk, DocumentStatus, FeedEntry, PageChange
from crawler.domain.documents.search_limits import LONGEST_QUERY, MOST_HITS
from crawler.domain.documents.searching import SearchHit
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import (
    Cursor,
    InvalidCursor,
    Limit,
    as_number,
    decode,
    decode_number,
    encode,
    listed,
)
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Listed, Text, Wire
from crawler.errors import NotFound

router = APIRouter(tags=["documents"])

OF_ANOTHER = "This cursor is of another project's feed; leave it out to read this one from the beginning."
BEYOND_END = (
    "This cursor is beyond the end of the feed, as after a restore from a backup; "
    "leave it out and read the feed from the beginning."
)


class ChunkShown(Wire):
    id: UUID = Field(description="Stays while its text and headings do")
    position: int
    headings: list[str] = Field(description="Those above it, outermost first")
    content: str
    token_count: int = Field(description="Estimated")
    embedded: bool = Field(description="Whether it has a vector")

    @classmethod
    def of(cls, chunk: DocumentChunk) -> "ChunkShown":
        return cls.model_validate(chunk.model_dump())


class DocumentShown(Wire):
    id: UUID
    project_id: UUID
    page_id: UUID | None
    url: str
    normalized_url: str
    title: str | None
    language: str | None
    status: DocumentStatus = Field(description="pending also while a newer version of its page waits")
    error_message: str | None
    content_hash: str | None = Field(description="Of the page it was made of: SHA-256 in hex")
    version_id: UUID | None = Field(description="The version of the page it was made of")
    chunk_count: int
    token_count: int
    embedded_with: str | None = Field(description="The model of its vectors, once all its chunks have one")
    embedding_error: str | None = Field(description="Why it has no vectors yet")
    created_at: datetime
    ingested_at: datetime | None
    deleted_at: datetime | None = Field(description="When its page was found to be gone")

    @classmethod
    def of(cls, document: Document) -> "DocumentShown":
        return cls.model_validate(document.model_dump())


class ChangeType(StrEnum):
    UPSERT = "upsert"
    DELETE = "delete"


class DocumentChange(Wire):
    type: ChangeType = Field(description="upsert: as it is now; delete: its page is gone")
    document: DocumentShown
    change: PageChange | None = Field(description="Of the page, that caused it; null if it is no longer known")
    chunks: list[ChunkShown] | None = Field(description="With include=chunks: all it has now")

    @classmethod
    def of(cls, entry: FeedEntry) -> "DocumentChange":
        gone = entry.document.deleted_at is not None
        return cls(
            type=ChangeType.DELETE if gone else ChangeType.UPSERT,
            document=DocumentShown.of(entry.document),
            change=entry.change,
            chunks=None if entry.chunks is None else [ChunkShown.of(chunk) for chunk in entry.chunks],
        )


class DocumentFeed(Wire):
    items: list[DocumentChange]
    next_cursor: str = Field(description="Give it as `after` next time, also when nothing is left now")
    has_more: bool = Field(description="Whether there is more already")


class CountsShown(Wire):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "pending": 2, "ingested": 48, "failed": 0, "removed": 1, "chunks": 391, "without_vectors": 0,
                "vectors": False,
            }
        }
    )  # fmt: skip

    pending: int
    ingested: int
    failed: int
    removed: int
    chunks: int
    without_vectors: int = Field(description="Documents whose vectors are due")
    vectors: bool = Field(description="Whether an embedding service is set and the database can hold vectors")


class SearchHits(Wire):
    items: list[SearchHit]
    mode: str = Field(description="text; or hybrid, where vectors had a say")
    note: str | None = Field(description="Why vectors had none, if they should have")


class Included(StrEnum):
    CHUNKS = "chunks"


def _document(
    document_id: Annotated[UUID, Path(description="The document's id")], caller: Caller, tools: Tools
) -> Document:
    document = tools.documents.reader.find(document_id)
    if document is None or not caller.sees(document.project_id):
        raise NotFound(f"There is no document {document_id}.")
    return document


OwnDocument = Annotated[Document, Depends(_document)]


@router.get(
    "/projects/{project_id}/documents",
    summary="What changed among a project's documents",
    description=(
        "Documents in the order in which they were made, changed or taken out; each stands where it changed last. "
        "Begin without `after`, go on with `next_cursor`: whoever does so misses nothing, and meets a document again "
        "when it changes."
    ),
    responses=problems(404),
)
def read_document_feed(
    project_id: OwnProject,
    tools: Tools,
    after: Annotated[Text | None, Query(max_length=8000, description="`next_cursor` of the part before")] = None,
    include: Annotated[Included | None, Query(description="chunks: with their text; parts may be shorter then")] = None,
    limit: Limit = 50,
) -> DocumentFeed:
    place = _place(project_id, after)
    tools.store.get_project(project_id)
    if place > tools.documents.reader.end(project_id):
        raise InvalidCursor(BEYOND_END)
    found = tools.documents.reader.feed(project_id, place, limit + 1, with_chunks=include is Included.CHUNKS)
    shown = found[:limit]
    last = shown[-1].seq if shown else place
    return DocumentFeed(
        items=[DocumentChange.of(entry) for entry in shown],
        next_cursor=encode("documents", str(project_id), str(last)),
        has_more=bool(shown) and (len(found) > limit or tools.documents.reader.has_after(project_id, last)),
    )


@router.get(
    "/projects/{project_id}/documents/counts", summary="How many documents a project has", responses=problems(404)
)
def count_documents(project_id: OwnProject, tools: Tools) -> CountsShown:
    tools.store.get_project(project_id)
    counts = tools.documents.reader.counts(project_id)._asdict()
    return CountsShown(**counts, vectors=tools.documents.embed.is_wanted())


@router.get("/documents/{document_id}", summary="One document", responses=problems(404))
def get_document(document: OwnDocument) -> DocumentShown:
    return DocumentShown.of(document)


@router.get("/documents/{document_id}/chunks", summary="A document's text in chunks", responses=problems(404))
def list_document_chunks(
    document: OwnDocument, tools: Tools, cursor: Cursor = None, limit: Limit = 50
) -> Listed[ChunkShown]:
    after = decode_number("chunks", cursor, first=-1)
    found = tools.documents.reader.chunks(document.id, after, limit + 1)
    return listed(found, limit, ChunkShown.of, lambda chunk: encode("chunks", str(chunk.position)))


@router.get(
    "/projects/{project_id}/search",
    summary="Search a project's documents",
    description=(
        'Words, "a phrase", OR and -without, as in web searches, in the language of each document. Where an embedding '
        "service is set, what means the same is found, too. At most three chunks of one document."
    ),
    responses=problems(404),
)
def search_documents(
    project_id: OwnProject,
    tools: Tools,
    q: Annotated[Text, Query(min_length=1, max_length=LONGEST_QUERY, description="What to look for")],
    prefix: Annotated[Text | None, Query(max_length=2000, description="Of the URL, or of its path (/docs)")] = None,
    limit: Annotated[int, Query(ge=1, le=MOST_HITS, description="How many at most")] = 10,
) -> SearchHits:
    project = tools.store.get_project(project_id)
    if prefix and prefix.startswith("/") and project.website_url:
        prefix = urljoin(project.website_url, prefix)
    answer = tools.documents.search(project_id, q, limit=limit, prefix=prefix.lower() if prefix else None)
    return SearchHits(items=list(answer.hits), mode=answer.mode, note=answer.note)


def _place(project_id: UUID, after: str | None) -> int:
    """The position in this project's document feed. A cursor of another project is refused: it would skip documents."""
    found = decode("documents", after, 2)
    if found is None:
        return 0
    if found[0] != str(project_id):
        raise InvalidCursor(OF_ANOTHER)
    return as_number(found[1])
