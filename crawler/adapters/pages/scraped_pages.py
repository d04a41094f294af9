"""Reads single pages by their address: how a crawl's URL ended, and what is stored of a page.

Who asks: `handlers/crawls/scrape_pages.py`.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.objects.object_store import ObjectGone
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.lost_snapshots import read_snapshot
from crawler.adapters.postgres.snapshot_bytes import picture_bytes
from crawler.domain.pages.scraped import PageEnd, ScrapedVersion
from crawler.domain.reasons import Reason


class ScrapedPages:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find_end(self, crawl_id: UUID, normalized_url: str) -> tuple[PageEnd, str | None] | None:
        """How the URL ended and where it redirects; None while it waits or if the crawl has none such."""
        with transaction(self._engine) as db:
            row = db.execute(text(_END), {"crawl": crawl_id, "url": normalized_url}).one_or_none()
        if row is None:
            return None
        return PageEnd(row.url, row.fetch_state, row.reason, row.error_message, row.http_status, row.version_id), (
            row.final_url
        )

    def find_version(self, project_id: UUID, version_id: UUID) -> ScrapedVersion | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_VERSION), {"project": project_id, "version": version_id}).one_or_none()
        return self._version(row) if row else None

    def find_seen(
        self, project_id: UUID, normalized_url: str, since: datetime, *, rendered: bool, pictured: bool
    ) -> ScrapedVersion | None:
        """The page as it was found since then, unless headers of somebody's own were sent for it."""
        given = {
            "project": project_id,
            "url": normalized_url,
            "since": since,
            "rendered": rendered,
            "pictured": pictured,
        }
        with transaction(self._engine) as db:
            row = db.execute(text(_SEEN), given).one_or_none()
        return self._find(row)

    def list_done(self, crawl_id: UUID, skip: int, limit: int, until: datetime | None = None) -> list[PageEnd]:
        """Pages of a crawl in the order they came, those until then: what comes later stands behind what was read."""
        given = {"crawl": crawl_id, "skip": skip, "limit": limit, "until": until}
        with transaction(self._engine) as db:
            rows = db.execute(text(_DONE), given).all()
        return [PageEnd(row.url, row.fetch_state, row.reason, None, row.http_status, row.version_id) for row in rows]

    def count_done(self, crawl_id: UUID) -> int:
        with transaction(self._engine) as db:
            return int(db.execute(text(_COUNT_DONE), {"crawl": crawl_id}).scalar_one())

    def list_bad(
        self, crawl_id: UUID, limit: int, *, only_failed: bool = False
    ) -> list[tuple[PageEnd, datetime | None]]:
        """URLs that failed, those that robots.txt or the egress rule refused, and those that were asked for by name and
        are no page."""
        refused = [] if only_failed else list(_REFUSED)
        given = {"crawl": crawl_id, "limit": limit, "refused": refused, "no_end": list(_NO_END)}
        with transaction(self._engine) as db:
            rows = db.execute(text(_BAD), given).all()
        return [
            (PageEnd(row.url, row.fetch_state, row.reason, row.error_message, row.http_status, None), row.fetched_at)
            for row in rows
        ]

    def find_picture(self, version_id: UUID) -> bytes | None:
        with transaction(self._engine) as db:
            image = db.execute(text(_PICTURE), {"version": version_id}).scalar_one_or_none()
        return picture_bytes(image) if image is not None else None

    def find_before(self, version_id: UUID) -> ScrapedVersion | None:
        """The version of the same page before this one, of those that were fetched alike."""
        with transaction(self._engine) as db:
            row = db.execute(text(_BEFORE), {"version": version_id}).one_or_none()
        return self._find(row)

    def _find(self, row: Row[Any] | None) -> ScrapedVersion | None:
        """None also if the storage has lost it: it can be fetched anew."""
        try:
            return self._version(row) if row else None
        except ObjectGone:
            return None

    def _version(self, row: Row[Any]) -> ScrapedVersion:
        return ScrapedVersion(
            page_id=row.page_id,
            version_id=row.version_id,
            crawl_id=row.crawl_id,
            url=row.url,
            title=row.title,
            description=row.meta_description,
            language=row.language,
            http_status=row.http_status,
            content_type=row.content_type or "",
            method=row.crawl_method,
            body=read_snapshot(self._engine, row) if row.content is not None else b"",
            changed_at=row.fetched_at,
            seen_at=row.last_seen_at or row.fetched_at,
        )


_REFUSED = (Reason.ROBOTS, Reason.ROBOTS_UNREACHABLE, Reason.EGRESS, Reason.NOT_FOUND, Reason.FORBIDDEN)
_NO_END = (Reason.REDIRECTED, Reason.CANCELLED, Reason.MAX_PAGES)
_DONE = """
SELECT url, fetch_state, reason, http_status, version_id FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND fetch_state = 'done' AND version_id IS NOT NULL
  AND (CAST(:until AS timestamptz) IS NULL OR fetched_at < :until)
ORDER BY fetched_at, normalized_url OFFSET :skip LIMIT :limit
"""
_COUNT_DONE = """
SELECT count(*) FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND fetch_state = 'done' AND version_id IS NOT NULL
"""
_BAD = """
SELECT url, fetch_state, reason, error_message, http_status, fetched_at FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND (fetch_state = 'failed' OR reason = ANY(CAST(:refused AS text[]))
  OR (source IN ('seed', 'list') AND fetch_state = 'skipped' AND reason <> ALL(CAST(:no_end AS text[]))))
ORDER BY crawl_job_id, normalized_url LIMIT :limit
"""
_END = """
SELECT url, fetch_state, reason, error_message, http_status, version_id, final_url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND normalized_url = :url AND fetch_state <> 'queued'
"""
_COLUMNS = """
SELECT p.id AS page_id, v.id AS version_id, v.snapshot_id, v.crawl_id, coalesce(v.final_url, p.url) AS url, v.title,
       p.meta_description, p.language, p.http_status, v.crawl_method, v.fetched_at, p.last_seen_at,
       coalesce(v.headers ->> 'content-type', s.content_type) AS content_type, s.content, s.byte_length
FROM page_versions v JOIN crawled_pages p ON p.id = v.page_id LEFT JOIN snapshots s ON s.id = v.snapshot_id
"""
_VERSION = f"{_COLUMNS} WHERE v.id = :version AND p.project_id = :project"
_SEEN = f"""{_COLUMNS} JOIN crawl_jobs c ON c.id = p.crawl_id LEFT JOIN crawl_jobs m ON m.id = v.crawl_id
WHERE p.project_id = :project AND p.normalized_url = :url AND p.version_id = v.id AND p.status = 'success'
  AND p.last_seen_at >= :since AND NOT c.scope ? 'headers' AND NOT coalesce(m.scope ? 'headers', false)
  AND (NOT :rendered OR v.crawl_method = 'crawl4ai')
  AND (NOT :pictured OR EXISTS (SELECT 1 FROM screenshots i WHERE i.version_id = v.id))
"""  # noqa: S608 - our own words
_PICTURE = "SELECT image FROM screenshots WHERE version_id = :version"
_BEFORE = f"""{_COLUMNS}
JOIN page_versions n ON n.id = :version AND n.page_id = v.page_id AND v.fetched_at < n.fetched_at
WHERE v.crawl_method IS NOT DISTINCT FROM n.crawl_method ORDER BY v.fetched_at DESC, v.id DESC LIMIT 1
"""
