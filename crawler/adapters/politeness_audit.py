"""How politely each host was asked, counted from the log of requests."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.database import transaction


class HostAudit(NamedTuple):
    host: str
    requests: int
    uncertain: int
    """Of workers that died: they may or may not have been sent."""
    smallest_gap_seconds: float | None
    largest_parallelism: int
    owed_gap_seconds: float
    violations: int
    """Gaps shorter than owed, by more than a twentieth."""


class PolitenessAudit:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __call__(self, crawl_id: UUID) -> list[HostAudit]:
        """All requests to the crawl's hosts while it ran, whichever crawl made them: a host does not tell us apart."""
        with transaction(self._engine) as db:
            return [HostAudit(*row) for row in db.execute(text(_AUDIT), {"crawl": crawl_id})]


_AUDIT = """
WITH crawl AS (
    SELECT id, (config ->> 'delay_seconds')::float AS delay,
           coalesce(started_at, created_at) AS began, coalesce(completed_at, now()) AS ended
    FROM crawl_jobs WHERE id = :crawl
),
asked AS (
    SELECT r.host, r.at, r.certain, r.at + make_interval(secs => coalesce(r.elapsed_ms, 0) / 1000.0) AS done,
           extract(epoch FROM r.at - lag(r.at) OVER (PARTITION BY r.host ORDER BY r.at)) AS gap
    FROM request_log r, crawl c
    WHERE r.at BETWEEN c.began AND c.ended
      AND r.host IN (SELECT DISTINCT host FROM request_log WHERE crawl_id = c.id)
),
edges AS (
    SELECT host, at AS moment, 1 AS step FROM asked UNION ALL SELECT host, done, -1 FROM asked
),
running AS (SELECT host, sum(step) OVER (PARTITION BY host ORDER BY moment, step) AS n FROM edges)
SELECT a.host, count(*), count(*) FILTER (WHERE NOT certain), min(gap)::float,
       (SELECT max(n) FROM running r WHERE r.host = a.host)::int,
       (SELECT delay FROM crawl), count(*) FILTER (WHERE gap < 0.95 * (SELECT delay FROM crawl))
FROM asked a GROUP BY a.host ORDER BY a.host
"""
