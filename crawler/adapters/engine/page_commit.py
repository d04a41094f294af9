"""The commit's pages: stored, unchanged and unfetched ones, with their versions and bytes.

Whether a page changed is decided in `handlers/engine/store_page.py`. How long versions are kept:
`adapters/postgres/retention.py`.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any
from uuid import UUID

from crawler.adapters.engine.rows import Columns, K, as_json, in_order, insert
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.binary_copy import CopyInto
from crawler.adapters.postgres.database import Cursor
from crawler.domain.engine.ledger import (
    Batch,
    Depths,
    Outline,
    PageWrite,
    Snapshot,
    Unchanged,
    Unfetched,
    UrlKey,
    Version,
)

# New rows are copied (COPY); only known pages need a statement that can update.
_COPY_SNAPSHOTS = CopyInto(t.snapshots, Snapshot._fields)
_COPY_VERSIONS = CopyInto(t.page_versions, Version._fields)
_PAGE = Columns(
    (
        "id", "project_id", "url", "title", "h1", "meta_description", "content_text", "word_count", "links_found",
        "reason", "content_hash", "canonical_url", "noindex", "etag", "last_modified", "language", "crawl_method",
        "http_status", "byte_length", "version_id", "links_followed", "links_unusable",
    ),
    normalized_url="key.normalized_url",
    crawl_id="key.crawl_id",
    crawled_at="fetched_at",
    first_seen_at="fetched_at",
    last_seen_at="fetched_at",
    last_changed_at="fetched_at",
)  # fmt: skip
_PAGE_COLUMNS = (*_PAGE.names, "depth", "status")
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
_LOST = "SELECT id FROM snapshots WHERE id = ANY(%s) AND encoding = 'lost' ORDER BY id FOR NO KEY UPDATE"
_STORE_LOST = "UPDATE snapshots SET content = %s, encoding = 'zstd', fetched_at = %s WHERE id = %s"
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
_OUTLINES = f"""
UPDATE crawled_pages p
SET links_found = v.links_found, links_followed = v.links_followed, links_unusable = v.links_unusable,
    canonical_url = v.canonical_url, noindex = v.noindex
FROM (VALUES %s) AS v(id, {", ".join(Outline._fields)})
WHERE p.id = v.id
"""  # noqa: S608 - our own names
_OUTLINES_ROW = "(%s::uuid, %s::jsonb, %s::jsonb, %s::jsonb, %s, %s::boolean)"
_UNFETCHED_ROW = Columns(
    ("id", "project_id", "url", "status", "reason", "error_message", "http_status"),
    crawled_at="fetched_at",
    normalized_url="key.normalized_url",
    crawl_id="key.crawl_id",
)
_UNFETCHED = f"""
INSERT INTO crawled_pages ({", ".join((*_UNFETCHED_ROW.names, "depth"))})
VALUES %s
ON CONFLICT (project_id, normalized_url) DO UPDATE SET
    status = excluded.status, reason = excluded.reason, error_message = excluded.error_message,
    http_status = excluded.http_status, crawled_at = excluded.crawled_at, crawl_id = excluded.crawl_id
"""  # noqa: S608 - our own names


def write_pages(db: Cursor, batch: Batch, depths: Depths, turned: set[UrlKey], second_looks: set[UUID]) -> None:
    """Write pages whose URL ended in this commit: a late worker must not overwrite newer work."""
    pages = _of_turned(batch.pages, turned)
    versions = _versions_of(pages, batch.versions)
    copies = sorted({v.id: v for v in batch.light_copies}.values(), key=attrgetter("id"))
    _store_lost(db, _COPY_SNAPSHOTS.new(db, _snapshots_of([*versions, *copies], second_looks, batch.snapshots)))
    _write_stored(db, pages, depths)
    _COPY_VERSIONS.new(db, sorted([*versions, *copies], key=attrgetter("id")))
    unchanged = _of_turned(batch.unchanged, turned)
    _touch(db, unchanged, depths)
    _write_outlines(db, unchanged)
    _write_unfetched(db, _of_turned(batch.unfetched, turned), depths)


def _of_turned(rows: Iterable[K], turned: set[UrlKey]) -> list[K]:
    return in_order(row for row in rows if row.key in turned)


def _versions_of(pages: Sequence[PageWrite], versions: Iterable[Version]) -> list[Version]:
    written = {page.version_id for page in pages}
    return sorted({v.id: v for v in versions if v.id in written}.values(), key=attrgetter("id"))


def _snapshots_of(
    versions: Sequence[Version], second_looks: set[UUID], snapshots: Iterable[Snapshot]
) -> list[Snapshot]:
    """Snapshots that a version needs, or a second fetch of a page."""
    wanted = {version.snapshot_id for version in versions} | second_looks
    return sorted({s.id: s for s in snapshots if s.id in wanted}.values(), key=attrgetter("id"))


def _store_lost(db: Cursor, known: Sequence[Sequence[Any]]) -> None:
    """Write known snapshots again if their object is lost (`adapters/postgres/lost_snapshots.py`)."""
    if not known:
        return
    rows = {row[0]: Snapshot(*row) for row in known}
    db.execute(_LOST, (list(rows),))
    for (snapshot_id,) in db.fetchall():
        db.execute(_STORE_LOST, (rows[snapshot_id].content, rows[snapshot_id].fetched_at, snapshot_id))


def _write_stored(db: Cursor, pages: Sequence[PageWrite], depths: Depths) -> None:
    values = _PAGE.values
    known = _COPY_PAGES.new(db, [(*values(page), depths[page.key], "success") for page in pages])
    insert(db, _PAGES, known, _PAGES_ROW)


def _touch(db: Cursor, unchanged: Sequence[Unchanged], depths: Depths) -> None:
    """Update unchanged pages: when they were seen, and their validators (ETag, Last-Modified)."""
    if unchanged:
        db.execute(_UNCHANGED, (as_json([_seen(page, depths[page.key]) for page in unchanged]),))


def _seen(page: Unchanged, depth: int) -> dict[str, Any]:
    return {
        "id": page.page_id,
        "crawl_id": page.key.crawl_id,
        "depth": depth,
        "etag": page.etag,
        "last_modified": page.last_modified,
        "at": page.fetched_at,
        "crawl_method": page.crawl_method,
        "reason": page.reason,
    }


def _write_outlines(db: Cursor, unchanged: Sequence[Unchanged]) -> None:
    insert(db, _OUTLINES, [(page.page_id, *page.outline) for page in unchanged if page.outline], _OUTLINES_ROW)


def _write_unfetched(db: Cursor, unfetched: Sequence[Unfetched], depths: Depths) -> None:
    values = _UNFETCHED_ROW.values
    insert(db, _UNFETCHED, [(*values(page), depths[page.key]) for page in unfetched])
