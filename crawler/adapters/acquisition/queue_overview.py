"""The queue for people who look at it: how many entries match, and where a page of theirs is kept."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.acquisition.queue_store import conditions_of, where_of
from crawler.adapters.postgres.database import transaction
from crawler.domain.acquisition.entries import EntryStatus, QueueFilter

MOST_COUNTED = 100_000
"""Beyond that nobody waits for the exact number."""
MOST_CATEGORIES = 500


class QueueSummary(NamedTuple):
    counts: Mapping[str, int]
    """How many entries have each status."""
    categories: Sequence[str]
    """The largest, by name."""
    undefined: int
    """Entries whose category nobody has defined."""


class QueueOverview:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def summary(self) -> QueueSummary:
        """All counts in one look at the entries: there may be a million of them."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_SUMMARY), {"most": MOST_CATEGORIES}).all()
        found = {row.name: int(row.n) for row in rows if row.kind == "status"}
        return QueueSummary(
            {status.value: found.get(status.value, 0) for status in EntryStatus},
            sorted(row.name for row in rows if row.kind == "category"),
            next(int(row.n) for row in rows if row.kind == "undefined"),
        )

    def count(self, chosen: QueueFilter) -> int:
        """One more than `MOST_COUNTED` when there are more."""
        where, values = conditions_of(chosen)
        query = f"SELECT count(*) FROM (SELECT 1 FROM crawl_queue q{where_of(where)} LIMIT :most) AS found"  # noqa: S608
        with transaction(self._engine) as db:
            return int(db.execute(text(query), {**values, "most": MOST_COUNTED + 1}).scalar_one())

    def project_of_page(self, page_id: UUID) -> UUID | None:
        """The project of a page; None when the page is no longer stored."""
        with transaction(self._engine) as db:
            found: UUID | None = db.execute(text(_PROJECT), {"page": page_id}).scalar_one_or_none()
        return found

    def read_pages(self, category: str | None, limit: int) -> list[str]:
        """URLs of entries, of one category or any, whose pages are stored: first those that were read, the newest."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_PAGES), {"category": category, "limit": limit}).scalars())


_SUMMARY = """
WITH seen AS MATERIALIZED (SELECT status, category, count(*) AS n FROM crawl_queue GROUP BY status, category),
named AS (SELECT category, sum(n) AS n FROM seen WHERE category IS NOT NULL GROUP BY category)
SELECT 'status' AS kind, status AS name, sum(n) AS n FROM seen GROUP BY status
UNION ALL (SELECT 'category', category, n FROM named ORDER BY n DESC, category LIMIT :most)
UNION ALL SELECT 'undefined', NULL, coalesce(sum(n), 0) FROM named WHERE category NOT IN (SELECT name FROM categories)
"""
_PROJECT = "SELECT project_id FROM crawled_pages WHERE id = :page"
_PAGES = """
(SELECT source_url FROM crawl_queue WHERE status = 'done' AND page_id IS NOT NULL
 AND (CAST(:category AS text) IS NULL OR category = :category) ORDER BY id DESC LIMIT :limit)
UNION ALL
(SELECT source_url FROM crawl_queue WHERE status IN ('failed', 'fetched') AND page_id IS NOT NULL
 AND (CAST(:category AS text) IS NULL OR category = :category) ORDER BY id DESC LIMIT :limit)
LIMIT :limit
"""
