"""Hosts for operators: their rows in Postgres, with the requests of the last day counted.

The request log of a day may have millions of rows, so the counts of all hosts are computed now and then, and cached.
All else, and every number of a single host, is current.

What the numbers come to for a host: `handlers/hosts/describe_hosts.py`.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.operating.stale_while_revalidate import StaleWhileRevalidate
from crawler.adapters.postgres.database import transaction
from crawler.domain.hosts.overview import HostRow

FRESH_SECONDS = 2.0
KEPT_SECONDS = 60.0
MOST_BUSY = 5000
"""Number of busiest hosts whose counts are cached."""
DAY = timedelta(hours=24)


class _Asked(NamedTuple):
    requests: int
    complaints: int
    last_request_at: datetime | None


class _Day(NamedTuple):
    busiest: dict[str, _Asked]
    """Requests of the busiest hosts, busiest first."""
    hosts: int
    """Number of all known hosts, from the log or the table."""


_NEVER = _Asked(0, 0, None)


class HostReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._day = StaleWhileRevalidate(self._count_day, fresh_seconds=FRESH_SECONDS, kept_seconds=KEPT_SECONDS)

    def list_hosts(self, limit: int) -> list[HostRow]:
        """Hosts that an operator looks for first: paused or slowed down, then the busiest."""
        day = self._day()
        with transaction(self._engine) as db:
            rows = {row.host: row for row in db.execute(text(_HELD), {"limit": limit})}
            for names in (list(day.busiest)[:limit], None):
                if len(rows) < limit:
                    rows |= {name: row for name, row in _known(db, names, limit).items() if name not in rows}
        return [_host_row(row, day.busiest.get(name, _NEVER)) for name, row in list(rows.items())[:limit]]

    def count_hosts(self) -> int:
        return self._day().hosts

    def find_host(self, host: str, since: datetime) -> HostRow | None:
        """One host; None when it was never requested and has no row."""
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE), {"host": host, "since": since}).one_or_none()
        return HostRow(**row._asdict()) if row else None

    def _count_day(self) -> _Day:
        given = {"since": datetime.now(UTC) - DAY, "most": MOST_BUSY}
        with transaction(self._engine) as db:
            rows = db.execute(text(_BUSIEST), given).all()
            hosts = int(db.execute(text(_COUNT), given).scalar_one())
        return _Day({row.host: _Asked(row.requests, row.complaints, row.last_request_at) for row in rows}, hosts)


def _known(db: Connection, names: list[str] | None, limit: int) -> dict[str, Row[Any]]:
    """Rows of these hosts in their order, also if only the log has them; without names, of any hosts."""
    if names is None:
        return {row.host: row for row in db.execute(text(_ANY), {"limit": limit})}
    return {row.host: row for row in db.execute(text(_NAMED), {"names": names})}


def _host_row(row: Row[Any], asked: _Asked) -> HostRow:
    return HostRow(**asked._asdict(), **row._asdict())


_OF_HOST = """
coalesce(h.paused, false) AS paused, h.delay_seconds, h.robots_status, h.robots_text, h.robots_fetched_at,
h.robots_failing_since, h.robots_failure
"""
_RECENT = """
SELECT host, count(*) AS requests, count(*) FILTER (WHERE status IN (429, 503)) AS complaints,
       max(at) AS last_request_at
FROM request_log WHERE at >= :since
"""
_BUSIEST = f"{_RECENT} GROUP BY host ORDER BY requests DESC, host LIMIT :most"
_COUNT = """
SELECT count(*) FROM (SELECT host FROM hosts UNION SELECT host FROM request_log WHERE at >= :since) AS known
"""
_HELD = f"""
SELECT h.host, {_OF_HOST} FROM hosts h WHERE h.paused OR h.blocked_until > now()
ORDER BY h.paused DESC, h.host LIMIT :limit
"""  # noqa: S608 - built from our own words
_NAMED = f"""
SELECT n.host, {_OF_HOST} FROM unnest(CAST(:names AS text[])) WITH ORDINALITY AS n(host, place)
LEFT JOIN hosts h ON h.host = n.host ORDER BY n.place
"""  # noqa: S608
_ANY = f"SELECT h.host, {_OF_HOST} FROM hosts h ORDER BY h.host LIMIT :limit"  # noqa: S608
_ONE = f"""
WITH recent AS ({_RECENT} AND host = :host GROUP BY host)
SELECT coalesce(h.host, r.host) AS host, coalesce(r.requests, 0) AS requests, coalesce(r.complaints, 0) AS complaints,
       r.last_request_at, {_OF_HOST}
FROM (SELECT * FROM hosts WHERE host = :host) AS h FULL JOIN recent r ON r.host = h.host
"""  # noqa: S608
