"""Hosts for operators: what Postgres has on them, with a day of requests counted."""

from datetime import datetime

from sqlalchemy import Engine, text

from crawler.adapters.database import transaction
from crawler.domain.host_overview import HostRow


class HostReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list_hosts(self, since: datetime, limit: int) -> list[HostRow]:
        """Those an operator looks for first: paused or slowed down, then the busiest."""
        with transaction(self._engine) as db:
            return [HostRow(*row) for row in db.execute(text(_LIST), {"since": since, "limit": limit})]

    def count_hosts(self, since: datetime) -> int:
        with transaction(self._engine) as db:
            return int(db.execute(text(_COUNT), {"since": since}).scalar_one())

    def find_host(self, host: str, since: datetime) -> HostRow | None:
        """None when nobody of ours ever had to do with it."""
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE), {"host": host, "since": since}).one_or_none()
        return HostRow(*row) if row else None


_COLUMNS = """
coalesce(h.host, r.host), coalesce(r.requests, 0), coalesce(r.complaints, 0), r.last_at, coalesce(h.paused, false),
h.delay_seconds, h.robots_status, h.robots_text, h.robots_fetched_at,
h.robots_failing_since, h.robots_failure
"""
# Of a day, found by the log's own order: the log of a week may have millions of rows.
_RECENT = """
SELECT host, count(*) AS requests, count(*) FILTER (WHERE status IN (429, 503)) AS complaints, max(at) AS last_at
FROM request_log WHERE at >= :since
"""
_LIST = f"""
WITH recent AS ({_RECENT} GROUP BY host)
SELECT {_COLUMNS} FROM hosts h FULL JOIN recent r ON r.host = h.host
ORDER BY h.paused DESC NULLS LAST, h.blocked_until > now() DESC NULLS LAST, r.requests DESC NULLS LAST, 1
LIMIT :limit
"""  # noqa: S608 - built from our own words
_COUNT = """
SELECT count(*) FROM (SELECT host FROM hosts UNION SELECT host FROM request_log WHERE at >= :since) AS known
"""
_ONE = f"""
WITH recent AS ({_RECENT} AND host = :host GROUP BY host)
SELECT {_COLUMNS} FROM (SELECT * FROM hosts WHERE host = :host) AS h FULL JOIN recent r ON r.host = h.host
"""  # noqa: S608
