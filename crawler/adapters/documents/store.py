"""Documents as they are made: claimed for a while, kept in one transaction, taken out when their page is gone.

What becomes a document: `handlers/engine/batch_rows.py`. How it is made and cut:
`handlers/documents/ingest_documents.py`. Which pages are gone: `handlers/changes/diff_crawl.py`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from psycopg2.extras import execute_values
from sqlalchemy import Engine

from crawler.adapters.documents.feed import move_to_end
from crawler.adapters.engine.document_locks import hold_documents, hold_projects
from crawler.adapters.postgres.database import Cursor, again_after_deadlock, cursor, transaction
from crawler.adapters.postgres.fair_claim import FairClaim
from crawler.adapters.postgres.partitions import about_crawls
from crawler.adapters.postgres.snapshot_bytes import find_bytes
from crawler.domain.documents.chunking import chunk_ids
from crawler.domain.documents.document import Failed, Made, Source

_ALL = 1_000_000


class DocumentStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._configs: frozenset[str] | None = None
        self._fresh_first = False

    def configs(self) -> frozenset[str]:
        """Languages this server can read words in; they do not change while it runs."""
        if self._configs is None:
            with transaction(self._engine) as connection, cursor(connection) as db:
                db.execute("SELECT cfgname FROM pg_ts_config WHERE cfgnamespace = 'pg_catalog'::regnamespace")
                self._configs = frozenset(name for (name,) in db)
        return self._configs

    def existing(self, project_id: UUID, crawl_id: UUID, normalized_urls: Sequence[str]) -> set[str]:
        """The URLs with a document; one that failed is none, and what this very crawl stored it may look at again."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_EXISTING, (project_id, list(normalized_urls), crawl_id))
            return {url for (url,) in db}

    def claim(self, most: int, lease_seconds: float) -> list[Source]:
        """What waits, several at once; what a worker was lost over, one at a time, in turns with what waits."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            self._fresh_first = not self._fresh_first
            ways = ((_FRESH, most), (_LOST, 1))
            for due, some in ways if self._fresh_first else reversed(ways):
                if found := _CLAIM(db, due, some, lease_seconds):
                    return _sources(db, [claimed for (claimed,) in found])
        return []

    def claim_one(self, document_id: UUID, lease_seconds: float) -> list[Source]:
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_CLAIM_ONE, (lease_seconds, document_id))
            return _sources(db, [found for (found,) in db])

    def put_back(self, sources: Sequence[Source]) -> None:
        """Give back documents that there was no time for, as if nobody had claimed them."""
        claims = sorted((source.id, source.attempts) for source in sources)
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_PUT_BACK, ([found for found, _ in claims], [attempts for _, attempts in claims]))

    def count_waiting(self) -> int:
        """How many documents wait that nobody works on; counted up to a few."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_WAITING)
            row = db.fetchone()
        return int(row[0]) if row else 0

    @again_after_deadlock
    def keep(self, made: Sequence[Made], failed: Sequence[Failed], unwanted: Sequence[Source], *, embed: bool) -> int:
        """Keep all documents or none. How many were kept: not those of which another version is due by now."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            worked_on = [*(one.source for one in made), *(one.source for one in failed), *unwanted]
            hold_documents(db, [source.id for source in worked_on])
            turned = _turn(db, made, failed, unwanted, embed=embed)
            kept = [document for document in made if document.source.id in turned]
            gone = [source for source in unwanted if source.id in turned]
            _write_chunks(db, kept)
            _drop_chunks(db, [source.id for source in gone])
            _tell_crawls(db, turned)
            fed = [(m.source.project_id, m.source.id) for m in kept] + [(s.project_id, s.id) for s in gone]
            move_to_end(db, fed, [document.config for document in kept])
        return len(turned)

    @again_after_deadlock
    def remove(
        self, project_id: UUID, normalized_urls: Iterable[str], unseen_since: datetime, by: UUID | None = None
    ) -> int:
        """Pages are gone, as the crawl `by` found: their documents stay as tombstones. Not those whose page was seen
        again since."""
        which = "p.last_seen_at IS NULL OR p.last_seen_at < %s"
        return self._remove(project_id, which, normalized_urls, unseen_since, by)

    @again_after_deadlock
    def take_back(
        self, project_id: UUID, normalized_urls: Iterable[str], since: datetime, by: UUID | None = None
    ) -> int:
        """Pages are none: take out the documents that began or came back to be made since then."""
        which = "NOT %s <@ tstzrange(d.created_at, d.deleted_at, '(]')"
        return self._remove(project_id, which, normalized_urls, since, by)

    def _remove(
        self, project_id: UUID, which: str, normalized_urls: Iterable[str], since: datetime, by: UUID | None
    ) -> int:
        with transaction(self._engine) as connection, cursor(connection) as db:
            hold_projects(db, [project_id])
            db.execute(_REMOVE.format(which=which), (by, project_id, sorted(normalized_urls), since))
            ids = [row[0] for row in db]
            _drop_chunks(db, ids)
            _tell_crawls(db, dict.fromkeys(ids, ("skipped", None)))
            move_to_end(db, [(project_id, found) for found in ids])
        return len(ids)

    @again_after_deadlock
    def make_again(self, crawl_id: UUID, versions: Mapping[str, UUID | None], since: datetime) -> int:
        """Make these documents of other versions of their pages: of the newest where none is named.

        Also those that were taken out since, as a wall may do that asks not to be indexed. Not those whose page another
        crawl has fetched meanwhile.
        """
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_AGAIN, (list(versions), list(versions.values()), crawl_id, since))
            return len(db.fetchall())


def _sources(db: Cursor, ids: Sequence[UUID]) -> list[Source]:
    db.execute(_SOURCES, (list(ids),))
    names = [column.name for column in db.description or ()]
    return [_source(dict(zip(names, row, strict=True))) for row in db]


def _source(row: dict[str, Any]) -> Source:
    digest = row["content_hash"]
    return Source(
        id=row["id"],
        project_id=row["project_id"],
        version_id=row["due_version_id"],
        attempts=row["attempts"],
        url=row["url"],
        title=row["title"],
        language=row["language"] if row["is_newest"] else None,
        noindex=bool(row["noindex"]) and row["is_newest"],
        content=find_bytes(row["content"], row["byte_length"]),
        content_type=row["content_type"] or "",
        prunes=bool(row["prunes"]),
        content_hash=None if digest is None else bytes(digest),
        text=row["content_text"],
        is_newest=row["is_newest"],
    )


Turned = dict[UUID, tuple[str, str | None]]


def _turn(
    db: Cursor, made: Sequence[Made], failed: Sequence[Failed], unwanted: Sequence[Source], *, embed: bool
) -> Turned:
    """The documents that still waited for the very version that was worked on, with what their crawls are told."""
    rows = [_made_row(document, embed=embed) for document in made]
    rows += [{**_fence(f.source), "status": "failed", "error": f.error[:2000]} for f in failed]
    rows += [{**_fence(source), "status": "gone"} for source in unwanted]
    db.execute(_TURN, (orjson.dumps(sorted(rows, key=lambda row: row["id"])).decode(),))
    told = {"gone": "skipped"}
    return {found: (told.get(status, status), error) for found, status, error in db}


def _fence(source: Source) -> dict[str, Any]:
    return {"id": str(source.id), "version": source.version_id}


def _made_row(document: Made, *, embed: bool) -> dict[str, Any]:
    source = document.source
    return {
        **_fence(source),
        "status": "ingested",
        "title": source.title,
        "url": source.url,
        "language": source.language,
        "hash": "\\x" + source.content_hash.hex() if source.content_hash else None,
        "chunks": len(document.chunks),
        "tokens": document.tokens,
        "embed": embed and bool(document.chunks),
    }


def _write_chunks(db: Cursor, made: Sequence[Made]) -> None:
    """A chunk that is the same as before keeps its row and its vector."""
    rows = []
    for document in made:
        source = document.source
        for chunk_id, chunk in zip(chunk_ids(source.id, document.chunks), document.chunks, strict=True):
            head = "\n".join(dict.fromkeys((source.title or "", *chunk.headings))).strip()
            values = (chunk.position, list(chunk.headings), chunk.text, chunk.tokens, document.config, head)
            rows.append((chunk_id, source.id, source.project_id, *values))
    kept = [row[0] for row in rows]
    db.execute(_DELETE_OTHERS, ([document.source.id for document in made], kept))
    if rows:
        execute_values(db, _CHUNKS, sorted(rows), template=_CHUNKS_ROW, page_size=_ALL)


def _drop_chunks(db: Cursor, document_ids: Sequence[UUID]) -> None:
    if document_ids:
        db.execute("DELETE FROM document_chunks WHERE document_id = ANY(%s)", (list(document_ids),))


def _tell_crawls(db: Cursor, turned: Turned) -> None:
    """The URLs that waited for these documents, and their crawls' counts."""
    if not turned:
        return
    db.execute("DELETE FROM document_waits WHERE document_id = ANY(%s) RETURNING *", (sorted(turned),))
    ends = [
        {"crawl_id": crawl_id, "url": url, "status": turned[document][0], "error": turned[document][1]}
        for document, crawl_id, url in db
    ]
    if not ends:
        return
    told = orjson.dumps(sorted(ends, key=lambda end: (end["crawl_id"], end["url"]))).decode()
    db.execute(_TELL, {"rows": told, **about_crawls(end["crawl_id"] for end in ends)})
    ingested = Counter(crawl_id for crawl_id, status in db if status == "ingested")
    for crawl_id, count in sorted(ingested.items()):
        db.execute(_COUNT, (count, crawl_id))


