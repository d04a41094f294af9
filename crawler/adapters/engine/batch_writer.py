"""The engine's commit: one Postgres transaction per batch, idempotent, fenced by the crawl's own row.

The order of statements is the same in every process and the rows of each are sorted by key, so two batches
can wait for each other but never in a circle.
"""

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import orjson
import psycopg2
from psycopg2.extras import execute_values, register_uuid
from sqlalchemy import Connection, Engine

from crawler.adapters.engine.document_commit import make_due, name_existing
from crawler.adapters.engine.probe_store import end_probes
from crawler.adapters.engine.queue_commit import end_entries
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.binary_copy import CopyInto
from crawler.adapters.postgres.database import Cursor, cursor, transaction
from crawler.domain.crawls.crawl import FetchState
from crawler.domain.engine.ledger import (
    RENDERED,
    Batch,
    CrawlsFull,
    CrawlsOver,
    Depths,
    FindChildren,
    Found,
    Previous,
    Rendering,
    Request,
    RowRefused,
    StoredPage,
    Unchanged,
    Unfetched,
    UrlEnd,
    UrlKey,
    WriteRaced,
    page_id,
)
from crawler.domain.rendering.url_shapes import ShapeBook

register_uuid()  # type: ignore[no-untyped-call]

_ALL = 1_000_000  # execute_values sends one statement per so many rows; a batch is always one


def admit(connection: Connection, found: Sequence[Found]) -> None:
    """Write URLs that no page led to: seeds and lists."""
    with cursor(connection) as db:
        _count_found(db, _by_crawl(_insert_found(db, found)))


class BatchWriter:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def check(self) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute("SELECT 1")

    def write(self, batch: Batch, find_children: FindChildren) -> Sequence[Found]:
        """Commit the batch; `find_children` is told the true depth of each ended URL and says what it found.

        Of that it returns what was known before, perhaps at a greater depth.
        """
        try:
            with transaction(self._engine) as connection, cursor(connection) as db:
                depths, turned = _end_urls(db, batch.ends)
                _write_pages(db, batch, depths, turned, end_probes(db, batch.probes))
                children = find_children(depths)
                inserted = _insert_found(db, children)
                _write_renderings(db, batch)
                _log_requests(db, batch.requests)
                if batch.entries:
                    end_entries(db, [end for end in batch.entries if end.key in turned])
                due = make_due(db, [d for d in batch.documents if d.key in turned]) if batch.documents else Counter()
                if batch.existing:
                    name_existing(db, batch.existing)
                _count(db, batch, turned, _by_crawl(inserted), due)
        except psycopg2.errors.UniqueViolation as exc:
            raise WriteRaced(" ".join(str(exc).split())) from exc
        # A lone surrogate and a number too large are refused on this side already.
        except (psycopg2.DataError, psycopg2.IntegrityError, ValueError, struct.error, orjson.JSONEncodeError) as exc:
            raise RowRefused(" ".join(str(exc).split())) from exc
        return [child for child in children if child.key not in inserted]

    def log_requests(self, requests: Sequence[Request]) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            _log_requests(db, requests)

    def previous(
        self, project_id: UUID, normalized_urls: Sequence[str], *, with_snapshots: bool = False
    ) -> dict[str, Previous]:
        """What earlier crawls stored of these pages."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_PREVIOUS, (with_snapshots, [page_id(project_id, url) for url in normalized_urls]))
            # The driver's view of bytes is equal to no bytes.
            return {url: Previous(etag, modified, bytes(digest), *rest) for url, etag, modified, digest, *rest in db}


# By id, which only one index has. By project and URL the planner, that knows nothing of a new project, takes another
# index and walks through all of the project's pages for every batch.
_PREVIOUS = """
SELECT normalized_url, etag, last_modified, content_hash, version_id, coalesce(links_followed, links_found),
    links_unusable, canonical_url, noindex,
    crawl_method = 'lightweight' AND coalesce(reason, '') NOT IN ('render_unavailable', 'render_failed'),
    CASE WHEN %s THEN (SELECT snapshot_id FROM page_versions v WHERE v.id = crawled_pages.version_id) END
