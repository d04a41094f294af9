"""What was copied is what was meant, for every type of column that is copied."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import psycopg2
import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from crawler.adapters.postgres.binary_copy import CopyInto
from crawler.adapters.postgres.database import connect, cursor

TABLE = sa.Table(
    "copied",
    sa.MetaData(),
    sa.Column("id", postgresql.UUID(as_uuid=True), primary_key=True),
    sa.Column("words", sa.Text),
    sa.Column("name", sa.String(5)),
    sa.Column("raw", sa.LargeBinary),
    sa.Column("facts", postgresql.JSONB),
    sa.Column("small", sa.SmallInteger),
    sa.Column("whole", sa.Integer),
    sa.Column("flag", sa.Boolean),
    sa.Column("at", sa.DateTime(timezone=True)),
    prefixes=["TEMPORARY"],
)
COPY = CopyInto(TABLE, TABLE.c.keys())


@pytest.fixture
def db(engine_database: str) -> Iterator[sa.Connection]:
    with connect(engine_database).connect() as connection:
        TABLE.create(connection)
        yield connection
        connection.rollback()


def _copied(db: sa.Connection, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    with cursor(db) as raw:
        COPY(raw, rows)
    return [tuple(row) for row in db.execute(TABLE.select())]


def test_every_type_comes_back_as_it_was(db: sa.Connection) -> None:
    rows = [
        (uuid4(), "tab\t back\\slash \n \\N ä 語 🦊", "", b"\x00\xff\\x", '{"a": ["ü", null]}', -1, 2**31 - 1, True,
         datetime(2026, 3, 1, 12, 30, 59, 123456, tzinfo=UTC)),
        (uuid4(), "", "äöüßé", b"", "[]", 32767, -(2**31), False, datetime(1969, 7, 20, 20, 17, 40, tzinfo=UTC)),
        (uuid4(), None, None, None, None, None, None, None, None),
    ]  # fmt: skip
    facts: list[Any] = [{"a": ["ü", None]}, [], None]
    expected = [(*row[:4], fact, *row[5:]) for row, fact in zip(rows, facts, strict=True)]
    found = [(*row[:3], row[3] if row[3] is None else bytes(row[3]), *row[4:]) for row in _copied(db, *rows)]
    assert found == expected


def test_a_moment_of_another_zone_is_the_same_moment(db: sa.Connection) -> None:
    at = datetime(2026, 7, 1, 0, 30, tzinfo=timezone(timedelta(hours=-3)))
    (row,) = _copied(db, (uuid4(), *[None] * 7, at))
    assert row[-1] == at


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (("a\0b", None), psycopg2.DataError),
        ((None, "sixsix"), psycopg2.DataError),
        (("\ud800", None), UnicodeEncodeError),
    ],
)
def test_what_the_server_cannot_take_is_an_error(
    db: sa.Connection, row: tuple[str | None, ...], error: type[Exception]
) -> None:
    with pytest.raises(error):
        _copied(db, (uuid4(), *row, *[None] * 6))


def test_only_new_rows_are_copied_and_the_others_are_told(db: sa.Connection) -> None:
    rows = [(UUID(int=n), f"row {n}", *[None] * 7) for n in range(4)]
    with cursor(db) as raw:
        assert COPY.new(raw, rows[:2]) == []
        assert COPY.new(raw, [*rows[1:3]]) == [rows[1]]
        assert COPY.new(raw, []) == []
        assert COPY.new(raw, rows[:3]) == rows[:3]
    assert len(list(db.execute(TABLE.select()))) == 3
