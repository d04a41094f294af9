"""Categories in Postgres, and who names them.

Selectors are checked by `handlers/acquisition/manage_categories.py`, and read by `domain/acquisition/selectors.py`.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.acquisition.categories import Category
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.errors import NotFound

MOST = 500


class CategoryStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def get(self, name: str) -> Category:
        found = self.find(name)
        if found is None:
            raise NotFound(f"There is no category {name!r}.")
        return found

    def find(self, name: str) -> Category | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_FIND), {"name": name}).one_or_none()
        return _category(row) if row else None

    def list_all(self) -> list[Category]:
        with transaction(self._engine) as db:
            return [_category(row) for row in db.execute(text(_LIST))]

    def put(self, name: str, selectors: SelectorSet) -> Category:
        written = orjson.dumps(selectors.model_dump(mode="json")).decode()
        with transaction(self._engine) as db:
            return _category(db.execute(text(_PUT), {"name": name, "selectors": written}).one())

    def delete(self, name: str) -> None:
        with transaction(self._engine) as db:
            if not db.execute(text(_DELETE), {"name": name}).rowcount:
                raise NotFound(f"There is no category {name!r}.")

    def unfinished(self, name: str) -> int:
        """Entries of it whose pages are still to be read."""
        with transaction(self._engine) as db:
            return int(db.execute(text(_UNFINISHED), {"name": name}).scalar_one())

    def entries(self, names: Iterable[str] | None = None) -> dict[str, int]:
        """How many entries name which category; those without one as ''. Of all, the largest."""
        given = {"most": MOST, "names": None if names is None else list(names)}
        query = _ENTRIES if names is None else _ENTRIES_OF
        with transaction(self._engine) as db:
            return {row.category or "": int(row.n) for row in db.execute(text(query), given)}

    def page_of_entry(self, entry_id: int) -> UUID | None:
        with transaction(self._engine) as db:
            row = db.execute(text("SELECT page_id FROM crawl_queue WHERE id = :id"), {"id": entry_id}).one_or_none()
        if row is None:
            raise NotFound(f"There is no queue entry {entry_id}.")
        page_id: UUID | None = row.page_id
        return page_id

    def page_of_key(self, key: str) -> UUID | None:
        """The page that an entry with this key led to."""
        with transaction(self._engine) as db:
            return db.execute(text(_ENTRY_PAGE), {"key": key}).scalar_one_or_none()

    def page_at(self, urls: Sequence[str]) -> UUID | None:
        """The newest page that is stored under one of these normalized URLs, of whichever project."""
        with transaction(self._engine) as db:
            return db.execute(text(_PAGE_AT), {"urls": list(urls)}).scalar_one_or_none()


def _category(row: Row[Any]) -> Category:
    selectors = SelectorSet.model_validate(row.selectors)
    return Category(name=row.name, selectors=selectors, created_at=row.created_at, updated_at=row.updated_at)


_FIND = "SELECT * FROM categories WHERE name = :name"
_LIST = "SELECT * FROM categories ORDER BY name"
_PUT = """
INSERT INTO categories AS c (name, selectors) VALUES (:name, CAST(:selectors AS jsonb))
ON CONFLICT (name) DO UPDATE SET selectors = excluded.selectors, updated_at = now()
RETURNING *
"""
_DELETE = "DELETE FROM categories WHERE name = :name"
_UNFINISHED = """
SELECT count(*) FROM (SELECT 1 FROM crawl_queue WHERE category = :name
    AND status IN ('pending', 'fetching', 'fetched', 'extracting') LIMIT 10001) AS found
"""
_ENTRIES = "SELECT category, count(*) AS n FROM crawl_queue GROUP BY category ORDER BY n DESC LIMIT :most"
_ENTRIES_OF = "SELECT category, count(*) AS n FROM crawl_queue WHERE category = ANY(:names) GROUP BY category"
_ENTRY_PAGE = "SELECT page_id FROM crawl_queue WHERE normalized_url = :key"
# By project and URL, of which there is an index.
_PAGE_AT = """
SELECT p.id FROM projects j CROSS JOIN unnest(CAST(:urls AS text[])) AS u(url)
JOIN crawled_pages p ON p.project_id = j.id AND p.normalized_url = u.url
WHERE p.version_id IS NOT NULL ORDER BY p.crawled_at DESC LIMIT 1
"""