FROM crawled_pages WHERE id = ANY(%s) AND content_hash IS NOT NULL
"""

# The left join finds the depth of URLs that ended before (a repeat after a crash): their children must be
# queued again, but their page is not written again.
_END = """
WITH v AS (SELECT * FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, state text, status text,
    reason text, rule text, attempts smallint, final_url text, http_status smallint, content_hash bytea,
    version_id uuid, error_message text, fetched_at timestamptz)),
ended AS (
    UPDATE crawl_discovered_urls u
    SET fetch_state = v.state, status = v.status, reason = v.reason, rule = coalesce(v.rule, u.rule),
        attempts = v.attempts, final_url = v.final_url, http_status = v.http_status,
        content_hash = v.content_hash, version_id = v.version_id, error_message = v.error_message,
        fetched_at = v.fetched_at
    FROM v
    WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url AND u.fetch_state = 'queued'
    RETURNING u.crawl_job_id, u.normalized_url, u.depth
)
SELECT u.crawl_job_id, u.normalized_url, coalesce(ended.depth, u.depth), ended.depth IS NOT NULL
FROM v
JOIN crawl_discovered_urls u ON u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
LEFT JOIN ended ON ended.crawl_job_id = v.crawl_id AND ended.normalized_url = v.normalized_url
"""
_END_NAMES = (
    "crawl_id", "normalized_url", "state", "status", "reason", "rule", "attempts", "final_url", "http_status",
    "content_hash", "version_id", "error_message", "fetched_at",
)  # fmt: skip


def _end_urls(db: Cursor, ends: Iterable[UrlEnd]) -> tuple[Depths, set[UrlKey]]:
    rows = [
        (*e.key, e.state.value, _ingest_status(e.state), e.reason, e.rule, e.attempts, *e[5:])
        for e in sorted({e.key: e for e in ends}.values(), key=_key)
    ]
    if not rows:
        return {}, set()
    db.execute(_END, (_as_json(_END_NAMES, rows),))
    answer = db.fetchall()
    depths = {UrlKey(crawl_id, url): depth for crawl_id, url, depth, _ in answer}
    return depths, {UrlKey(crawl_id, url) for crawl_id, url, _, turned in answer if turned}


def _ingest_status(state: FetchState) -> str:
    return "ingested" if state is FetchState.DONE else state.value


def _key(row: UrlEnd | StoredPage | Unfetched | Unchanged | Found | Rendering) -> UrlKey:
    return row.key


# New rows are copied; only pages that are known already need a statement that can change them.
_COPY_SNAPSHOTS = CopyInto(t.snapshots, ("id", "content_hash", "content", "content_type", "byte_length", "fetched_at"))
_PAGE_COLUMNS = (
    "id", "project_id", "url", "title", "h1", "meta_description", "content_text", "word_count", "links_found", "reason",
    "content_hash", "canonical_url", "noindex", "etag", "last_modified", "language", "crawl_method", "http_status",
    "byte_length", "version_id", "crawled_at", "links_followed", "links_unusable", "normalized_url", "crawl_id",
    "depth", "status", "first_seen_at", "last_seen_at", "last_changed_at",
)  # fmt: skip
_COPY_PAGES = CopyInto(t.crawled_pages, _PAGE_COLUMNS)
_PAGES = f"""
INSERT INTO crawled_pages AS p ({", ".join(_PAGE_COLUMNS)})
VALUES %s
ON CONFLICT (project_id, normalized_url) DO UPDATE SET
    url = excluded.url, title = excluded.title, h1 = excluded.h1, meta_description = excluded.meta_description,
    content_text = excluded.content_text, word_count = excluded.word_count, links_found = excluded.links_found,
    links_followed = excluded.links_followed, links_unusable = excluded.links_unusable,
    reason = excluded.reason, error_message = NULL,
    content_hash = excluded.content_hash,
    canonical_url = excluded.canonical_url, noindex = excluded.noindex, etag = excluded.etag,
    last_modified = excluded.last_modified, language = excluded.language,
    crawl_method = excluded.crawl_method, http_status = excluded.http_status,
    byte_length = excluded.byte_length, version_id = excluded.version_id, crawled_at = excluded.crawled_at,
    crawl_id = excluded.crawl_id, depth = excluded.depth, status = excluded.status,
    first_seen_at = coalesce(p.first_seen_at, excluded.first_seen_at), last_seen_at = excluded.last_seen_at,
    last_changed_at = CASE WHEN p.content_hash IS DISTINCT FROM excluded.content_hash
                           THEN excluded.last_changed_at ELSE p.last_changed_at END
