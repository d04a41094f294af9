"""Documents for those who read: the feed in its order, single ones, their chunks.

The order of the feed is given by `feed.py`. Search: `chunk_search.py`.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.documents.document import (
    ChangeKind,
    Document,
    DocumentChunk,
    DocumentCounts,
    FeedEntry,
    PageChange,
)

MOST_CHUNKS = 2000
"""In one part of the feed: a chunk is a kilobyte or two."""


class DocumentReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def feed(self, project_id: UUID, after: int, limit: int, *, with_chunks: bool = False) -> list[FeedEntry]:
        """What changed after this place, in the order in which it was committed. With chunks perhaps fewer."""
        given = {"project": project_id, "after": after, "limit": limit}
        with transaction(self._engine) as db:
            rows = db.execute(text(_FEED), given).all()
            entries = [FeedEntry(row.feed_seq, _document(row), change=_change(row)) for row in rows]
            if not with_chunks:
                return entries
            entries = _some(entries)
            chunks = _chunks_of(db, [entry.document.id for entry in entries])
        return [entry._replace(chunks=chunks.get(entry.document.id, [])) for entry in entries]

    def end(self, project_id: UUID) -> int:
        """The last place that was given in its feed."""
        with transaction(self._engine) as db:
            return int(db.execute(text(_END), {"project": project_id}).scalar_one_or_none() or 0)

    def has_after(self, project_id: UUID, after: int) -> bool:
        with transaction(self._engine) as db:
            return db.execute(text(_AFTER), {"project": project_id, "after": after}).first() is not None

    def find(self, document_id: UUID) -> Document | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE), {"id": document_id}).one_or_none()
        return _document(row) if row else None

    def chunks(self, document_id: UUID, after: int, limit: int) -> list[DocumentChunk]:
        """A document's chunks in their order, from the one behind this position."""
        given = {"id": document_id, "after": after, "limit": limit}
        with transaction(self._engine) as db:
            return [_chunk(row) for row in db.execute(text(_CHUNKS), given)]

    def counts(self, project_id: UUID) -> DocumentCounts:
        with transaction(self._engine) as db:
            return DocumentCounts(*db.execute(text(_COUNTS), {"project": project_id}).one())


def _some(entries: list[FeedEntry]) -> list[FeedEntry]:
    """As many documents as one answer can hold with all their chunks; one in any case."""
    held = 0
    for number, entry in enumerate(entries):
        held += entry.document.chunk_count
        if number and held > MOST_CHUNKS:
            return entries[:number]
    return entries


def _document(row: Row[Any]) -> Document:
    return Document.model_validate({name: getattr(row, name) for name in Document.model_fields})


def _change(row: Row[Any]) -> PageChange | None:
    crawl_id = row.deleted_by if row.deleted_at else row.by_crawl
    if crawl_id is None:
        return None
    kind = ChangeKind.REMOVED if row.deleted_at else ChangeKind.CHANGED if row.previous_id else ChangeKind.NEW
    previous = None if row.deleted_at else row.previous_id
    return PageChange(kind=kind, crawl_id=crawl_id, version_id=row.version_id, previous_version_id=previous)


def _chunk(row: Row[Any]) -> DocumentChunk:
    return DocumentChunk.model_validate({name: getattr(row, name) for name in DocumentChunk.model_fields})


def _chunks_of(db: Connection, ids: Sequence[UUID]) -> dict[UUID, list[DocumentChunk]]:
    found: dict[UUID, list[DocumentChunk]] = {}
    for row in db.execute(text(_ALL_CHUNKS), {"ids": list(ids)}):
        found.setdefault(row.document_id, []).append(_chunk(row))
    return found


_OWN = {"content_hash": "encode(content_hash, 'hex') AS content_hash"}
_COLUMNS = ", ".join(_OWN.get(name, name) for name in Document.model_fields)
_FEED = f"""
SELECT d.*, v.crawl_id AS by_crawl, before.id AS previous_id
FROM (SELECT feed_seq, deleted_by, {_COLUMNS} FROM documents WHERE project_id = :project AND feed_seq > :after
      ORDER BY project_id, feed_seq LIMIT :limit) d
LEFT JOIN page_versions v ON v.id = d.version_id
LEFT JOIN LATERAL (
    SELECT p.id FROM page_versions p WHERE p.page_id = v.page_id AND p.fetched_at < v.fetched_at
    ORDER BY p.fetched_at DESC LIMIT 1
) before ON true
ORDER BY d.feed_seq
"""  # noqa: S608 - our own names
_END = "SELECT last_seq FROM document_feeds WHERE project_id = :project"
_AFTER = "SELECT 1 FROM documents WHERE project_id = :project AND feed_seq > :after LIMIT 1"
_ONE = f"SELECT {_COLUMNS} FROM documents WHERE id = :id"  # noqa: S608 - our own names
_CHUNK = "id, document_id, position, headings, content, token_count, embedding IS NOT NULL AS embedded"
_CHUNKS = f"""
SELECT {_CHUNK} FROM document_chunks WHERE document_id = :id AND position > :after ORDER BY position LIMIT :limit
"""  # noqa: S608 - our own names
_ALL_CHUNKS = f"""
SELECT {_CHUNK} FROM document_chunks WHERE document_id = ANY(:ids) ORDER BY document_id, position
"""  # noqa: S608 - our own names
_COUNTS = """
SELECT count(*) FILTER (WHERE status = 'pending'),
    count(*) FILTER (WHERE status = 'ingested' AND deleted_at IS NULL),
    count(*) FILTER (WHERE status = 'failed'),
    count(*) FILTER (WHERE deleted_at IS NOT NULL),
    coalesce(sum(chunk_count), 0),
    count(*) FILTER (WHERE embed_at IS NOT NULL)
FROM documents WHERE project_id = :project
"""
