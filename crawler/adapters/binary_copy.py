"""Rows in the binary form of Postgres' COPY: nothing is quoted, and the server parses no text to find it again."""

import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

from sqlalchemy import Boolean, DateTime, Integer, LargeBinary, SmallInteger, String, Table
from sqlalchemy.dialects.postgresql import JSONB, UUID

from crawler.adapters.database import Cursor

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CHUNK = 1 << 20
_short, _long, _big = struct.Struct("!h").pack, struct.Struct("!i").pack, struct.Struct("!q").pack

Encode = Callable[[Any], bytes]


class CopyInto:
    """COPY into these columns of a table. A row that is known already is an error."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self._known = f"SELECT id FROM {table.name} WHERE id = ANY(%s::uuid[])"  # noqa: S608 - our own name
        self._sql = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
        self._encoders = [_encoder(table.c[name].type) for name in columns]

    def __call__(self, db: Cursor, rows: Iterable[Sequence[Any]]) -> None:
        db.copy_expert(self._sql, BytesIO(self.encoded(rows)), _CHUNK)

    def new(self, db: Cursor, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Copy the rows whose id (their first column) is new; returns the others."""
        if not rows:
            return []
        db.execute(self._known, ([row[0] for row in rows],))
        known = {row[0] for row in db}
        if len(known) < len(rows):
            self(db, [row for row in rows if row[0] not in known])
        return [row for row in rows if row[0] in known]

    def encoded(self, rows: Iterable[Sequence[Any]]) -> bytes:
        encoders, start = self._encoders, _short(len(self._encoders))
        parts = [_HEADER]
        for row in rows:
            parts.append(start)
            for value, encode in zip(row, encoders, strict=True):
                if value is None:
                    parts.append(_NULL)
                else:
                    raw = encode(value)
                    parts += (_long(len(raw)), raw)
        parts.append(_END)
        return b"".join(parts)


def _encoder(kind: object) -> Encode:
    """By the column's type, narrowest first: a SmallInteger is an Integer to SQLAlchemy."""
    return next(encode for types, encode in _ENCODERS if isinstance(kind, types))


def _moment(value: datetime) -> bytes:
    return _big((value - _EPOCH) // _MICROSECOND)


def _uuid(value: Any) -> bytes:
    raw: bytes = value.bytes
    return raw


_ENCODERS: tuple[tuple[type, Encode], ...] = (
    (UUID, _uuid),
    (JSONB, lambda text: b"\x01" + text.encode()),  # 1: the version of the format
    (String, str.encode),
    (LargeBinary, bytes),
    (Boolean, lambda value: b"\x01" if value else b"\x00"),
    (SmallInteger, _short),
    (Integer, _long),
    (DateTime, _moment),
)