"""  # noqa: S608 - our own names
_PAGES_ROW = f"({', '.join('%s::jsonb' if name.startswith('links_') else '%s' for name in _PAGE_COLUMNS)})"
_COPY_VERSIONS = CopyInto(
    t.page_versions,
    ("id", "page_id", "crawl_id", "snapshot_id", "content_hash", "title", "links", "headers", "hreflang", "final_url",
     "crawl_method", "fetched_at"),
)  # fmt: skip
_UNCHANGED = """
UPDATE crawled_pages p
SET last_seen_at = v.at, crawled_at = v.at, crawl_id = v.crawl_id, depth = v.depth, status = 'success',
    http_status = CASE WHEN p.status = 'success' THEN p.http_status ELSE 200 END,
    reason = v.reason, crawl_method = v.crawl_method, error_message = NULL, etag = coalesce(v.etag, p.etag),
    last_modified = coalesce(v.last_modified, p.last_modified)
FROM json_to_recordset(%s) AS v(id uuid, crawl_id uuid, depth integer, etag text, last_modified text, at timestamptz,
    crawl_method text, reason text)
WHERE p.id = v.id
"""
_UNCHANGED_NAMES = ("id", "crawl_id", "depth", "etag", "last_modified", "at", "crawl_method", "reason")
_OUTLINES = """
UPDATE crawled_pages p
SET links_found = v.links_found, links_followed = v.links_followed, links_unusable = v.links_unusable,
    canonical_url = v.canonical_url, noindex = v.noindex
FROM (VALUES %s) AS v(id, links_found, links_followed, links_unusable, canonical_url, noindex)
WHERE p.id = v.id
"""
_OUTLINES_ROW = "(%s::uuid, %s::jsonb, %s::jsonb, %s::jsonb, %s, %s::boolean)"
_UNFETCHED = """
INSERT INTO crawled_pages (id, project_id, url, status, reason, error_message, http_status, crawled_at,
    normalized_url, crawl_id, depth)
VALUES %s
ON CONFLICT (project_id, normalized_url) DO UPDATE SET
    status = excluded.status, reason = excluded.reason, error_message = excluded.error_message,
    http_status = excluded.http_status, crawled_at = excluded.crawled_at, crawl_id = excluded.crawl_id
