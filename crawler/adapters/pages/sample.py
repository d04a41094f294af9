"""Addresses of a project's stored pages, evenly picked where there are many: for a glance at what rules would do.

The rules are tried by `handlers/crawls/preview_settings.py`.
"""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction


class Sample(NamedTuple):
    urls: list[str]
    total: int
    """How many pages are stored."""


class PageSample:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, project_id: UUID, most: int) -> Sample:
        with transaction(self._engine) as db:
            total = int(db.execute(text(_COUNT), {"project": project_id}).scalar_one())
            given = {"project": project_id, "each": max(1, -(-total // most))}
            return Sample([row.normalized_url for row in db.execute(text(_EACH), given)], total)


# What ended badly has an index of its own, so nothing but indexes is counted.
_COUNT = """
SELECT (SELECT count(*) FROM crawled_pages WHERE project_id = :project)
     - (SELECT count(*) FROM crawled_pages WHERE project_id = :project AND status <> 'success')
"""
_EACH = """
SELECT normalized_url FROM (
    SELECT normalized_url, row_number() OVER (ORDER BY normalized_url) AS place
    FROM crawled_pages WHERE project_id = :project AND status = 'success'
) AS stored WHERE (place - 1) % :each = 0
"""
