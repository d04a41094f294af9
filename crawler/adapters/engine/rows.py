"""Rows for batch statements: values taken by name, sorted by key."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeVar
from uuid import UUID

import orjson
from psycopg2.extras import execute_values

from crawler.adapters.postgres.database import Cursor
from crawler.domain.engine.ledger import UrlKey

_ALL = 1_000_000  # execute_values sends one statement per so many rows; a batch is always one
_BELOW_TIME = 80
"""Bits of an id below its time in milliseconds."""
_DAY_MS = 24 * 60 * 60 * 1000
_WEEK_MS = 7 * _DAY_MS
_MONDAY_MS = 4 * _DAY_MS
"""Since the epoch, which was a Thursday."""


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


def about_crawls(crawls: Iterable[UUID]) -> dict[str, Any]:
    """Values for statements that look up rows of the ledger by their keys, which a list names.

    `first` and `last` say in which part of the ledger the crawls are: their ids begin with the time at which they
    began. It is said roughly, as whole weeks, and the list is restricted to its own `crawls`. So Postgres expects
    many rows in the span and few in the list, and looks up each by its key. Were a crawl named, Postgres would expect
    hardly any row of one that it does not know yet, and read all of it for every batch.
    """
    named = sorted(set(crawls))
    first, last = (_week(one.int >> _BELOW_TIME) for one in (named[0], named[-1]))
    return {
        "crawls": named,
        "first": UUID(int=max(first, 0) << _BELOW_TIME),
        "last": UUID(int=(min(last + _WEEK_MS, 1 << 48) << _BELOW_TIME) - 1),
    }


def _week(ms: int) -> int:
    """The Monday, in milliseconds, of the week in which this is: the parts of the ledger are weeks."""
    return ms - (ms - _MONDAY_MS) % _WEEK_MS


def _bytes_as_text(value: Any) -> str:
    if not isinstance(value, (bytes, memoryview)):  # the driver returns bytes as a memoryview
        raise TypeError
    return "\\x" + value.hex()