"""


def _write_pages(db: Cursor, batch: Batch, depths: Depths, turned: set[UrlKey], second_looks: set[UUID]) -> None:
    """Only rows whose URL ended just now: a late worker must not overwrite newer work."""
    pages = sorted({p.key: p for p in batch.pages if p.key in turned}.values(), key=_key)
    written = {p.version_id for p in pages}
    versions = sorted({v.id: v for v in batch.versions if v.id in written}.values())
    wanted = {v.snapshot_id for v in versions} | second_looks
    snapshots = sorted({s.id: s for s in batch.snapshots if s.id in wanted}.values())
    unchanged = sorted((u for u in batch.unchanged if u.key in turned), key=_key)
    unfetched = sorted((u for u in batch.unfetched if u.key in turned), key=_key)
    _COPY_SNAPSHOTS.new(db, snapshots)
    known = _COPY_PAGES.new(db, [_page_row(p, depths[p.key]) for p in pages])
    _insert(db, _PAGES, known, _PAGES_ROW)
    _COPY_VERSIONS.new(db, versions)
    if unchanged:
        seen = [(u.page_id, u.key.crawl_id, depths[u.key], *u[2:7]) for u in unchanged]
        db.execute(_UNCHANGED, (_as_json(_UNCHANGED_NAMES, seen),))
    _insert(db, _OUTLINES, [(u.page_id, *u.outline) for u in unchanged if u.outline], _OUTLINES_ROW)
    _insert(
        db,
        _UNFETCHED,
        [(*u[1:], u.key.normalized_url, u.key.crawl_id, depths[u.key]) for u in unfetched],
    )


_PICTURES = """
INSERT INTO screenshots (version_id, image, thumbnail, taken_at)
SELECT v.* FROM (VALUES %s) AS v(version_id, image, thumbnail, taken_at)
WHERE EXISTS (SELECT 1 FROM page_versions p WHERE p.id = v.version_id)
ON CONFLICT DO NOTHING
"""
_PICTURES_ROW = "(%s::uuid, %s::bytea, %s::bytea, %s::timestamptz)"
_RENDERINGS = """
UPDATE crawl_discovered_urls u SET rendering = coalesce(u.rendering, '{}') || v.rendering
FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, rendering jsonb)
WHERE u.crawl_job_id = v.crawl_id AND u.normalized_url = v.normalized_url
"""


def _write_renderings(db: Cursor, batch: Batch) -> None:
    """What there is to say about browsers; of most batches nothing."""
    _insert(db, _PICTURES, sorted(batch.pictures), _PICTURES_ROW)
    if batch.renderings:
        rows = [(*r.key, r.record) for r in sorted(batch.renderings, key=_key)]
        db.execute(_RENDERINGS, (_as_json(("crawl_id", "normalized_url", "rendering"), rows),))
    for project_id, findings in sorted(batch.findings.items()):
        db.execute("SELECT learned -> 'shapes' FROM projects WHERE id = %s FOR NO KEY UPDATE", (project_id,))
        if known := db.fetchone():
            book = ShapeBook.from_record(known[0] or {}).learn(findings)
            learned = orjson.dumps({"shapes": book.as_record()}).decode()
            db.execute("UPDATE projects SET learned = learned || %s::jsonb WHERE id = %s", (learned, project_id))


def _page_row(page: StoredPage, depth: int) -> tuple[Any, ...]:
    at = page.fetched_at
    return (*page[1:], page.key.normalized_url, page.key.crawl_id, depth, "success", at, at, at)


_FOUND = """
INSERT INTO crawl_discovered_urls (crawl_job_id, normalized_url, url, depth, priority, seq, fetch_state, status,
    reason, rule, source, parent, found_at)
SELECT crawl_id, normalized_url, url, depth, priority, seq, state, status, reason, rule, source, parent, now()
FROM json_to_recordset(%s) AS v(crawl_id uuid, normalized_url text, url text, depth integer, priority smallint,
    seq bigint, state text, status text, reason text, rule text, source text, parent text)
