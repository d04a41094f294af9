"""Batch writer: the engine's commit, one idempotent Postgres transaction per batch, refused once the crawl is over.

Statements have the same order in every process, and the rows of each are sorted by key, so that two batches can wait
for each other but never deadlock.

What is written is decided before: `handlers/engine/batch_rows.py`. Retries of a commit:
`handlers/engine/write_batch.py`.
"""

import struct
from collections import Counter
from collections.abc import Sequence
from uuid import UUID

import orjson
import psycopg2
from psycopg2.extras import register_uuid
from sqlalchemy import Connection, Engine

from crawler.adapters.engine.count_commit import count, count_found
from crawler.adapters.engine.document_commit import make_due, name_existing
from crawler.adapters.engine.outside import put_outside
from crawler.adapters.engine.page_commit import write_pages
from crawler.adapters.engine.probe_store import end_probes
from crawler.adapters.engine.queue_commit import end_entries
from crawler.adapters.engine.rendering_commit import write_renderings
from crawler.adapters.engine.url_commit import count_by_crawl, end_urls, insert_found
from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.binary_copy import CopyInto
from crawler.adapters.postgres.database import Cursor, cursor, transaction
from crawler.domain.engine.ledger import (
    Batch,
    FindChildren,
    Found,
    Previous,
    Request,
    RowRefused,
    UrlKey,
    WriteRaced,
    page_id,
)

register_uuid()  # type: ignore[no-untyped-call]

_COPY_REQUESTS = CopyInto(t.request_log, Request._fields)


def admit(connection: Connection, found: Sequence[Found]) -> int:
    """Write URLs that no page linked to: seeds and lists. Returns how many were new."""
    with cursor(connection) as db:
        inserted = insert_found(db, found)
        count_found(db, count_by_crawl(inserted))
    return len(inserted)


class BatchWriter:
    def __init__(self, engine: Engine, objects: ObjectStore | None = None) -> None:
        self._engine = engine
        self._objects = objects

    def check(self) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute("SELECT 1")

    def write(self, batch: Batch, find_children: FindChildren) -> Sequence[Found]:
        """Commit the batch. `find_children` gets the true depth of each ended URL and returns the URLs it found.

        Returns the found URLs that were already known, perhaps at a greater depth.
        """
        if self._objects is not None and (batch.snapshots or batch.pictures):
            batch = put_outside(batch, self._objects)  # before the rows that refer to them
        try:
            with transaction(self._engine) as connection, cursor(connection) as db:
                depths, turned = end_urls(db, batch.ends)
                write_pages(db, batch, depths, turned, end_probes(db, batch.probes))
                children = find_children(depths)
                inserted = insert_found(db, children)
                write_renderings(db, batch)
                _log_requests(db, batch.requests)
                if batch.entries:
                    end_entries(db, [end for end in batch.entries if end.key in turned])
                due = make_due(db, [d for d in batch.documents if d.key in turned]) if batch.documents else Counter()
                if batch.existing:
                    name_existing(db, batch.existing)
                count(db, batch, turned, count_by_crawl(inserted), due)
        except psycopg2.errors.UniqueViolation as exc:
            raise WriteRaced(" ".join(str(exc).split())) from exc
        # A lone surrogate or a number that is too large is refused by the driver, before the server sees it.
        except (psycopg2.DataError, psycopg2.IntegrityError, ValueError, struct.error, orjson.JSONEncodeError) as exc:
            raise RowRefused(" ".join(str(exc).split())) from exc
        return [child for child in children if child.key not in inserted]

    def log_requests(self, requests: Sequence[Request]) -> None:
        with transaction(self._engine) as connection, cursor(connection) as db:
            _log_requests(db, requests)

    def has_light_copy(self, key: UrlKey) -> bool:
        """Whether what the server sent of a page is kept, beside what the browser will show in this crawl."""
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_HAS_LIGHT_COPY, key)
            return db.fetchone() is not None

    def previous(
        self,
        project_id: UUID,
        normalized_urls: Sequence[str],
        *,
        baseline_id: UUID | None = None,
        with_snapshots: bool = False,
    ) -> dict[str, Previous]:
        """What earlier crawls stored of these pages. `baseline_id`: the one that this crawl is compared with."""
        pages = [page_id(project_id, url) for url in normalized_urls]
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_PREVIOUS, {"snapshots": with_snapshots, "baseline": baseline_id, "pages": pages})
            # The driver returns a memoryview, which is equal to no bytes.
            return {url: Previous(etag, bytes(digest), *rest) for url, etag, digest, *rest in db}


def _log_requests(db: Cursor, requests: Sequence[Request]) -> None:
    if requests:
        _COPY_REQUESTS(db, requests)


_HAS_LIGHT_COPY = """
SELECT 1 FROM crawl_discovered_urls WHERE crawl_job_id = %s AND normalized_url = %s AND rendering ? 'light_copy'
"""
# By id, which only one index has. By project and URL the planner, which has no statistics of a new project, takes
# another index and reads all of the project's pages for every batch.
_PREVIOUS = """
SELECT p.normalized_url, p.etag, p.content_hash, p.version_id,
    coalesce(p.links_followed, p.links_found), p.links_unusable, p.canonical_url, p.noindex,
    p.crawl_method = 'lightweight' AND s.id IS NULL
        AND coalesce(p.reason, '') NOT IN ('render_unavailable', 'render_failed', 'render_off'),
    CASE WHEN %(snapshots)s THEN (SELECT v.snapshot_id FROM page_versions v WHERE v.id = p.version_id) END,
    p.crawl_method,
    CASE WHEN %(baseline)s::uuid IS NOT NULL THEN coalesce(b.crawl_method, p.crawl_method) END,
    (b.rendering ->> 'light_copy')::uuid,
    CASE WHEN coalesce(b.reason, p.reason) IN ('render_unavailable', 'render_failed', 'render_off') THEN EXISTS (
        SELECT 1 FROM page_versions v WHERE v.page_id = p.id AND v.crawl_method = 'crawl4ai')
    ELSE false END,
    p.word_count,
    f.rendering -> 'unfed', (f.rendering ->> 'missed')::int, NOT (f.rendering #>> '{compared,agrees}')::boolean,
    s.id IS NOT NULL
FROM crawled_pages p
LEFT JOIN LATERAL (
    SELECT s.id FROM page_versions v JOIN snapshots s ON s.id = v.snapshot_id
    WHERE v.id = p.version_id AND s.encoding = 'lost'
) s ON true
LEFT JOIN LATERAL (
    SELECT u.reason, u.rendering, v.crawl_method
    FROM crawl_discovered_urls u LEFT JOIN page_versions v ON v.id = u.version_id
    WHERE u.crawl_job_id = %(baseline)s::uuid AND u.normalized_url = p.normalized_url AND u.fetch_state = 'done'
        AND (p.crawl_id <> u.crawl_job_id OR p.crawl_method = 'crawl4ai') LIMIT 1
) b ON true
LEFT JOIN LATERAL (
    SELECT u.rendering FROM crawl_discovered_urls u
    WHERE u.crawl_job_id = %(baseline)s::uuid AND u.normalized_url = p.normalized_url
        AND p.crawl_method = 'crawl4ai' LIMIT 1
) f ON true
WHERE p.id = ANY(%(pages)s) AND p.content_hash IS NOT NULL
"""
