"""Retention: delete old page versions, snapshots, URL lists and request logs. Pages keep their newest version.

Request logs are deleted every hour by the reconciler; all else by `crawler prune`. Everything is deleted in small
transactions, beside crawls that run.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.runtime_settings import read_runtime_settings
from crawler.adapters.postgres.snapshot_bytes import PICTURE_HEAD

OBJECT_GRACE = timedelta(days=1)
"""Objects are written before the rows that refer to them."""
BATCH = 5000
"""Rows, or pages, of one transaction."""


class Retention(NamedTuple):
    request_log_days: int
    keep_versions: int
    """Newest versions of a page that are kept; 0 keeps all."""
    keep_crawl_days: int
    """Days after which a crawl's URL list is deleted; 0 keeps all. Each project's last two crawls stay comparable."""


class Pruned(NamedTuple):
    requests: int
    versions: int
    snapshots: int
    urls: int


class Pruner:
    """Two at the same time only share the work, and one that is ended early has done its part."""

    def __init__(self, engine: Engine, retention: Retention, objects: ObjectStore | None = None) -> None:
        self._engine = engine
        self._retention = retention
        self._objects = objects

    def __call__(self, now: datetime, *, dry_run: bool = False) -> Pruned:
        """Delete what is older than its retention. A dry run counts it, in one look at everything."""
        kept = self._in_force()
        crawls_before = now - timedelta(days=kept.keep_crawl_days) if kept.keep_crawl_days else None
        if dry_run:
            return self._count(kept, now, crawls_before)
        pruned = Pruned(
            requests=self.requests(now),
            urls=self._old_crawls(crawls_before) if crawls_before else 0,
            versions=self._old_versions(kept.keep_versions) if kept.keep_versions else 0,
            snapshots=self._walk("snapshots", _unused_snapshots),  # last, because more of them are unused now
        )
        if self._objects is not None:
            self._unused_objects(self._objects, now - OBJECT_GRACE)
        return pruned

    def requests(self, now: datetime) -> int:
        """Delete only from the request log: cheap enough for every hour."""
        return self._delete(_REQUESTS, before=now - timedelta(days=self._in_force().request_log_days))

    def _in_force(self) -> Retention:
        """The retention in force: operators' runtime settings override the environment."""
        with transaction(self._engine) as db:
            given = read_runtime_settings(db).model_dump(include=set(Retention._fields), exclude_none=True)
        return self._retention._replace(**given)

    def _old_crawls(self, before: datetime) -> int:
        """Delete URL lists of old crawls, and the reports on these URLs. Returns the number of URLs."""
        with transaction(self._engine) as db:
            crawls = db.execute(text(_OLD_CRAWLS), {"before": before}).scalars().all()
        for table in ("crawl_findings", "crawl_reports", "crawl_probes"):
            for crawl in crawls:
                self._delete(_ROWS.format(table=table, condition="crawl_id = :crawl"), crawl=crawl)
        urls = _ROWS.format(table="crawl_urls", condition="crawl_job_id = :crawl")
        return sum(self._delete(urls, crawl=crawl) for crawl in crawls)

    def _old_versions(self, keep: int) -> int:
        def delete(db: Connection, after: UUID, last: UUID) -> int:
            return db.execute(text(_VERSIONS), {"keep": keep, "after": after, "last": last}).rowcount

        return self._walk("crawled_pages", delete)

    def _unused_objects(self, objects: ObjectStore, before: datetime) -> None:
        """Delete objects that nothing refers to: of rows that are gone, and of commits that failed."""
        for some in objects.written_before(before):
            with self._unhurried() as db:
                used = {bytes(row) for row in db.execute(text(_REFERENCES), {"ids": list(some)}).scalars()}
            objects.delete(
                [reference for references in some.values() for reference in references if reference not in used]
            )

    def _delete(self, statement: str, **values: object) -> int:
        """Repeat a statement that deletes at most a batch until nothing is left."""
        gone = 0
        while True:
            with self._unhurried() as db:
                found = db.execute(text(statement), {**values, "most": BATCH}).rowcount
            gone += found
            if found < BATCH:
                return gone

    def _walk(self, table: str, delete: Callable[[Connection, UUID, UUID], int]) -> int:
        """Delete what belongs to the rows of a table, a batch of them after the other."""
        gone, after = 0, UUID(int=0)
        while True:
            with self._unhurried() as db:
                ids = db.execute(text(_NEXT.format(table=table)), {"after": after, "most": BATCH}).scalars().all()
                if not ids:
                    return gone
                gone += delete(db, after, ids[-1])
            after = ids[-1]

    def _count(self, kept: Retention, now: datetime, crawls_before: datetime | None) -> Pruned:
        before = now - timedelta(days=kept.request_log_days)
        given = {"before": before, "crawls_before": crawls_before, "keep": kept.keep_versions or None}
        with self._unhurried() as db:
            return Pruned(**db.execute(text(_COUNTS), given).one()._asdict())

    @contextmanager
    def _unhurried(self) -> Iterator[Connection]:
        with transaction(self._engine) as db:
            db.execute(text("SET LOCAL statement_timeout = 0"))
            yield db


