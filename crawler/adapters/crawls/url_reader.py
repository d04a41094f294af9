"""List and filter the URLs of a crawl: pages of the ledger in the order of its key.

Failed and skipped URLs have an index by reason. Other filters (a state that a URL has for a moment, a note on most
pages) scan a limited number of rows at a time: no query takes long, and an index would cost each page a write.

Which reasons are failed and which skipped: `domain/reasons.py`.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.pages.lists import Part, UrlFilter, UrlRow, status_of
from crawler.domain.reasons import FAILED, SKIPPED, Reason

MOST_LOOKED_AT = 5000
_LAST = "\U0010ffff"
_BY_STATE = {
    "failed": sorted(FAILED),
    "skipped": sorted(SKIPPED),
}
"""The reasons that URLs of this state have; none is without."""


class UrlReader:
    def __init__(self, engine: Engine, most_looked_at: int = MOST_LOOKED_AT) -> None:
        self._engine = engine
        self._most = most_looked_at

    def list_urls(self, crawl_id: UUID, chosen: UrlFilter, after: str | None, limit: int) -> Part[UrlRow]:
        where, values = _conditions(chosen)
        given = {"crawl": crawl_id, "after": after or "", "limit": limit, **values}
        reasons = _reasons(chosen)
        with transaction(self._engine) as db:
            if reasons is not None:
                given["reasons"] = list(reasons)
                return _part(db, _BY_REASON.format(where=" AND ".join(where)), given)
            until = self._look_until(db, given) if chosen.fetch_state or chosen.status or chosen.reason else None
            if until is not None:
                where.append("normalized_url <= :until")
                given["until"] = until
            return _part(db, _IN_ORDER.format(where=" AND ".join(where)), given)

    def _look_until(self, db: Connection, given: dict[str, Any]) -> str | None:
        """The last key of the rows to scan; None when there are no more than that."""
        found: str | None = db.execute(text(_UNTIL), {**given, "most": self._most - 1}).scalar_one_or_none()
        return found


def _part(db: Connection, query: str, given: dict[str, Any]) -> Part[UrlRow]:
    rows = [UrlRow(*row) for row in db.execute(text(query), given)]
    return Part(rows, given.get("until") if len(rows) < given["limit"] else None)


def _reasons(chosen: UrlFilter) -> Sequence[str] | None:
    """The reasons by which the index finds all wanted rows; None when the index does not have all of them."""
    wanted = [chosen.reason] if chosen.reason else _BY_STATE.get(chosen.fetch_state or "")
    if wanted is None or chosen.reason is Reason.UNCHANGED:
        return None
    if chosen.fetch_state is None:
        return wanted
    return [reason for reason in wanted if (status_of(Reason(reason)) or "done") == chosen.fetch_state]


def _conditions(chosen: UrlFilter) -> tuple[list[str], dict[str, Any]]:
    where = ["crawl_job_id = :crawl", "normalized_url > :after"]
    values: dict[str, Any] = {}
    for name in ("fetch_state", "status", "reason"):
        wanted = getattr(chosen, name)
        if wanted:
            where.append(f"{name} = :{name}")
            values[name] = str(wanted)
    if chosen.prefix:
        where.append("normalized_url >= :prefix AND normalized_url < :prefix_end")
        values |= {"prefix": chosen.prefix, "prefix_end": chosen.prefix + _LAST}
    return where, values


_COLUMNS = ", ".join(UrlRow._fields)
_ORDER = "ORDER BY crawl_job_id, normalized_url LIMIT :limit"
_IN_ORDER = f"SELECT {_COLUMNS} FROM crawl_discovered_urls WHERE {{where}} {_ORDER}"  # noqa: S608 - our own words
# The first few rows of each reason, found by the index; the condition repeats the index's own.
_BY_REASON = f"""
SELECT {_COLUMNS} FROM unnest(CAST(:reasons AS text[])) AS wanted(name) CROSS JOIN LATERAL (
    SELECT * FROM crawl_discovered_urls
    WHERE {{where}} AND reason = wanted.name AND reason IS NOT NULL AND reason <> 'unchanged'
    ORDER BY crawl_job_id, reason, normalized_url LIMIT :limit
) AS found ORDER BY normalized_url LIMIT :limit
"""  # noqa: S608
_UNTIL = """
SELECT normalized_url FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND normalized_url > :after
ORDER BY crawl_job_id, normalized_url OFFSET :most LIMIT 1
"""
