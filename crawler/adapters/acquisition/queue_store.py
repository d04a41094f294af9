"""The acquisition queue in Postgres: filling, listing, changing many at once.

Which URLs are taken: `new_entry` in `domain/acquisition/entries.py`. Which entries are fetched next: `queue_claims.py`.
"""

import io
import time
from collections.abc import Generator, Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, Row, text

from crawler.adapters.postgres.database import cursor, transaction
from crawler.domain.acquisition.entries import BulkChange, Chosen, EntryStatus, NewEntry, QueueEntry, QueueFilter
from crawler.domain.acquisition.entry_choices import BulkAction, Sort
from crawler.domain.acquisition.queue_csv import ExportedEntry
from crawler.errors import NotFound

ROWS_AT_ONCE = 2000
CHANGED_AT_ONCE = 10_000
_LAST = "\U0010ffff"
"""Sorts behind every character a URL may have."""
_COLUMNS = ", ".join(f"q.{name}" for name in QueueEntry.model_fields)
_COLUMN_OF = {"url": "source_url", "active": "is_active"}
_EXPORTED = ", ".join(f"q.{_COLUMN_OF.get(name, name)}" for name in ExportedEntry._fields)


class QueueStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, entries: Sequence[NewEntry], project_id: UUID | None) -> int:
        """How many were new. What is known stays as it is."""
        if not entries:
            return 0
        with transaction(self._engine) as connection, cursor(connection) as db:
            db.execute(_ARRIVALS)
            db.copy_expert(_COPY, io.StringIO("".join(map(_copied, enumerate(entries)))))
            db.execute(_TAKE_IN, (project_id,))
            return db.rowcount

    def analyze(self) -> None:
        """Let Postgres count the entries: until it knows how many there are, it sorts all of them to find the first."""
        with transaction(self._engine) as db:
            db.execute(text("ANALYZE crawl_queue"))

    def list_entries(
        self, chosen: QueueFilter, sort: Sort = Sort.OLDEST, after: Sequence[str] | None = None, limit: int = 50
    ) -> list[QueueEntry]:
        where, values = conditions_of(chosen)
        order, go_on, names = _SORTS[sort]
        if after is not None:
            where.append(go_on)
            values |= dict(zip(names, after, strict=True))
        query = f"SELECT {_COLUMNS} FROM crawl_queue q{where_of(where)} ORDER BY {order} LIMIT :limit"  # noqa: S608
        with transaction(self._engine) as db:
            return [_entry(row) for row in db.execute(text(query), {**values, "limit": limit})]

    def counts(self) -> dict[str, int]:
        """How many entries there are, by status."""
        with transaction(self._engine) as db:
            found = {row.status: row.entries for row in db.execute(text(_COUNTS))}
        return {status.value: found.get(status.value, 0) for status in EntryStatus}

    def undefined(self) -> int:
        """Entries whose category nobody has defined."""
        with transaction(self._engine) as db:
            return int(db.execute(text(_UNDEFINED)).scalar_one())

    def get(self, entry_id: int) -> QueueEntry:
        with transaction(self._engine) as db:
            row = db.execute(text(f"SELECT {_COLUMNS} FROM crawl_queue q WHERE q.id = :id"), {"id": entry_id}).first()  # noqa: S608
        if row is None:
            raise NotFound(f"There is no queue entry {entry_id}.")
        return _entry(row)

    def rows(self, chosen: QueueFilter) -> Generator[ExportedEntry]:
        """All entries that the filter chooses, by id, streamed."""
        where, values = conditions_of(chosen)
        query = f"SELECT {_EXPORTED} FROM crawl_queue q{where_of(where)} ORDER BY q.id"  # noqa: S608 - our own words
        with transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=ROWS_AT_ONCE)
            for row in streamed.execute(text(query), values):
                yield ExportedEntry(*row)

    def change(
        self, action: BulkAction, chosen: Chosen, *, after: int = 0, seconds: float = float("inf")
    ) -> BulkChange:
        """Change entries, some at a time: nobody waits long for one. When the time is over, it says where to go on."""
        changed, until = 0, time.monotonic() + seconds
        while True:
            with transaction(self._engine) as db:
                ids = self._next_ids(db, chosen, after)
                if not ids:
                    return BulkChange(changed, None)
                changed += _change(db, action, chosen, ids)
            after = ids[-1]
            if time.monotonic() > until:
                return BulkChange(changed, after)

    def _next_ids(self, db: Connection, chosen: Chosen, after: int) -> list[int]:
        if chosen.filter is None:
            return sorted({entry for entry in chosen.ids if entry > after})[:CHANGED_AT_ONCE]
        where, values = conditions_of(chosen.filter)
        query = f"SELECT q.id FROM crawl_queue q{where_of([*where, 'q.id > :after'])} ORDER BY q.id LIMIT :limit"  # noqa: S608
        found = db.execute(text(query), {**values, "after": after, "limit": CHANGED_AT_ONCE})
        return list(found.scalars())


