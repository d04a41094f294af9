"""Move everything from one Postgres to another, also of an older version: table by table, in one transaction.

A dump of a newer Postgres does not restore into an older one. What `COPY` writes as text, both read.
"""

import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Table, text

from crawler.adapters.postgres.database import cursor, transaction
from crawler.adapters.postgres.schema import check_schema, migrate
from crawler.adapters.postgres.tables import metadata
from crawler.errors import Conflict, Unavailable

PATIENCE_SECONDS = 3.0
_FILLED_BY_USE = ("projects", "categories", "crawl_jobs", "crawled_pages", "crawl_queue", "documents")
"""A database in which one of these has rows is in use: by crawls, or only by what somebody set up for them."""


class Moved(NamedTuple):
    tables: int
    rows: int


def move_database(source: Engine, target: Engine, tell: Callable[[str], None] = lambda _: None) -> Moved:
    """Copy all rows and compare their numbers. If something goes wrong, the target stays empty.

    Raises Conflict if somebody uses the source, or if the target is in use already.
    """
    check_schema(source)
    migrate(target)
    source.dispose()  # our own idle connections are nobody else's
    rows = 0
    with transaction(source) as old, transaction(target) as new:
        old.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        for db in (old, new):
            db.execute(text("SET LOCAL statement_timeout = 0"))
        _refuse_used(old)
        _refuse_filled(new)
        new.execute(text(f"TRUNCATE {', '.join(metadata.tables)}"))
        for table in metadata.sorted_tables:
            tell(table.name)
            _copy(old, new, table)
            rows += _compare(old, new, table)
            _set_numbers(new, table)
        _refuse_used(old)
    return Moved(len(metadata.tables), rows)


def _refuse_filled(new: Connection) -> None:
    for name in _FILLED_BY_USE:
        if new.execute(text(f"SELECT EXISTS (SELECT 1 FROM {name})")).scalar_one():  # noqa: S608 - our own names
            raise Conflict(
                "The database to move to has projects or crawls of its own; name an empty one. "
                "If they are yours, all was moved before: set CRAWLER_DATABASE_URL to it."
            )


def _refuse_used(old: Connection) -> None:
    """Connections that were closed just now may be listed for a moment longer."""
    until = time.monotonic() + PATIENCE_SECONDS
    while (others := old.execute(text(_OTHERS)).scalar_one()) and time.monotonic() < until:
        time.sleep(0.05)
        old.execute(text("SELECT pg_stat_clear_snapshot()"))  # else a transaction sees the same list again
    if others:
        raise Conflict(
            f"Something still uses the database that is to be moved ({others} connections); stop 'crawler up', "
            "workers and services first."
        )


def _copy(old: Connection, new: Connection, table: Table) -> None:
    columns = ", ".join(f'"{column.name}"' for column in table.columns if column.computed is None)
    reading, writing = os.pipe()
    failed: list[BaseException] = []

    def read() -> None:
        with os.fdopen(writing, "wb") as pipe:
            try:
                _run(old, f"COPY (SELECT {columns} FROM {table.name}) TO STDOUT", pipe)  # noqa: S608 - our own names
            except BaseException as exc:  # noqa: BLE001 - raised again below, in the caller's thread
                failed.append(exc)

    reader = threading.Thread(target=read, name=f"copy of {table.name}")
    reader.start()
    try:
        with os.fdopen(reading, "rb") as pipe:
            _run(new, f"COPY {table.name} ({columns}) FROM STDIN", pipe)
    finally:
        reader.join()
    if failed:
        raise failed[0]


def _run(db: Connection, statement: str, pipe: Any) -> None:
    with cursor(db) as raw:
        raw.copy_expert(statement, pipe, 1 << 20)


def _compare(old: Connection, new: Connection, table: Table) -> int:
    count = text(f"SELECT count(*) FROM {table.name}")  # noqa: S608 - our own names
    before, after = int(old.execute(count).scalar_one()), int(new.execute(count).scalar_one())
    if before != after:
        raise Unavailable(f"{table.name} has {before} rows and only {after} arrived; nothing was moved.")
    return after


def _set_numbers(new: Connection, table: Table) -> None:
    """Continue the numbering of ids where it ended."""
    for column in table.columns:
        if column.identity is not None:
            given = {"table": table.name, "column": column.name}
            last = f"SELECT max({column.name}) FROM {table.name}"  # noqa: S608 - our own names
            new.execute(text(f"SELECT setval(pg_get_serial_sequence(:table, :column), ({last}))"), given)


_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""
