"""Rows for one statement: values taken by name, in the order of their keys."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import orjson
from psycopg2.extras import execute_values

from crawler.adapters.postgres.database import Cursor
from crawler.domain.engine.ledger import UrlKey

_ALL = 1_000_000  # execute_values sends one statement per so many rows; a batch is always one


class Keyed(Protocol):
    @property
    def key(self) -> UrlKey: ...


K = TypeVar("K", bound=Keyed)

by_key = attrgetter("key")


class Columns:
    """The names of columns, and a function that takes their values from an object.

    `same` are called in the table as in the object; of the others it says which attribute fills them.
    """

    def __init__(self, same: Sequence[str], **other: str) -> None:
        self.names = (*same, *other)
        self.values: attrgetter[tuple[Any, ...]] = attrgetter(*same, *other.values())


def in_order(rows: Iterable[K]) -> list[K]:
    """One of each key. Whoever writes rows of the same keys does so in the same order, so nobody waits in a circle."""
    return sorted({row.key: row for row in rows}.values(), key=by_key)


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """For `json_to_recordset`: one value to parse instead of a statement as long as the batch."""
    return orjson.dumps(rows, default=_bytes_as_text).decode()


def insert(db: Cursor, sql: str, rows: Sequence[Any], template: str | None = None) -> None:
    if rows:
        execute_values(db, sql, rows, template=template, page_size=_ALL)


def insert_returning(db: Cursor, sql: str, rows: Sequence[Any], template: str) -> list[tuple[Any, ...]]:
    answer: list[tuple[Any, ...]] = execute_values(db, sql, rows, template=template, page_size=_ALL, fetch=True)
    return answer


def _bytes_as_text(value: Any) -> str:
    if not isinstance(value, (bytes, memoryview)):  # what comes from the database is a view
        raise TypeError
    return "\\x" + value.hex()