_EXISTING = """
SELECT d.normalized_url FROM documents d LEFT JOIN crawled_pages p ON p.id = d.page_id
WHERE d.project_id = %s AND d.normalized_url = ANY(%s) AND d.deleted_at IS NULL AND d.status <> 'failed'
  AND p.crawl_id IS DISTINCT FROM %s
"""
# Lost ones alone: whichever of several took its worker down, the others should not go down with it again.
_FRESH = "attempts = 0"
_LOST = "attempts > 0 AND (claimed_until IS NULL OR claimed_until < now())"
_CLAIMED = "attempts = least(attempts + 1, 1000), claimed_until = now() + make_interval(secs => %s)"
_CLAIM = FairClaim("documents", "project_id", "status = 'pending'", "updated_at", _CLAIMED)
# Not those whose lease ended, which somebody else may have by now.
_PUT_BACK = """
UPDATE documents d SET attempts = d.attempts - 1, claimed_until = NULL
FROM unnest(%s::uuid[], %s::int[]) AS v(id, attempts)
WHERE d.id = v.id AND d.status = 'pending' AND d.attempts = v.attempts AND d.attempts > 0
"""
_CLAIM_ONE = f"""
UPDATE documents SET {_CLAIMED}
WHERE id = (SELECT id FROM documents WHERE id = %s AND status = 'pending'
            AND (claimed_until IS NULL OR claimed_until < now()) FOR UPDATE SKIP LOCKED)
RETURNING id
"""  # noqa: S608 - our own words
# Of the version that is due; of the page's newest if that one is not kept any more.
_SOURCES = """
SELECT d.id, d.project_id, d.due_version_id, d.attempts, coalesce(v.final_url, p.url, d.url) AS url,
    coalesce(v.title, p.title) AS title, p.language, coalesce(p.noindex, false) AS noindex, s.content, s.byte_length,
    v.id IS NOT DISTINCT FROM p.version_id AS is_newest,
    coalesce(v.headers ->> 'content-type', s.content_type) AS content_type,
    (j.settings ->> 'prune_markdown')::boolean AS prunes, v.content_hash,
    CASE WHEN v.id = p.version_id THEN p.content_text END AS content_text
FROM documents d
JOIN projects j ON j.id = d.project_id
LEFT JOIN crawled_pages p ON p.id = d.page_id
LEFT JOIN LATERAL (
    SELECT * FROM page_versions w WHERE w.id IN (d.due_version_id, p.version_id)
    ORDER BY w.id = d.due_version_id DESC LIMIT 1
) v ON true
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE d.id = ANY(%s) ORDER BY d.id
"""
_WAITING = """
SELECT count(*) FROM (SELECT 1 FROM documents WHERE status = 'pending'
    AND (claimed_until IS NULL OR claimed_until < now()) LIMIT 100) AS few
"""
_TURN = """
UPDATE documents d SET
    status = CASE v.status WHEN 'gone' THEN 'ingested' ELSE v.status END,
    deleted_at = CASE v.status WHEN 'gone' THEN now() WHEN 'ingested' THEN NULL ELSE d.deleted_at END,
    deleted_by = CASE v.status WHEN 'failed' THEN d.deleted_by END,
    version_id = CASE v.status WHEN 'gone' THEN NULL WHEN 'ingested' THEN v.version ELSE d.version_id END,
    error_message = v.error, claimed_until = NULL, attempts = 0, updated_at = now(),
    title = CASE v.status WHEN 'ingested' THEN v.title ELSE d.title END,
    url = coalesce(v.url, d.url), language = CASE v.status WHEN 'ingested' THEN v.language ELSE d.language END,
    content_hash = CASE v.status WHEN 'ingested' THEN v.hash ELSE d.content_hash END,
    chunk_count = CASE v.status WHEN 'ingested' THEN v.chunks WHEN 'gone' THEN 0 ELSE d.chunk_count END,
    token_count = CASE v.status WHEN 'ingested' THEN v.tokens WHEN 'gone' THEN 0 ELSE d.token_count END,
    ingested_at = CASE v.status WHEN 'ingested' THEN now() ELSE d.ingested_at END,
    embed_at = CASE WHEN v.embed THEN now() WHEN v.status = 'failed' THEN d.embed_at END,
    embed_tries = CASE v.status WHEN 'failed' THEN d.embed_tries ELSE 0 END,
    embedding_error = CASE v.status WHEN 'failed' THEN d.embedding_error END,
    embedded_with = CASE v.status WHEN 'failed' THEN d.embedded_with END
FROM json_to_recordset(%s) AS v(id uuid, version uuid, status text, error text, title text, url text, language text,
    hash bytea, chunks integer, tokens integer, embed boolean)
WHERE d.id = v.id AND d.status = 'pending' AND d.due_version_id IS NOT DISTINCT FROM v.version
RETURNING d.id, v.status, v.error
"""
# Also a tombstone whose page was back, and is gone again before its document was made.
_REMOVE = """
UPDATE documents d SET deleted_at = coalesce(d.deleted_at, now()), deleted_by = %s, status = 'ingested',
    version_id = NULL,
    error_message = NULL, claimed_until = NULL, attempts = 0, chunk_count = 0, token_count = 0, embed_at = NULL,
    embedded_with = NULL, embedding_error = NULL, updated_at = now()
FROM (SELECT d.id FROM documents d LEFT JOIN crawled_pages p ON p.id = d.page_id
      WHERE d.project_id = %s AND d.normalized_url = ANY(%s)
        AND (d.deleted_at IS NULL OR d.status <> 'ingested') AND ({which})
      ORDER BY d.id FOR UPDATE OF d) AS gone
WHERE d.id = gone.id
RETURNING d.id
"""
_AGAIN = """
UPDATE documents d SET due_version_id = other.version, status = 'pending', attempts = 0, claimed_until = NULL,
    updated_at = now()
FROM (SELECT d.id, coalesce(v.version, p.version_id) AS version
      FROM unnest(%s::text[], %s::uuid[]) AS v(normalized_url, version)
      JOIN crawl_jobs c ON c.id = %s
      CROSS JOIN (SELECT %s::timestamptz AS at) since
      JOIN documents d ON d.normalized_url = v.normalized_url AND d.project_id = c.project_id
      JOIN crawled_pages p ON p.id = d.page_id AND p.crawl_id = c.id
      WHERE (v.version IS NULL OR since.at <@ tstzrange(d.created_at, d.deleted_at, '(]'))
        AND (d.status = 'pending' OR d.version_id IS DISTINCT FROM coalesce(v.version, p.version_id))
      ORDER BY d.id FOR UPDATE OF d) AS other
WHERE d.id = other.id
RETURNING d.id
"""
_DELETE_OTHERS = "DELETE FROM document_chunks WHERE document_id = ANY(%s) AND id <> ALL(%s)"
# Beside its own words each chunk has its project's id, so that the index alone finds a project's chunks, and the words
# of its headings once more with a mark: what a common word stands in the heading of can be looked at first.
_CHUNKS = """
INSERT INTO document_chunks AS c (id, document_id, project_id, position, headings, content, token_count, config, words)
SELECT v.id, v.document_id, v.project_id, v.position, v.headings, v.content, v.tokens, v.config,
    setweight(h.words, 'A') || to_tsvector(v.config::regconfig, v.content) || array_to_tsvector(
        ARRAY(SELECT 'h:' || lexeme FROM unnest(h.words)) || ('p:' || v.project_id))
FROM (VALUES %s) AS v(id, document_id, project_id, position, headings, content, tokens, config, head)
CROSS JOIN LATERAL (SELECT to_tsvector(v.config::regconfig, v.head) AS words) AS h
ON CONFLICT (id) DO UPDATE SET position = excluded.position, config = excluded.config, words = excluded.words
WHERE (c.position, c.config, c.words) IS DISTINCT FROM (excluded.position, excluded.config, excluded.words)
"""
_CHUNKS_ROW = "(%s::uuid, %s::uuid, %s::uuid, %s, %s::text[], %s, %s, %s, %s)"
_TELL = """
UPDATE crawl_urls u SET status = v.status, error_message = coalesce(v.error, u.error_message)
FROM json_to_recordset(%(rows)s) AS v(crawl_id uuid, url text, status text, error text)
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.url AND u.status = 'pending' AND u.fetch_state = 'done'
    AND u.crawl_job_id BETWEEN %(first)s AND %(last)s AND v.crawl_id = ANY(%(crawls)s)
RETURNING u.crawl_job_id, u.status
"""
_COUNT = "UPDATE crawl_jobs SET total_ingested = total_ingested + %s WHERE id = %s"
