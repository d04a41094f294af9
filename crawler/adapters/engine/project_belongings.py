"""Deletes what belongs to a project, a few rows at a time.

In one statement it would take minutes, all the while with locks for which batches, documents and notices of others
wait that have rows of this project among theirs; and what takes longer than a statement may could never be deleted.

Each transaction locks as all do that write (`document_locks.py`): the project, the rows above, the rows below.
"""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, text

from crawler.adapters.postgres.database import again_after_deadlock, transaction


class _Below(NamedTuple):
    table: str
    column: str
    """Which row above it belongs to."""
    most: int
    """Rows of one transaction."""


ROWS_ABOVE = 100
_BELOW = {
    "documents": (_Below("document_chunks", "document_id", 2000),),
    "crawled_pages": (_Below("page_versions", "page_id", 200), _Below("extractions", "page_id", 1000)),
    "crawl_jobs": (
        _Below("crawl_urls", "crawl_job_id", 5000),
        _Below("crawl_findings", "crawl_id", 5000),
        _Below("crawl_probes", "crawl_id", 1000),
    ),
    "notifications": (),
}
"""What a project may have very much of; all else goes with its own row. Pages go before crawls: they name them."""


def delete_belongings(engine: Engine, project_id: UUID) -> None:
    for table, below in _BELOW.items():
        while ids := _some(engine, table, project_id):
            for rows in below:
                while _delete_below(engine, table, project_id, ids, rows) >= rows.most:
                    pass
            _delete(engine, table, project_id, ids)


def _some(engine: Engine, table: str, project_id: UUID) -> Sequence[UUID]:
    with transaction(engine) as db:
        return db.execute(text(_SOME.format(table=table)), {"project": project_id, "most": ROWS_ABOVE}).scalars().all()


@again_after_deadlock
def _delete_below(engine: Engine, table: str, project_id: UUID, ids: Sequence[UUID], rows: _Below) -> int:
    with transaction(engine) as db:
        given = {"project": project_id, "ids": list(ids)}
        db.execute(text(_HOLD_PROJECT), given)
        db.execute(text(_HOLD.format(table=table)), given)
        statement = _DELETE_BELOW.format(table=rows.table, column=rows.column)
        return db.execute(text(statement), {**given, "most": rows.most}).rowcount


@again_after_deadlock
def _delete(engine: Engine, table: str, project_id: UUID, ids: Sequence[UUID]) -> None:
    with transaction(engine) as db:
        given = {"project": project_id, "ids": list(ids)}
        db.execute(text(_HOLD_PROJECT), given)
        db.execute(text(_HOLD.format(table=table)), given)
        db.execute(text(f"DELETE FROM {table} WHERE id = ANY(CAST(:ids AS uuid[]))"), given)  # noqa: S608 - our words


_SOME = "SELECT id FROM {table} WHERE project_id = :project LIMIT :most"
_HOLD_PROJECT = "SELECT 1 FROM projects WHERE id = :project FOR KEY SHARE"
_HOLD = "SELECT 1 FROM {table} WHERE id = ANY(CAST(:ids AS uuid[])) ORDER BY id FOR UPDATE"
# A ctid is that of one part of a table only: the condition outside keeps rows of others that have the same.
_DELETE_BELOW = """
DELETE FROM {table} WHERE {column} = ANY(CAST(:ids AS uuid[]))
    AND ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {column} = ANY(CAST(:ids AS uuid[])) LIMIT :most))
"""
