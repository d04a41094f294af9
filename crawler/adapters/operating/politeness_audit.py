"""Politeness audit: gaps, parallel requests and violations at each host, computed in SQL from the request log.

The rules that are audited: `domain/hosts/politeness.py`.
"""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.hosts.politeness import HOST_CAP, MAX_CRAWL_DELAY_SECONDS, MAX_SHARED_DELAY_SECONDS
from crawler.domain.hosts.robots import Robots


class HostAudit(NamedTuple):
    host: str
    requests: int
    uncertain: int
    """Requests of workers that died. They may not have been sent, so no gap is measured from or to them."""
    smallest_gap_seconds: float | None
    largest_parallelism: int
    owed_gap_seconds: float
    """The longest gap that had to be kept: the project's delay, or what robots.txt asks for."""
    violations: int
    """Gaps shorter than required by more than a twentieth, and requests sent while too many were in flight."""
    extra: int
    """Requests for robots.txt, sitemaps and probes, not for pages."""
    repeated: int
    """Requests for a page that had been requested before: retries, and double fetches."""
    allowed_parallelism: int


class PolitenessAudit:
    def __init__(self, engine: Engine, user_agent: str) -> None:
        self._engine = engine
        self._agent = user_agent

    def __call__(self, crawl_id: UUID) -> list[HostAudit]:
        """Audit all requests to the crawl's hosts while it ran, of any crawl: a host cannot tell them apart."""
        with transaction(self._engine) as db:
            # Right after a crawl Postgres may still plan with the row counts of before, and loop over all pairs.
            db.execute(text("SET LOCAL enable_nestloop = off"))
            asked = self._robots_delays(db, crawl_id)
            limits = {"cap": HOST_CAP, "reach": MAX_CRAWL_DELAY_SECONDS, "shared": MAX_SHARED_DELAY_SECONDS}
            given = {"crawl": crawl_id, **limits, **asked}
            return [HostAudit(*row) for row in db.execute(text(_AUDIT), given)]

    def _robots_delays(self, db: Connection, crawl_id: UUID) -> dict[str, list[Any]]:
        """Hosts that ask for a delay, since when that is known, and how long it is."""
        asked: dict[str, list[Any]] = {"hosts": [], "since": [], "delays": []}
        for host, read_at, body in db.execute(text(_ROBOTS), {"crawl": crawl_id}):
            delay = Robots.parse(bytes(body)).crawl_delay(self._agent)
            if delay:
                asked["hosts"].append(host)
                asked["since"].append(read_at)
                asked["delays"].append(delay)
        return asked


_ROBOTS = """
SELECT host, robots_fetched_at, robots_text FROM hosts
WHERE host IN (SELECT DISTINCT host FROM request_log WHERE crawl_id = :crawl)
  AND robots_text IS NOT NULL AND octet_length(robots_text) > 0 AND robots_fetched_at IS NOT NULL
"""
# Two crawls at one host must keep the longer of their delays, as far as it counts for others. A delay of robots.txt
# counts from when it was read. Requests shortly before the crawl count as those before its first.
_AUDIT = """
WITH crawl AS (
    SELECT coalesce(started_at, created_at) AS began, coalesce(completed_at, now()) AS ended
    FROM crawl_jobs WHERE id = :crawl
),
robots AS (
    SELECT * FROM unnest(CAST(:hosts AS text[]), CAST(:since AS timestamptz[]), CAST(:delays AS float[]))
        AS asked(host, since, delay)
),
owing AS (SELECT id, (config ->> 'delay_seconds')::float AS delay, (config ->> 'max_concurrent')::int AS most
          FROM crawl_jobs),
asked AS (
    SELECT r.host, r.crawl_id, r.at, r.certain, r.kind, r.url, r.at >= c.began AS counts,
           r.at + make_interval(secs => coalesce(r.elapsed_ms, 0) / 1000.0) AS done,
           coalesce(o.delay, 0) AS delay, CASE WHEN o.delay = 0 THEN o.most END AS most,
           ro.since, ro.delay AS robots_delay
    FROM request_log r
    CROSS JOIN crawl c
    LEFT JOIN owing o ON o.id = r.crawl_id
    LEFT JOIN robots ro ON ro.host = r.host
    WHERE r.at BETWEEN c.began - make_interval(secs => :reach) AND c.ended
      AND r.host IN (SELECT DISTINCT host FROM request_log WHERE crawl_id = :crawl)
),
pairs AS (
    SELECT host, counts, extract(epoch FROM at - lag(at) OVER before)::float AS gap,
           CASE WHEN crawl_id = lag(crawl_id) OVER before THEN delay
                ELSE least(greatest(delay, lag(delay) OVER before), :shared) END AS project,
           greatest(CASE WHEN since <= lag(at) OVER before THEN robots_delay END, 0) AS robots
    FROM asked WHERE certain WINDOW before AS (PARTITION BY host ORDER BY at)
),
gaps AS (SELECT host, counts, gap, greatest(project, robots) AS owed FROM pairs),
spacing AS (
    SELECT host, min(gap) AS smallest, max(owed) AS owed, count(*) FILTER (WHERE gap < 0.95 * owed) AS violations
    FROM gaps WHERE counts GROUP BY host
),
edges AS (
    SELECT host, at AS moment, 1 AS step, most FROM asked WHERE counts AND certain
    UNION ALL SELECT host, done, -1, most FROM asked WHERE counts AND certain
),
running AS (
    SELECT host, step, sum(step) OVER (PARTITION BY host ORDER BY moment, step) AS n,
           greatest(max(most) OVER (PARTITION BY host), :cap) AS allowed
    FROM edges
),
crowding AS (
    SELECT host, max(n)::int AS most, count(*) FILTER (WHERE step = 1 AND n > allowed) AS crowded
    FROM running GROUP BY host
),
counted AS (
    SELECT host, count(*) AS requests, count(*) FILTER (WHERE NOT certain) AS uncertain,
           count(*) FILTER (WHERE kind <> 'p') AS extra,
           count(url) FILTER (WHERE kind = 'p') - count(DISTINCT url) FILTER (WHERE kind = 'p') AS repeated,
           greatest(max(most), :cap) AS allowed
    FROM asked WHERE counts GROUP BY host
)
SELECT host, counted.requests, uncertain, smallest, coalesce(crowding.most, 0), coalesce(owed, 0),
       coalesce(violations, 0) + coalesce(crowded, 0), extra, repeated, allowed
FROM counted LEFT JOIN spacing USING (host) LEFT JOIN crowding USING (host) ORDER BY host
"""
