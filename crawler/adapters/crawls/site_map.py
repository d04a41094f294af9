"""The URLs of a site: what a crawl found and did not refuse, and what projects have stored.

Who asks: `handlers/crawls/map_site.py`.
"""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.pages.scraped import MappedUrl

MOST_PROJECTS = 20
_LAST = "\U0010ffff"


class SiteMap:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def found(self, crawl_id: UUID, *, only_sitemaps: bool, limit: int) -> list[MappedUrl]:
        given = {"crawl": crawl_id, "only": only_sitemaps, "limit": limit}
        with transaction(self._engine) as db:
            return [MappedUrl(*row) for row in db.execute(text(_FOUND), given)]

    def known(self, host: str, projects: Sequence[UUID] | None, limit: int) -> list[MappedUrl]:
        """Stored pages of this host, in projects about it that the caller may see."""
        starts = [f"{scheme}://{host}/" for scheme in ("https", "http")]
        given = {
            "starts": [f"{start}%" for start in starts],
            "only": list(projects) if projects is not None else None,
            "low": starts,
            "high": [start + _LAST for start in starts],
            "projects": MOST_PROJECTS,
            "limit": limit,
        }
        with transaction(self._engine) as db:
            return [MappedUrl(*row) for row in db.execute(text(_KNOWN), given)]


_FOUND = """
SELECT url FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND (NOT :only OR source = 'sitemap')
  AND (fetch_state IN ('queued', 'done') OR reason IN ('max_pages', 'max_depth', 'query_open', 'host_blocked'))
ORDER BY crawl_job_id, normalized_url LIMIT :limit
"""
_KNOWN = """
WITH about AS (
    SELECT id FROM projects
    WHERE website_url LIKE ANY(:starts) AND (CAST(:only AS uuid[]) IS NULL OR id = ANY(CAST(:only AS uuid[])))
    ORDER BY id LIMIT :projects
)
SELECT DISTINCT ON (p.normalized_url) p.url, p.title, p.meta_description
FROM about JOIN crawled_pages p ON p.project_id = about.id
JOIN unnest(CAST(:low AS text[]), CAST(:high AS text[])) AS span(low, high)
    ON p.normalized_url >= span.low COLLATE "C" AND p.normalized_url < span.high COLLATE "C"
WHERE p.status = 'success' ORDER BY p.normalized_url LIMIT :limit
"""
