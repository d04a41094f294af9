"""The feed of changes in Postgres: entries of all projects or one, newest first, and which were read or accepted.

Entries are written with the comparison (`save_diff` in `adapters/engine/crawl_store.py`).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.changes.feed import FeedEntry, FeedPage

MOST_TAGGED = 10_000
MOST_COUNTED = 100
"""More unread entries are not counted."""


class Place(NamedTuple):
    """Where a list of entries goes on."""

    at: datetime
    crawl_id: UUID


class Neighbours(NamedTuple):
    newer: UUID | None
    older: UUID | None


class ChangeFeed:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def entries(
        self,
        limit: int,
        *,
        only: Sequence[UUID] | None = None,
        unread: bool = False,
        before: Place | None = None,
        since: datetime | None = None,
    ) -> list[FeedEntry]:
        """The newest first; of all projects, or only of these."""
        given: dict[str, Any] = {"limit": limit, "only": list(only) if only is not None else None}
        where = ["f.read_at IS NULL"] if unread else []
        if before is not None:
            where.append("(f.at, f.crawl_id) < (:at, CAST(:crawl AS uuid))")
            given |= {"at": before.at, "crawl": before.crawl_id}
        if since is not None:
            where.append("f.at >= :since")
            given["since"] = since
        query = (_ALL if only is None else _SOME).format(columns=_COLUMNS, where=" AND ".join(["true", *where]))
        with transaction(self._engine) as db:
            return _pictured(db, [_entry(row) for row in db.execute(text(query), given)])

    def of_crawls(self, crawl_ids: Sequence[UUID]) -> dict[UUID, FeedEntry]:
        """The entries of those that found something."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_OF_CRAWLS.format(columns=_COLUMNS)), {"crawls": list(crawl_ids)})
            return {entry.crawl_id: entry for entry in map(_entry, rows)}

    def tagged(self, tag: str) -> list[UUID]:
        """Projects with this tag; the newest, if there are very many."""
        with transaction(self._engine) as db:
            return list(db.execute(text(_TAGGED), {"tag": tag, "most": MOST_TAGGED}).scalars())

    def find(self, crawl_id: UUID) -> FeedEntry | None:
        with transaction(self._engine) as db:
            row = db.execute(text(_ONE.format(columns=_COLUMNS)), {"crawl": crawl_id}).one_or_none()
            return _pictured(db, [_entry(row)])[0] if row else None

    def neighbours(self, entry: FeedEntry, only: Sequence[UUID] | None = None) -> Neighbours:
        """The entries beside one, of the projects that may be seen."""
        given = {"at": entry.at, "crawl": entry.crawl_id, "only": list(only) if only is not None else None}
        with transaction(self._engine) as db:
            newer, older = (
                db.execute(text((_BESIDE if only is None else _BESIDE_SOME).format(sign=sign, order=order)), given)
                for sign, order in ((">", "ASC"), ("<", "DESC"))
            )
            return Neighbours(newer.scalar_one_or_none(), older.scalar_one_or_none())

    def count_unread(self, only: Sequence[UUID] | None = None) -> int:
        given = {"only": list(only) if only is not None else None, "most": MOST_COUNTED}
        with transaction(self._engine) as db:
            return int(db.execute(text(_UNREAD if only is None else _UNREAD_SOME), given).scalar_one())

    def mark_read(self, crawl_ids: Sequence[UUID], now: datetime, *, read: bool = True) -> None:
        with transaction(self._engine) as db:
            db.execute(text(_READ), {"ids": list(crawl_ids), "now": now if read else None})

    def mark_all_read(self, now: datetime, only: Sequence[UUID] | None = None) -> None:
        """All that there were until now: what comes later stays unread."""
        given = {"now": now, "only": list(only) if only is not None else None}
        with transaction(self._engine) as db:
            db.execute(text(_READ_ALL), given)

    def accept(self, crawl_id: UUID, now: datetime) -> None:
        """The change is as it should be. Those before it of the same project are accepted with it."""
        with transaction(self._engine) as db:
            db.execute(text(_ACCEPT), {"crawl": crawl_id, "now": now})


