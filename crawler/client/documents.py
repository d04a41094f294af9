"""Client for documents: their change feed, text in chunks, and search."""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from crawler.client.connection import LIST_PART, Connection, given, path
from crawler.client.errors import NotAService
from crawler.client.value import Value, read


class Document(Value):
    id: UUID
    project_id: UUID
    page_id: UUID | None
    url: str
    normalized_url: str
    title: str | None
    language: str | None
    status: str
    """The status: pending, ingested or failed."""
    error_message: str | None
    content_hash: str | None
    version_id: UUID | None
    chunk_count: int
    token_count: int
    embedded_with: str | None
    embedding_error: str | None
    created_at: datetime
    ingested_at: datetime | None
    deleted_at: datetime | None


class Chunk(Value):
    id: UUID
    position: int
    headings: tuple[str, ...]
    content: str
    token_count: int
    embedded: bool


class PageChange(Value):
    """What changed on a document's page, so that the document did."""

    kind: str
    """new, changed or removed."""
    crawl_id: UUID
    version_id: UUID | None
    previous_version_id: UUID | None


class DocumentChange(Value):
    type: str
    """The type of the change: upsert or delete."""
    document: Document
    change: PageChange | None = None
    """The change of its page that caused it; None if it is no longer known."""
    chunks: tuple[Chunk, ...] | None
    """The document's chunks, if they were requested."""


class DocumentFeed(Value):
    items: tuple[DocumentChange, ...]
    next_cursor: str
    has_more: bool


class DocumentCounts(Value):
    pending: int
    ingested: int
    failed: int
    removed: int
    chunks: int
    without_vectors: int
    vectors: bool


class SnippetPart(Value):
    text: str
    match: bool


class SearchHit(Value):
    chunk_id: UUID
    document_id: UUID
    url: str
    title: str | None
    language: str | None
    position: int
    headings: tuple[str, ...]
    content: str
    snippet: tuple[SnippetPart, ...]
    score: float


class SearchHits(Value):
    items: tuple[SearchHit, ...]
    mode: str
    """The search mode: text (words only) or hybrid (words and vectors)."""
    note: str | None


class Documents:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def changes(
        self, project_id: UUID | str, after: str | None = None, *, chunks: bool = False, limit: int = LIST_PART
    ) -> DocumentFeed:
        """One part of the feed; keep its `next_cursor` and give it next time.

        >>> part = client.documents.changes(project.id, after=cursor, chunks=True)
        >>> for change in part.items:
        ...     index.delete(change.document.id) if change.type == "delete" else index.put(change)
        >>> cursor = part.next_cursor
        """
        asked = given(after=after, include="chunks" if chunks else None, limit=limit)
        return read(DocumentFeed, self._connection.get(path("projects", project_id, "documents"), **asked))

    def of(self, project_id: UUID | str, *, chunks: bool = False) -> Iterator[DocumentChange]:
        """The whole feed as far as it is now."""
        after = None
        while True:
            part = self.changes(project_id, after, chunks=chunks)
            yield from part.items
            after = part.next_cursor
            if not part.has_more:
                return
            if not part.items:
                raise NotAService("The feed of documents gives nothing, but says again and again that there is more.")

    def counts(self, project_id: UUID | str) -> DocumentCounts:
        return read(DocumentCounts, self._connection.get(path("projects", project_id, "documents", "counts")))

    def get(self, document_id: UUID | str) -> Document:
        return read(Document, self._connection.get(path("documents", document_id)))

    def chunks(self, document_id: UUID | str) -> Iterator[Chunk]:
        return self._connection.listed(path("documents", document_id, "chunks"), Chunk)

    def search(self, project_id: UUID | str, words: str, *, prefix: str | None = None, limit: int = 10) -> SearchHits:
        """The best chunks first; `prefix` of the URL, or of its path.

        >>> for hit in client.documents.search(project.id, "opening hours").items:
        ...     print(hit.url, hit.headings)
        """
        asked = given(q=words, prefix=prefix, limit=limit)
        return read(SearchHits, self._connection.get(path("projects", project_id, "search"), **asked))
