"""Retention: delete old page versions, snapshots, URL lists and request logs. Pages keep their newest version.

Request logs are deleted every hour by the reconciler; all else by `crawler prune`.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.runtime_settings import read_runtime_settings


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
    def __init__(self, engine: Engine, retention: Retention) -> None:
        self._engine = engine
        self._retention = retention

    def __call__(self, now: datetime, *, dry_run: bool = False) -> Pruned:
        """Delete what is older than its retention. A dry run deletes and rolls back, so its numbers are true."""
        with transaction(self._engine) as db:
            attempt = db.begin_nested()
            pruned = self._prune(db, now)
            if dry_run:
                attempt.rollback()
        return pruned

    def requests(self, now: datetime) -> int:
        """Delete only from the request log: cheap enough for every hour."""
        with transaction(self._engine) as db:
            return _delete(db, _REQUESTS, before=now - timedelta(days=self._in_force(db).request_log_days))

    def _prune(self, db: Connection, now: datetime) -> Pruned:
        kept = self._in_force(db)
        db.execute(text("SET LOCAL statement_timeout = 0"))
        # Until this ends, no other transaction may start to use a snapshot that is about to be deleted.
        db.execute(text("LOCK TABLE snapshots IN SHARE ROW EXCLUSIVE MODE"))
        crawls_before = now - timedelta(days=kept.keep_crawl_days)
        return Pruned(
            requests=_delete(db, _REQUESTS, before=now - timedelta(days=kept.request_log_days)),
            versions=_delete(db, _VERSIONS, keep=kept.keep_versions) if kept.keep_versions else 0,
            snapshots=_delete(db, _SNAPSHOTS),
            urls=_old_crawls(db, crawls_before) if kept.keep_crawl_days else 0,
        )

    def _in_force(self, db: Connection) -> Retention:
        """The retention in force: operators' runtime settings override the environment."""
        given = read_runtime_settings(db).model_dump(include=set(Retention._fields), exclude_none=True)
        return self._retention._replace(**given)


def _old_crawls(db: Connection, before: datetime) -> int:
    """Delete URL lists of old crawls, and the reports on them. Returns the number of URLs."""
    _delete(db, _FINDINGS, before=before)
    _delete(db, _REPORTS, before=before)
    _delete(db, _PROBES, before=before)
    return _delete(db, _URLS, before=before)


def _delete(db: Connection, statement: str, **values: object) -> int:
    return db.execute(text(statement), values).rowcount


_REQUESTS = "DELETE FROM request_log WHERE at < :before"
_VERSIONS = """
DELETE FROM page_versions v
USING (SELECT id, row_number() OVER (PARTITION BY page_id ORDER BY fetched_at DESC, id) AS age FROM page_versions) a
WHERE a.id = v.id AND a.age > :keep
  AND NOT EXISTS (SELECT 1 FROM crawled_pages p WHERE p.id = v.page_id AND p.version_id = v.id)
"""
_SNAPSHOTS = """
DELETE FROM snapshots s WHERE NOT EXISTS (SELECT 1 FROM page_versions v WHERE v.snapshot_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM crawl_probes p WHERE p.snapshot_id = s.id)
"""
_OLD_CRAWLS = """
SELECT id FROM (
    SELECT id, completed_at, row_number() OVER (PARTITION BY project_id ORDER BY id DESC) AS age
    FROM crawl_jobs WHERE status IN ('completed', 'failed', 'cancelled')
) c
WHERE age > 2 AND completed_at < :before
"""
_URLS = f"DELETE FROM crawl_discovered_urls WHERE crawl_job_id IN ({_OLD_CRAWLS})"  # noqa: S608 - our own words
# Reports are about these URLs; without the URLs they cannot be explained any more.
_FINDINGS = f"DELETE FROM crawl_findings WHERE crawl_id IN ({_OLD_CRAWLS})"  # noqa: S608
_PROBES = f"DELETE FROM crawl_probes WHERE crawl_id IN ({_OLD_CRAWLS})"  # noqa: S608
_REPORTS = f"DELETE FROM crawl_reports WHERE crawl_id IN ({_OLD_CRAWLS})"  # noqa: S608