def _entry(row: Row[Any]) -> FeedEntry:
    values = row._asdict()
    pages = tuple(FeedPage.of_record(page) for page in values.pop("pages"))
    return FeedEntry(**values, pages=pages)


def _pictured(db: Connection, entries: list[FeedEntry]) -> list[FeedEntry]:
    """The same entries; their pages know of the pictures that are kept of what was found."""
    pages = {page.page_id for entry in entries for page in entry.pages if page.page_id}
    if not pages:
        return entries
    rows = db.execute(text(_PICTURES), {"pages": list(pages), "crawls": [entry.crawl_id for entry in entries]})
    kept = {(row.crawl_id, row.page_id): row.id for row in rows}
    return [
        entry._replace(
            pages=tuple(page._replace(picture=kept.get((entry.crawl_id, page.page_id))) for page in entry.pages)
        )
        for entry in entries
    ]


_PICTURES = """
SELECT v.crawl_id, v.page_id, v.id FROM page_versions v JOIN screenshots s ON s.version_id = v.id
WHERE v.page_id = ANY(:pages) AND v.crawl_id = ANY(:crawls)
"""
_COLUMNS = """f.crawl_id, f.project_id, p.name AS project_name, p.website_url, f.at, f.counts, f.pages,
    f.is_significant, f.read_at, f.accepted_at"""
_TAGGED = """
SELECT id FROM projects WHERE tags @> ARRAY[CAST(:tag AS text)] ORDER BY created_at DESC LIMIT :most
"""
_ALL = """
SELECT {columns} FROM change_feed f JOIN projects p ON p.id = f.project_id
WHERE {where} ORDER BY f.at DESC, f.crawl_id DESC LIMIT :limit
"""
# A key sees few projects: the newest of each, by its index, and of these the newest.
_SOME = """
SELECT {columns} FROM unnest(CAST(:only AS uuid[])) AS own(id)
CROSS JOIN LATERAL (
    SELECT * FROM change_feed f WHERE f.project_id = own.id AND {where}
    ORDER BY f.at DESC, f.crawl_id DESC LIMIT :limit
) f JOIN projects p ON p.id = f.project_id
ORDER BY f.at DESC, f.crawl_id DESC LIMIT :limit
"""
_ONE = "SELECT {columns} FROM change_feed f JOIN projects p ON p.id = f.project_id WHERE f.crawl_id = :crawl"
_OF_CRAWLS = """
SELECT {columns} FROM change_feed f JOIN projects p ON p.id = f.project_id WHERE f.crawl_id = ANY(:crawls)
"""
_BESIDE = """
SELECT crawl_id FROM change_feed WHERE (at, crawl_id) {sign} (:at, CAST(:crawl AS uuid))
ORDER BY at {order}, crawl_id {order} LIMIT 1
"""
_BESIDE_SOME = """
SELECT f.crawl_id FROM unnest(CAST(:only AS uuid[])) AS own(id)
CROSS JOIN LATERAL (
    SELECT crawl_id, at FROM change_feed
    WHERE project_id = own.id AND (at, crawl_id) {sign} (:at, CAST(:crawl AS uuid))
    ORDER BY at {order}, crawl_id {order} LIMIT 1
) f ORDER BY f.at {order}, f.crawl_id {order} LIMIT 1
"""
_UNREAD = "SELECT count(*) FROM (SELECT 1 FROM change_feed WHERE read_at IS NULL LIMIT :most) AS few"
_UNREAD_SOME = """
SELECT count(*) FROM (
    SELECT 1 FROM change_feed WHERE read_at IS NULL AND project_id = ANY(:only) LIMIT :most
) AS few
"""
_READ = "UPDATE change_feed SET read_at = :now WHERE crawl_id = ANY(:ids)"
_READ_ALL = """
UPDATE change_feed SET read_at = :now
WHERE read_at IS NULL AND at <= :now AND (CAST(:only AS uuid[]) IS NULL OR project_id = ANY(:only))
"""
_ACCEPT = """
WITH accepted AS (SELECT project_id, at FROM change_feed WHERE crawl_id = :crawl)
UPDATE change_feed f SET accepted_at = :now, read_at = coalesce(f.read_at, :now)
FROM accepted a WHERE f.project_id = a.project_id AND f.at <= a.at AND f.accepted_at IS NULL
"""
