"""Move stored pages and pictures between Postgres and object storage, in small transactions, beside crawls that run."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.objects.object_store import ObjectStore, is_reference, read_object, store_of
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import PICTURE_HEAD

BATCH = 100


class _Column(NamedTuple):
    table: str
    key: str
    name: str
    head: int
    """Bytes that stay in Postgres before the reference."""


_COLUMNS = (_Column("snapshots", "id", "content", 0), _Column("screenshots", "version_id", "image", PICTURE_HEAD))


def move_snapshots(engine: Engine, objects: ObjectStore | None) -> int:
    """Move all of them there; None is Postgres. Returns how many were moved.

    What was at another place is deleted there once it is safe here.
    """
    return sum(_move(engine, objects, column) for column in _COLUMNS)


def _move(engine: Engine, objects: ObjectStore | None, column: _Column) -> int:
    moved, after = 0, UUID(int=0)
    while True:
        with transaction(engine) as db:
            rows = db.execute(text(_NEXT.format(**column._asdict())), {"after": after, "most": BATCH}).all()
        if not rows:
            return moved
        after = rows[-1].id
        elsewhere = [row for row in rows if not _is_there(bytes(row.stored)[column.head :], objects)]
        moved += _replace(engine, objects, column, elsewhere)


def _is_there(stored: bytes, objects: ObjectStore | None) -> bool:
    if objects is None:
        return not is_reference(stored)
    return is_reference(stored) and store_of(stored).url == objects.url


def _replace(engine: Engine, objects: ObjectStore | None, column: _Column, rows: list[Row[tuple[UUID, bytes]]]) -> int:
    if not rows:
        return 0
    stored = [bytes(row.stored) for row in rows]
    tails = [body[column.head :] for body in stored]
    bodies = [read_object(tail) if is_reference(tail) else body for body, tail in zip(stored, tails, strict=True)]
    ids = [row.id for row in rows]
    if objects is not None:
        references = objects.put(list(zip(ids, bodies, strict=True)))
        bodies = [body[: column.head] + ref for body, ref in zip(stored, references, strict=True)]
    given = [{"id": i, "old": old, "new": new} for i, old, new in zip(ids, stored, bodies, strict=True)]
    with transaction(engine) as db:
        db.execute(text(_SET.format(**column._asdict())), given)
    for tail in filter(is_reference, tails):
        store_of(tail).delete([tail])
    return len(rows)


_NEXT = "SELECT {key} AS id, {name} AS stored FROM {table} WHERE {key} > :after ORDER BY {key} LIMIT :most"
_SET = "UPDATE {table} SET {name} = :new WHERE {key} = :id AND {name} = :old"