ON CONFLICT DO NOTHING RETURNING crawl_job_id, normalized_url, fetch_state
"""
_FOUND_NAMES = (
    "crawl_id", "normalized_url", "url", "depth", "priority", "seq", "state", "status", "reason", "rule", "source",
    "parent",
)  # fmt: skip


def _insert_found(db: Cursor, found: Sequence[Found]) -> dict[UrlKey, str]:
    """The state of each that was new."""
    rows = [
        (
            *f.key,
            f.url,
            f.depth,
            f.priority,
            f.seq,
            f.state.value,
            "pending" if f.state is FetchState.QUEUED else f.state.value,
            f.reason,
            f.rule,
            f.source.value,
            f.parent,
        )
        for f in sorted(found, key=_key)
    ]
    if not rows:
        return {}
    db.execute(_FOUND, (_as_json(_FOUND_NAMES, rows),))
    return {UrlKey(crawl_id, url): state for crawl_id, url, state in db}


def _by_crawl(inserted: dict[UrlKey, str]) -> Counter[tuple[UUID, str]]:
    return Counter((key.crawl_id, state) for key, state in inserted.items())


_COPY_REQUESTS = CopyInto(t.request_log, Request._fields)


def _log_requests(db: Cursor, requests: Sequence[Request]) -> None:
    if requests:
        _COPY_REQUESTS(db, requests)


def _as_json(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """For `json_to_recordset`: one value to parse instead of a statement as long as the batch."""
    return orjson.dumps([dict(zip(names, row, strict=True)) for row in rows], default=_bytes_as_text).decode()


def _bytes_as_text(value: Any) -> str:
    if not isinstance(value, (bytes, memoryview)):  # what comes from the database is a view
        raise TypeError
    return "\\x" + value.hex()


def _insert(db: Cursor, sql: str, rows: Sequence[Any], template: str | None = None) -> None:
    if rows:
        execute_values(db, sql, rows, template=template, page_size=_ALL)


# The fence: nothing lands once the crawl is over, and never more than max_pages pages.
_COUNT = """
UPDATE crawl_jobs c
SET total_discovered = c.total_discovered + v.found, pages_crawled = c.pages_crawled + v.crawled,
    pages_failed = c.pages_failed + v.failed, pages_skipped = c.pages_skipped + v.skipped,
    lightweight = c.lightweight + v.lightweight, rendered = c.rendered + v.rendered,
    total_ingested = c.total_ingested + v.ingested, updated_at = now()
FROM (VALUES %s) AS v(id, found, crawled, failed, skipped, lightweight, rendered, ingested)
WHERE c.id = v.id AND c.status = 'in_progress'
  AND c.pages_crawled + v.crawled <= (c.config ->> 'max_pages')::bigint
RETURNING c.id
"""
_COUNT_ROW = "(%s::uuid, %s::integer, %s::integer, %s::integer, %s::integer, %s::integer, %s::integer, %s::integer)"


def _count(
    db: Cursor, batch: Batch, turned: set[UrlKey], inserted: Counter[tuple[UUID, str]], due: Counter[UUID]
) -> None:
    """Count what really happened: rows that turned, rows that were new. `due`: pages not ingested by being stored."""
    states = {e.key: e.state.value for e in batch.ends if e.key in turned}
    ended = Counter((key.crawl_id, state) for key, state in states.items())
    methods = {p.key: p.crawl_method for p in batch.pages} | {u.key: u.crawl_method for u in batch.unchanged}
    rendered = Counter(key.crawl_id for key, method in methods.items() if method == RENDERED and key in turned)
    crawl_ids = sorted({e.key.crawl_id for e in batch.ends} | {crawl_id for crawl_id, _ in inserted})
    rows = []
    for crawl_id in crawl_ids:
        done = ended[crawl_id, "done"]
        rows.append(
            (
                crawl_id,
                sum(n for (c, _), n in inserted.items() if c == crawl_id),
                done,
                ended[crawl_id, "failed"],
                ended[crawl_id, "skipped"] + inserted[crawl_id, "skipped"],
                done - rendered[crawl_id],
                rendered[crawl_id],
                done - due[crawl_id],
            )
        )
    if not rows:
        return
    answer = execute_values(db, _COUNT, rows, template=_COUNT_ROW, page_size=_ALL, fetch=True)
    if over := set(crawl_ids) - {row[0] for row in answer}:
        db.execute("SELECT id FROM crawl_jobs WHERE id = ANY(%s) AND status = 'in_progress'", (list(over),))
        full = {row[0] for row in db}
        raise CrawlsFull(full) if full else CrawlsOver(over)


def _count_found(db: Cursor, inserted: Counter[tuple[UUID, str]]) -> None:
    for (crawl_id, state), n in sorted(inserted.items()):
        db.execute(
            "UPDATE crawl_jobs SET total_discovered = total_discovered + %s, "
            "pages_skipped = pages_skipped + %s WHERE id = %s",
            (n, n if state == "skipped" else 0, crawl_id),
        )
