"""The two versions of each page that changed between two crawls, from both crawls' ledgers."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.database import transaction
from crawler.domain.crawl_changes import ChangedPage


class ChangedPagesReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, crawl_id: UUID, compared_to: UUID, keys: Sequence[str]) -> tuple[ChangedPage, ...]:
        """Of these normalized URLs, in the order of the URLs' names. What was pruned is left out."""
        given = {"crawl": crawl_id, "before": compared_to, "keys": list(keys)}
        with transaction(self._engine) as db:
            rows = db.execute(text(_CHANGED), given)
            return tuple(ChangedPage.model_validate(row._asdict()) for row in rows)


_CHANGED = """
SELECT u.url, v.page_id, o.id AS from_version, v.id AS to_version
FROM crawl_discovered_urls u
JOIN crawl_discovered_urls b ON b.crawl_job_id = :before AND b.normalized_url = u.normalized_url
JOIN page_versions v ON v.id = u.version_id
JOIN page_versions o ON o.id = b.version_id AND o.page_id = v.page_id
WHERE u.crawl_job_id = :crawl AND u.normalized_url = ANY(:keys) ORDER BY u.url
"""
