"""Move stored pages and pictures between Postgres and object storage, in small transactions, beside crawls that run."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Engine, Row, text

from crawler.adapters.objects.object_store import (
    AT_ONCE,
    ObjectGone,
    ObjectStore,
    ObjectTooLarge,
    is_reference,
    name_in,
    store_of,
)
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import PICTURE_HEAD, compressed, picture_bytes
from crawler.domain.engine.snapshots import DamagedSnapshot

BATCH = 100
MOST_BYTES = 32 * 2**20
"""Of one look at Postgres, or one picture: whoever makes pages can make them all large."""


class _Column(NamedTuple):
    table: str
    key: str
    name: str
    length: str
    """How long it is, decompressed."""
    head: int
    """Bytes that stay in Postgres before the reference."""


_COLUMNS = (
    _Column("snapshots", "id", "content", "byte_length", 0),
    _Column("screenshots", "version_id", "image", "0", PICTURE_HEAD),
)


_Row = Row[tuple[UUID, bytes, int]]


class Moved(NamedTuple):
    moved: int
    gone: int
    """Of these the object was not where it should be, or was another one; their rows stay as they are."""


def move_snapshots(engine: Engine, objects: ObjectStore | None) -> Moved:
    """Move all of them there; None is Postgres.

    What was at another place is deleted there once it is safe here.
    """
    each = [_move(engine, objects, column) for column in _COLUMNS]
    return Moved(sum(one.moved for one in each), sum(one.gone for one in each))


def _move(engine: Engine, objects: ObjectStore | None, column: _Column) -> Moved:
    moved, asked, after = 0, 0, UUID(int=0)
    while True:
        given = {"after": after, "most": BATCH, "bytes": MOST_BYTES}
        with transaction(engine) as db:
            rows = db.execute(text(_NEXT.format(**column._asdict())), given).all()
        if not rows:
            return Moved(moved, asked - moved)
        after = rows[-1].id
        elsewhere = [row for row in rows if not _is_there(bytes(row.stored)[column.head :], objects)]
        asked += len(elsewhere)
        for start in range(0, len(elsewhere), AT_ONCE):
            moved += _replace(engine, objects, column, elsewhere[start : start + AT_ONCE])


def _is_there(stored: bytes, objects: ObjectStore | None) -> bool:
    if objects is None:
        return not is_reference(stored)
    return objects.holds(stored)


def _replace(engine: Engine, objects: ObjectStore | None, column: _Column, rows: list[_Row]) -> int:
    found = [(row.id, bytes(row.stored), body) for row in rows if (body := _body(row, column)) is not None]
    if not found:
        return 0
    ids, stored, bodies = (list(values) for values in zip(*found, strict=True))
    if objects is not None:
        references = objects.put(list(zip(ids, bodies, strict=True)))
        bodies = [old[: column.head] + ref for old, ref in zip(stored, references, strict=True)]
    given = [{"id": i, "old": old, "new": new} for i, old, new in zip(ids, stored, bodies, strict=True)]
    with transaction(engine) as db:
        db.execute(text(_SET.format(**column._asdict())), given)
    for tail in filter(is_reference, (old[column.head :] for old in stored)):
        store_of(tail).delete([name_in(tail)])
    return len(found)


def _body(row: _Row, column: _Column) -> bytes | None:
    """None if its object is gone or damaged: one page that is lost must not hold up all others.

    What the storage gives back is checked, as when it is read. Unchecked it would replace the page for good.
    """
    stored = bytes(row.stored)
    try:
        if column.head:
            return picture_bytes(stored)
        return compressed(stored, row.length) if is_reference(stored) else stored
    except (ObjectGone, ObjectTooLarge, DamagedSnapshot):
        return None


_NEXT = """
SELECT id, stored, length FROM (
    SELECT {key} AS id, {name} AS stored, {length} AS length,
        sum(octet_length({name})) OVER (ORDER BY {key}) - octet_length({name}) AS before
    FROM (SELECT {key}, {name}, {length} FROM {table} WHERE {key} > :after ORDER BY {key} LIMIT :most) next
) s WHERE before < :bytes ORDER BY id
"""
_SET = "UPDATE {table} SET {name} = :new WHERE {key} = :id AND {name} = :old"
