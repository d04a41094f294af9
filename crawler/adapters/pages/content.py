"""What a page was at a version: its bytes, its markdown, and the versions there are.

How markdown is made: `domain/markdown/page.py`. What changed between versions: `handlers/changes/compare_versions.py`.
How long versions are kept: `adapters/postgres/retention.py`.
"""

from collections.abc import Generator
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.pages.judged_markdown import JudgedMarkdown
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.lost_snapshots import read_snapshot
from crawler.adapters.postgres.snapshot_bytes import find_bytes, picture_bytes
from crawler.domain.exports.files import ExportedMarkdown
from crawler.domain.markdown.page import MarkdownPage
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.lists import PagePicture, PageSnapshot, VersionRow
from crawler.errors import NotFound

ROWS_AT_ONCE = 10
"""A page's bytes may be megabytes."""


class PageContent:
    def __init__(self, engine: Engine, markdown: JudgedMarkdown) -> None:
        self._engine = engine
        self._markdown = markdown

    def get_snapshot(self, project_id: UUID, page_id: UUID, version_id: UUID | None = None) -> PageSnapshot:
        """The stored bytes of this version; of the newest when none is named."""
        given = {"project": project_id, "page": page_id, "version": version_id}
        with transaction(self._engine) as db:
            row = db.execute(text(_SNAPSHOT), given).one_or_none()
        if row is None or row.content is None:
            what = f"version {version_id} of page" if version_id else "stored content of page"
            raise NotFound(f"There is no {what} {page_id} in project {project_id}.")
        body = read_snapshot(self._engine, row)
        return PageSnapshot(row.version_id, row.url, body, row.content_type or "", bool(row.prunes))

    def get_screenshot(
        self, project_id: UUID, page_id: UUID, version_id: UUID | None = None, *, thumbnail: bool = False
    ) -> PagePicture:
        """The screenshot of this version; of the newest that has one when none is named."""
        given = {"project": project_id, "page": page_id, "version": version_id}
        query = _PICTURE.format(image="thumbnail" if thumbnail else "image")
        with transaction(self._engine) as db:
            row = db.execute(text(query), given).one_or_none()
        if row is None:
            raise NotFound(f"There is no screenshot of page {page_id} in project {project_id}.")
        return PagePicture(row.version_id, picture_bytes(row.image))

    def list_versions(
        self, project_id: UUID, page_id: UUID, before: tuple[datetime, UUID] | None, limit: int
    ) -> list[VersionRow]:
        """Newest first."""
        given: dict[str, Any] = {"project": project_id, "page": page_id, "limit": limit}
        query = _VERSIONS.format(before="")
        if before:
            query = _VERSIONS.format(before="AND (v.fetched_at, v.id) < (:at, :id)")
            given |= {"at": before[0], "id": before[1]}
        with transaction(self._engine) as db:
            if db.execute(text(_EXISTS), given).first() is None:
                raise NotFound(f"There is no page {page_id} in project {project_id}.")
            return [VersionRow(*row) for row in db.execute(text(query), given)]

    def project_markdown(self, project_id: UUID) -> Generator[ExportedMarkdown]:
        """Every page the project has now, the homepage first, streamed."""
        with transaction(self._engine) as db:
            # Their order first: to sort them with all they hold would take a second before the first one comes.
            ordered = db.execute(text(_ORDERED), {"project": project_id}, execution_options={"yield_per": 1000})
            for some in ordered.scalars().partitions(ROWS_AT_ONCE):
                rows = {row.page_id: row for row in db.execute(text(_PAGES), {"pages": list(some)})}
                for page_id in some:
                    page = rows.get(page_id)
                    if page is None or (body := find_bytes(page.content, page.byte_length)) is None:
                        continue
                    pruning = Pruning() if page.prunes else None
                    markdown = self._markdown(body, page.url, page.content_type or "", pruning)
                    if markdown is not None:
                        yield ExportedMarkdown(page_id, MarkdownPage(page.url, page.depth or 0, markdown))


_EXISTS = "SELECT 1 FROM crawled_pages WHERE id = :page AND project_id = :project"
_SNAPSHOT = """
SELECT v.id AS version_id, v.snapshot_id, coalesce(v.final_url, p.url) AS url, s.content, s.byte_length,
       coalesce(v.headers ->> 'content-type', s.content_type) AS content_type,
       (j.settings ->> 'prune_markdown')::boolean AS prunes
FROM crawled_pages p
JOIN projects j ON j.id = p.project_id
JOIN page_versions v ON v.page_id = p.id AND v.id = coalesce(CAST(:version AS uuid), p.version_id)
LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE p.id = :page AND p.project_id = :project
"""
_PICTURE = """
SELECT s.version_id, s.{image} AS image FROM crawled_pages p
JOIN page_versions v ON v.page_id = p.id AND v.id = coalesce(CAST(:version AS uuid), v.id)
JOIN screenshots s ON s.version_id = v.id
WHERE p.id = :page AND p.project_id = :project ORDER BY v.fetched_at DESC, v.id DESC LIMIT 1
"""
_VERSIONS = """
SELECT v.id, v.crawl_id, v.title, encode(v.content_hash, 'hex'), v.crawl_method, v.final_url, s.byte_length,
       v.fetched_at
FROM page_versions v LEFT JOIN snapshots s ON s.id = v.snapshot_id
WHERE v.page_id = :page {before} ORDER BY v.fetched_at DESC, v.id DESC LIMIT :limit
"""
_ORDERED = """
SELECT id FROM crawled_pages WHERE project_id = :project AND status = 'success' AND version_id IS NOT NULL
ORDER BY depth NULLS LAST, normalized_url
"""
_PAGES = """
SELECT p.id AS page_id, coalesce(v.final_url, p.url) AS url, p.depth, s.content, s.byte_length,
       coalesce(v.headers ->> 'content-type', s.content_type) AS content_type,
       (j.settings ->> 'prune_markdown')::boolean AS prunes
FROM crawled_pages p
JOIN projects j ON j.id = p.project_id
JOIN page_versions v ON v.id = p.version_id
JOIN snapshots s ON s.id = v.snapshot_id
WHERE p.id = ANY(:pages)
"""
