"""Snapshots whose object the storage has lost. The next crawl that has the same page in hand stores it again.

The mark (`encoding`) takes nothing away: what comes back, as a disk that was not mounted, is read as before. Who looks
at it: `adapters/engine/batch_writer.py` (such a page is fetched and stored although it did not change) and
`adapters/engine/page_commit.py` (its bytes replace the reference).
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from crawler import telemetry
from crawler.adapters.objects.object_store import ObjectGone
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.snapshot_bytes import snapshot_bytes

LOST = "lost"
log = telemetry.logger(__name__)


def read_snapshot(engine: Engine, row: Row[Any]) -> bytes:
    """The bytes of a row with `snapshot_id`, `content` and `byte_length`. Marks it if they are gone, and raises."""
    try:
        return snapshot_bytes(row)
    except ObjectGone:
        with transaction(engine) as db:
            mark_lost(db, [(row.snapshot_id, row.content)])
        raise


def mark_lost(db: Connection, lost: Iterable[tuple[UUID, bytes]]) -> None:
    """Mark snapshots, unless they refer to another object by now."""
    for snapshot_id, content in sorted((one, bytes(content)) for one, content in lost):
        if db.execute(text(_MARK), {"id": snapshot_id, "content": content}).rowcount:
            log.warning("snapshot_lost", snapshot_id=str(snapshot_id), reference=content.decode(errors="replace"))


_MARK = f"UPDATE snapshots SET encoding = '{LOST}' WHERE id = :id AND content = :content AND encoding <> '{LOST}'"  # noqa: S608