def _unused_snapshots(db: Connection, after: UUID, last: UUID) -> int:
    """Delete snapshots that nothing refers to.

    They are locked first and looked at again then. Whoever wants to refer to one locks it, too (`CopyInto.new`): it is
    seen by the second look, or waits and finds that the snapshot has to be written anew.
    """
    locked = db.execute(text(_LOCK_UNUSED), {"after": after, "last": last}).scalars().all()
    return db.execute(text(_DELETE_UNUSED), {"ids": locked}).rowcount if locked else 0


_NEXT = "SELECT id FROM {table} WHERE id > :after ORDER BY id LIMIT :most"
# A ctid is that of one part of a table only; the condition outside names the part.
_ROWS = """
DELETE FROM {table} WHERE {condition}
    AND ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT :most))
"""
_REQUESTS = _ROWS.format(table="request_log", condition="at < :before")
_AGES = """
SELECT v.id, v.snapshot_id,
       EXISTS (SELECT 1 FROM crawled_pages p WHERE p.id = v.page_id AND p.version_id = v.id) AS shown,
       row_number() OVER (PARTITION BY v.page_id ORDER BY v.fetched_at DESC, v.id) AS age
FROM page_versions v
"""
# ruff: noqa: S608 - our own words
_VERSIONS = f"""
DELETE FROM page_versions v USING ({_AGES} WHERE v.page_id > :after AND v.page_id <= :last) a
WHERE a.id = v.id AND a.age > :keep AND NOT a.shown
"""
_UNUSED = """
NOT EXISTS (SELECT 1 FROM page_versions v WHERE v.snapshot_id = s.id)
    AND NOT EXISTS (SELECT 1 FROM crawl_probes p WHERE p.snapshot_id = s.id)
"""
_LOCK_UNUSED = f"SELECT id FROM snapshots s WHERE id > :after AND id <= :last AND {_UNUSED} FOR UPDATE SKIP LOCKED"
_DELETE_UNUSED = f"DELETE FROM snapshots s WHERE id = ANY(CAST(:ids AS uuid[])) AND {_UNUSED}"
_REFERENCES = f"""
SELECT content FROM snapshots WHERE id = ANY(CAST(:ids AS uuid[]))
UNION ALL SELECT substring(image FROM {PICTURE_HEAD + 1}) FROM screenshots WHERE version_id = ANY(CAST(:ids AS uuid[]))
"""
_OLD_CRAWLS = """
SELECT id FROM (
    SELECT id, completed_at, row_number() OVER (PARTITION BY project_id ORDER BY id DESC) AS age
    FROM crawl_jobs WHERE status IN ('completed', 'failed', 'cancelled')
) c
WHERE age > 2 AND completed_at < :before
"""
_COUNTS = f"""
WITH old AS MATERIALIZED ({_OLD_CRAWLS.replace(":before", ":crawls_before")}),
    versions AS MATERIALIZED (SELECT id, snapshot_id, age <= :keep OR :keep IS NULL OR shown AS kept FROM ({_AGES}) a),
    used AS MATERIALIZED (
        SELECT snapshot_id FROM versions WHERE kept
        UNION SELECT snapshot_id FROM crawl_probes WHERE crawl_id NOT IN (SELECT id FROM old)
    )
SELECT (SELECT count(*) FROM request_log WHERE at < :before) AS requests,
    (SELECT count(*) FROM versions WHERE NOT kept) AS versions,
    (SELECT count(*) FROM snapshots s WHERE NOT EXISTS (SELECT 1 FROM used u WHERE u.snapshot_id = s.id)) AS snapshots,
    (SELECT count(*) FROM crawl_urls WHERE crawl_job_id IN (SELECT id FROM old)) AS urls
"""
