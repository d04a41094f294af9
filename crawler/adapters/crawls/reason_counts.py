"""Count the URLs of a crawl that were skipped or failed, by reason, while it runs.

What the reasons mean: `domain/reason_words.py`.
"""

from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import transaction


class ReasonCounts:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, crawl_id: UUID) -> dict[str, int]:
        """Number of URLs by reason. It reads the crawl's whole ledger: too slow for every refresh of a page."""
        with transaction(self._engine) as connection:
            return {row.reason: row.n for row in connection.execute(text(_COUNTS), {"crawl": crawl_id})}


_COUNTS = """
SELECT reason, count(*) AS n FROM crawl_discovered_urls
WHERE crawl_job_id = :crawl AND fetch_state IN ('skipped', 'failed') AND reason IS NOT NULL GROUP BY 1
"""
