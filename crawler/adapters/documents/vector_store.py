"""Vectors of chunks, in Postgres with pgvector. Kept as plain numbers: a server without it has the same tables.

When vectors are made: `handlers/documents/embed_documents.py`. The search by them: `chunk_search.py`.
"""

import hashlib
import time
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from psycopg2.extras import execute_values
from sqlalchemy import Engine

from crawler.adapters.documents.feed import move_to_end
from crawler.adapters.engine.document_locks import hold_documents
from crawler.adapters.postgres.database import again_after_deadlock, cursor, transaction
from crawler.adapters.postgres.fair_claim import FairClaim
from crawler.domain.documents.embedding import Vector, vector_kind

LOOK_SECONDS = 60
FIRST_WAIT_SECONDS = 30
LONGEST_WAIT_SECONDS = 3600
_LOCK = 0x7665_6374
"""Any constant: an index is made by one process."""


class Unembedded(NamedTuple):
    chunk_id: UUID
    document_id: UUID
    headings: Sequence[str]
    content: str


class VectorStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._available: tuple[bool, float] | None = None
        self._prepared: set[str] = set()

    def available(self) -> bool:
        """Whether this database has pgvector; looked at anew now and then, an operator may add it."""
        known = self._available
        if known is None or (not known[0] and time.monotonic() - known[1] > LOOK_SECONDS):
            with transaction(self._engine) as connection, cursor(connection) as db:
                db.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
                known = self._available = (db.fetchone() is not None, time.monotonic())
        return known[0]

    def prepare(self, model: str, dimension: int) -> None:
        """An index for this model's vectors, before there are any: then it is made in no time."""
        if model in self._prepared:
            return
        name = "ix_document_chunks_vector_" + hashlib.sha256(model.encode()).hexdigest()[:12]
        kind = vector_kind(dimension)
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute("SELECT to_regclass(%s)", (name,))
            if db.fetchone() == (None,):
                db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                db.execute(_INDEX.format(name=name, kind=kind, dimension=dimension), (model,))
        self._prepared.add(model)

    def any_of(self, project_id: UUID, model: str) -> bool:
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_ANY, (project_id, model))
            return db.fetchone() is not None

    def claim(self, most: int, lease_seconds: float) -> list[UUID]:
        """Documents whose vectors are due, for a while nobody else's."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            return [found for (found,) in _CLAIM(db, "embed_at <= now()", most, lease_seconds)]

    def missing(self, document_ids: Sequence[UUID], model: str) -> list[Unembedded]:
        """What has a vector of this model keeps it."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_MISSING, (list(document_ids), model))
            return [Unembedded(*row) for row in db]

    @again_after_deadlock
    def keep(self, model: str, vectors: Sequence[tuple[UUID, Vector]]) -> None:
        """A chunk's id is made of its text: one that is there is the one the vector was made of."""
        rows = sorted((chunk_id, list(vector), model) for chunk_id, vector in vectors)
        if not rows:
            return
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_DOCUMENTS_OF, ([chunk_id for chunk_id, *_ in rows],))
            hold_documents(db, [found for (found,) in db])
            execute_values(db, _KEEP, rows, template="(%s::uuid, %s::real[], %s)", page_size=len(rows))

    @again_after_deadlock
    def finish(self, document_ids: Sequence[UUID], model: str) -> int:
        """Documents that lack no vector any more go to the end of the feed."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            hold_documents(db, document_ids)
            db.execute(_FINISH, (model, list(document_ids), model))
            done = [(project, found) for project, found in db]
            move_to_end(db, done)
            db.execute(_TOLD, (model, [project for project, _ in done]))
        return len(done)

    @again_after_deadlock
    def put_back(self, document_ids: Sequence[UUID]) -> None:
        """Documents that were claimed and are not finished are due at once."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            hold_documents(db, document_ids)
            db.execute(_PUT_BACK, (list(document_ids),))

    @again_after_deadlock
    def put_off(self, document_ids: Sequence[UUID], why: str) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            hold_documents(db, document_ids)
            db.execute(_PUT_OFF, (FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS, why[:2000], list(document_ids)))

    def count_due(self) -> int:
        """Up to a few."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_DUE)
            row = db.fetchone()
        return int(row[0]) if row else 0

    def renew(self, model: str) -> int:
        """Documents without vectors of this model: made before it was chosen."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_RENEW, (model,))
            return int(db.rowcount)


_INDEX = """
CREATE INDEX IF NOT EXISTS {name} ON document_chunks
USING hnsw ((embedding::{kind}({dimension})) {kind}_cosine_ops) WHERE embedded_with = %s
"""
_ANY = "SELECT 1 FROM document_feeds WHERE project_id = %s AND embedded_with = %s"
_CLAIM = FairClaim(
    "documents",
    "project_id",
    waiting="embed_at IS NOT NULL",
    order="embed_at",
    changes="embed_at = now() + make_interval(secs => %s), embed_tries = least(embed_tries + 1, 100)",
)
_MISSING = """
SELECT id, document_id, headings, content FROM document_chunks
WHERE document_id = ANY(%s) AND embedded_with IS DISTINCT FROM %s ORDER BY document_id, position
"""
_DOCUMENTS_OF = "SELECT DISTINCT document_id FROM document_chunks WHERE id = ANY(%s)"
_KEEP = """
UPDATE document_chunks c SET embedding = v.vector, embedded_with = v.model
FROM (VALUES %s) AS v(id, vector, model) WHERE c.id = v.id
"""
_FINISH = """
UPDATE documents d SET embedded_with = %s, embed_at = NULL, embed_tries = 0, embedding_error = NULL, updated_at = now()
WHERE d.id = ANY(%s) AND d.embed_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM document_chunks c WHERE c.document_id = d.id AND c.embedded_with IS DISTINCT FROM %s)
RETURNING d.project_id, d.id
"""
_TOLD = "UPDATE document_feeds SET embedded_with = %s WHERE project_id = ANY(%s)"
_PUT_OFF = """
UPDATE documents
SET embed_at = now() + make_interval(secs => least(%s * power(2, least(embed_tries - 1, 20)), %s)), embedding_error = %s
WHERE id = ANY(%s) AND embed_at IS NOT NULL
"""
_PUT_BACK = "UPDATE documents SET embed_at = now(), embed_tries = 0 WHERE id = ANY(%s) AND embed_at IS NOT NULL"
_DUE = "SELECT count(*) FROM (SELECT 1 FROM documents WHERE embed_at <= now() LIMIT 100) AS few"
# Those that somebody writes at this moment have their turn the next time.
_RENEW = """
UPDATE documents SET embed_at = now(), embed_tries = 0, embedding_error = NULL
WHERE id IN (SELECT id FROM documents WHERE status = 'ingested' AND deleted_at IS NULL AND chunk_count > 0
             AND embed_at IS NULL AND embedded_with IS DISTINCT FROM %s FOR NO KEY UPDATE SKIP LOCKED)
"""