def _change(db: Connection, action: BulkAction, chosen: Chosen, ids: Sequence[int]) -> int:
    values: dict[str, Any] = {"ids": list(ids)}
    if action is BulkAction.RETRY:
        values["from"] = [status.value for status in chosen.retried()]
    # In the order of their ids, as everybody who locks several.
    return db.execute(text(_CHANGES[action]), values).rowcount


def _entry(row: Row[Any]) -> QueueEntry:
    values = row._asdict()
    values["status"] = EntryStatus(values["status"])
    return QueueEntry.model_construct(**values)  # what the database says of itself needs no check


def _copied(numbered: tuple[int, NewEntry]) -> str:
    number, entry = numbered
    category = "\\N" if entry.category is None else entry.category.replace("\\", "\\\\")
    url, key = entry.url.replace("\\", "\\\\"), entry.key.replace("\\", "\\\\")
    return f"{number}\t{url}\t{key}\t{entry.host}\t{category}\t{entry.priority}\n"


_ARRIVALS = """
CREATE TEMPORARY TABLE IF NOT EXISTS arrivals
    (number integer, url text, key text COLLATE "C", host text COLLATE "C", category text, priority smallint)
    ON COMMIT DELETE ROWS
"""
_COPY = "COPY arrivals FROM STDIN"
_TAKE_IN = """
INSERT INTO crawl_queue (project_id, source_url, normalized_url, host, category, priority)
SELECT %s::uuid, url, key, host, category, priority FROM arrivals ORDER BY number
ON CONFLICT (normalized_url) DO NOTHING
"""
_COUNTS = "SELECT status, count(*) AS entries FROM crawl_queue GROUP BY status"
_UNDEFINED = """
SELECT count(*) FROM crawl_queue WHERE category IS NOT NULL AND category NOT IN (SELECT name FROM categories)
"""
_LOCKED = "(SELECT id FROM crawl_queue WHERE id = ANY(:ids) {also} ORDER BY id FOR UPDATE)"
_CHANGES = {
    BulkAction.RETRY: f"""
        UPDATE crawl_queue SET status = 'pending', rounds = 0, last_error = NULL, crawl_id = NULL, ledger_url = NULL,
            updated_at = now()
        WHERE id IN {_LOCKED.format(also="AND status = ANY(:from)")}""",  # noqa: S608 - our own words
    BulkAction.DEACTIVATE: f"""
        UPDATE crawl_queue SET is_active = false, updated_at = now()
        WHERE id IN {_LOCKED.format(also="AND is_active")}""",  # noqa: S608
    BulkAction.REACTIVATE: f"""
        UPDATE crawl_queue SET is_active = true, updated_at = now()
        WHERE id IN {_LOCKED.format(also="AND NOT is_active")}""",  # noqa: S608
    BulkAction.DELETE: f"DELETE FROM crawl_queue WHERE id IN {_LOCKED.format(also='')}",  # noqa: S608
}
_SORTS: dict[Sort, tuple[str, str, tuple[str, ...]]] = {
    Sort.OLDEST: ("q.id", "q.id > CAST(:id AS bigint)", ("id",)),
    Sort.NEWEST: ("q.id DESC", "q.id < CAST(:id AS bigint)", ("id",)),
    Sort.PRIORITY: (
        "q.priority, q.created_at, q.id",
        "(q.priority, q.created_at, q.id) > (CAST(:rank AS smallint), CAST(:at AS timestamptz), CAST(:id AS bigint))",
        ("rank", "at", "id"),
    ),
}


def place_of(entry: QueueEntry, sort: Sort) -> tuple[str, ...]:
    """The place in a list of this order from which it goes on behind the entry."""
    if sort is Sort.PRIORITY:
        return str(entry.priority), entry.created_at.isoformat(), str(entry.id)
    return (str(entry.id),)


def where_of(conditions: Iterable[str]) -> str:
    joined = " AND ".join(conditions)
    return f" WHERE {joined}" if joined else ""


def conditions_of(chosen: QueueFilter) -> tuple[list[str], dict[str, Any]]:
    where: list[str] = []
    values: dict[str, Any] = {}
    if chosen.status is not None:
        where.append("q.status = :status")
        values["status"] = chosen.status.value
    if chosen.category is not None:
        where.append("q.category = :category")
        values["category"] = chosen.category
    if chosen.active is not None:
        where.append("q.is_active" if chosen.active else "NOT q.is_active")
    if chosen.host is not None:
        where.append("q.host = :host")
        values["host"] = chosen.host.lower()
    if (prefix := chosen.key_prefix) is not None:
        # `…/docs/` is what is below it and the page itself, whose key has no slash at its end.
        where.append("(q.normalized_url >= :prefix AND q.normalized_url < :prefix_end OR q.normalized_url = :itself)")
        values |= {"prefix": prefix, "prefix_end": prefix + _LAST, "itself": prefix.removesuffix("/")}
        if "/" in prefix:  # its host is whole, and has an index in the order of ids
            where.append("q.host = :prefix_host")
            values["prefix_host"] = prefix.partition("/")[0]
    return where, values
