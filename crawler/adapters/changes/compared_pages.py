"""Two versions of one page: which a crawl compared, and what is kept of each.

Which older version a crawl is compared with: `adapters/engine/compared_versions.py`.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.engine.compared_versions import COMPARED
from crawler.adapters.postgres.database import transaction
from crawler.errors import NotFound


class ComparedPage(NamedTuple):
    page_id: UUID
    older: UUID
    newer: UUID


class Picture(NamedTuple):
    width: int
    height: int


class KeptVersion(NamedTuple):
    id: UUID
    crawl_id: UUID
    title: str | None
    fetched_at: datetime
    byte_length: int | None
    """None when its bytes were pruned."""
    picture: Picture | None


class ComparedPages:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def between(self, crawl_id: UUID, compared_to: UUID, key: str, further: int = 0) -> ComparedPage | None:
        """The page at a normalized URL with both versions; None when either was pruned, or there never were two."""
        given = {"crawl": crawl_id, "before": compared_to, "key": key, "further": further}
        with transaction(self._engine) as db:
            row = db.execute(text(_BETWEEN), given).one_or_none()
        return ComparedPage(*row) if row else None

    def versions(self, project_id: UUID, page_id: UUID, ids: Sequence[UUID]) -> list[KeptVersion]:
        """These versions of a page, in this order. Raises NotFound when one of them is none of this page."""
        given = {"project": project_id, "page": page_id, "ids": list(ids)}
        with transaction(self._engine) as db:
            rows = {row.id: row for row in db.execute(text(_VERSIONS), given)}
        if missing := [one for one in ids if one not in rows]:
            raise NotFound(f"There is no version {missing[0]} of page {page_id} in project {project_id}.")
        return [_version(rows[one]) for one in ids]


def _version(row: Row[Any]) -> KeptVersion:
    picture = _picture(row.head)
    return KeptVersion(row.id, row.crawl_id, row.title, row.fetched_at, row.byte_length, picture)


def _picture(head: bytes | None) -> Picture | None:
    """A PNG's width and height stand at its beginning: eight bytes, not megabytes."""
    if head is None:
        return None
    return Picture(int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"))


_BETWEEN = f"""
SELECT v.page_id, o.id, v.id
FROM crawl_discovered_urls u
{COMPARED}
WHERE u.crawl_job_id = :crawl AND u.normalized_url = :key AND o.id IS NOT NULL
"""  # noqa: S608 - both parts are constants
_VERSIONS = """
SELECT v.id, v.crawl_id, v.title, v.fetched_at, s.byte_length, substring(i.image FROM 17 FOR 8) AS head
FROM page_versions v
JOIN crawled_pages p ON p.id = v.page_id AND p.project_id = :project
LEFT JOIN snapshots s ON s.id = v.snapshot_id
LEFT JOIN screenshots i ON i.version_id = v.id
WHERE v.page_id = :page AND v.id = ANY(:ids)
"""
