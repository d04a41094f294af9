"""Rows for batch statements: values taken by name, sorted by key."""

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
    """Names of columns, and a function that takes their values from an object.

    `same` have the same name in the table and in the object; `other` says which attribute fills a column.
    """

    def __init__(self, same: Sequence[str], **other: str) -> None:
        self.names = (*same, *other)
        self.values: attrgetter[tuple[Any, ...]] = attrgetter(*same, *other.values())


def in_order(rows: Iterable[K]) -> list[K]:
    """One row of each key, sorted. All writers use the same order, so they never deadlock."""
    return sorted({row.key: row for row in rows}.values(), key=by_key)


def as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows for `json_to_recordset`: one value to parse instead of a statement as long as the batch."""
    return orjson.dumps(rows, default=_bytes_as_text).decode()


def insert(db: Cursor, sql: str, rows: Sequence[Any], template: str | None = None) -> None:
    if rows:
        execute_values(db, sql, rows, template=template, page_size=_ALL)


def insert_returning(db: Cursor, sql: str, rows: Sequence[Any], template: str) -> list[tuple[Any, ...]]:
    answer: list[tuple[Any, ...]] = execute_values(db, sql, rows, template=template, page_size=_ALL, fetch=True)
    return answer


def _bytes_as_text(value: Any) -> str:
    if not isinstance(value, (bytes, memoryview)):  # the driver returns bytes as a memoryview
        raise TypeError
    return "\\x" + value.hex()
