"""The URLs of a crawl for those who read: the ledger in the order of its key."""

from typing import Any
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.database import transaction
from crawler.domain.page_lists import UrlFilter, UrlRow

_LAST = "\U0010ffff"


class UrlReader:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def list_urls(self, crawl_id: UUID, chosen: UrlFilter, after: str | None, limit: int) -> list[UrlRow]:
        where, values = _conditions(chosen)
        given = {"crawl": crawl_id, "after": after or "", "limit": limit, **values}
        query = f"SELECT {_COLUMNS} FROM crawl_discovered_urls WHERE {' AND '.join(where)} {_ORDER}"  # noqa: S608
        with transaction(self._engine) as db:
            return [UrlRow(*row) for row in db.execute(text(query), given)]


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
