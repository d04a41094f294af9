"""A project's pages for those who read: lists in the order of their keys, and single ones.

The order is the unique index's own, so a list of a hundred thousand pages goes on at any place at once. What has no
index of its own is looked for among so many pages at a time.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import literal, transaction
from crawler.domain.pages.lists import PageFilter, PageRow, Part, WholePage, status_of
from crawler.errors import NotFound

MOST_LOOKED_AT = 5000
SHORT_ROWS = 10
"""So many more are looked at where only titles and URLs are."""
_LAST = "\U0010ffff"
"""Sorts behind every character a URL may have."""


class PageReader:
    def __init__(self, engine: Engine, most_looked_at: int = MOST_LOOKED_AT) -> None:
        self._engine = engine
        self._most = most_looked_at

    def list_pages(self, project_id: UUID, chosen: PageFilter, after: str | None, limit: int) -> Part[PageRow]:
        where, values = _conditions(chosen)
        given = {"project": project_id, "after": after or "", "limit": limit, **values}
        with transaction(self._engine) as db:
            until = self._look_until(db, chosen, given)
            if until is not None:
                where.append("p.normalized_url <= :until")
                given["until"] = until
            query = f"SELECT {_COLUMNS} FROM crawled_pages p WHERE {' AND '.join(where)} {_ORDER}"  # noqa: S608
            rows = [PageRow(*row) for row in db.execute(text(query), given)]
        return Part(rows, until if len(rows) < limit else None)

    def _look_until(self, db: Connection, chosen: PageFilter, given: dict[str, Any]) -> str | None:
        """The last key of so many; None when all of them are looked at."""
        if not chosen.reason and chosen.status != "success" and not chosen.contains:
            return None
        bad = "AND p.status = :status AND p.status <> 'success'" if given.get("status", "success") != "success" else ""
        most = self._most * SHORT_ROWS if chosen.contains else self._most
        values = {**given, "most": most - 1}
        found: str | None = db.execute(text(_UNTIL.format(bad=bad)), values).scalar_one_or_none()
        return found

    def get_page(self, project_id: UUID, page_id: UUID) -> WholePage:
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE), {"project": project_id, "page": page_id}).one_or_none()
        if row is None:
            raise NotFound(f"There is no page {page_id} in project {project_id}.")
        width = len(PageRow._fields)
        return WholePage(PageRow(*row[:width]), *row[width:])


def _conditions(chosen: PageFilter) -> tuple[list[str], dict[str, Any]]:
    where = ["p.project_id = :project", "p.normalized_url > :after"]
    values: dict[str, Any] = {}
    # A reason implies its status, and that has an index.
    status = chosen.status or (status_of(chosen.reason) if chosen.reason else None)
    if status:
        where.append("p.status = :status")
        values["status"] = status
    if status and status != "success":
        where.append("p.status <> 'success'")  # in the words of the partial index
    if chosen.reason:
        where.append("p.reason = :reason")
        values["reason"] = chosen.reason.value
    if chosen.changed_since:
        where.append("p.last_changed_at > :changed")
        values["changed"] = chosen.changed_since
    if chosen.prefix:
        where.append("p.normalized_url >= :prefix AND p.normalized_url < :prefix_end")
        values |= {"prefix": chosen.prefix, "prefix_end": chosen.prefix + _LAST}
    if chosen.title:
        where.append("to_tsvector('simple', p.title) @@ websearch_to_tsquery('simple', :title)")
        values["title"] = chosen.title
    if chosen.contains:
        where.append("(p.title ILIKE :contains OR p.url ILIKE :contains)")
        values["contains"] = f"%{literal(chosen.contains)}%"
    return where, values


_COLUMNS = ", ".join(
    "encode(p.content_hash, 'hex')" if name == "content_hash" else f"p.{name}" for name in PageRow._fields
)
_ORDER = "ORDER BY p.project_id, p.normalized_url LIMIT :limit"
_UNTIL = """
SELECT p.normalized_url FROM crawled_pages p WHERE p.project_id = :project AND p.normalized_url > :after {bad}
ORDER BY p.project_id, p.normalized_url OFFSET :most LIMIT 1
"""
_ONE = f"""
SELECT {_COLUMNS}, p.project_id, p.content_text, p.links_found, p.canonical_url, p.etag, p.last_modified, p.version_id
FROM crawled_pages p WHERE p.id = :page AND p.project_id = :project
"""  # noqa: S608 - built from our own words
