"""Binary COPY into Postgres: rows in its binary format, which needs no quoting and no parsing of text."""

import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from io import BytesIO
from typing import Any

from sqlalchemy import Boolean, DateTime, Integer, LargeBinary, SmallInteger, String, Table
from sqlalchemy.dialects.postgresql import JSONB, UUID

from crawler.adapters.postgres.database import Cursor

_HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CHUNK = 1 << 20
_short, _long = struct.Struct("!h").pack, struct.Struct("!i").pack
# A number with its length before it, in one call.
_int2, _int4, _int8 = (partial(struct.Struct(form).pack, size) for form, size in (("!ih", 2), ("!ii", 4), ("!iq", 8)))

Encode = Callable[[Any], bytes]
"""Encodes a value as a field: its length, then the value."""


class CopyInto:
    """COPY into these columns of a table. A row that exists already is an error."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        # Locked, so that `crawler prune` does not delete a row while something begins to refer to it.
        self._known = f"SELECT id FROM {table.name} WHERE id = ANY(%s::uuid[]) FOR KEY SHARE"  # noqa: S608 - our own name
        self._sql = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
        self._encoders = [_encoder(table.c[name].type) for name in columns]

    def __call__(self, db: Cursor, rows: Iterable[Sequence[Any]]) -> None:
        db.copy_expert(self._sql, BytesIO(self.encoded(rows)), _CHUNK)

    def new(self, db: Cursor, rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
        """Copy the rows whose id (their first column) is new. Returns the others."""
        if not rows:
            return []
        # One value for the server to read; an array of expressions would be planned one by one.
        db.execute(self._known, (f"{{{','.join([row[0].hex for row in rows])}}}",))
        known = {row[0] for row in db}
        if len(known) < len(rows):
            self(db, [row for row in rows if row[0] not in known])
        return [row for row in rows if row[0] in known]

    def encoded(self, rows: Iterable[Sequence[Any]]) -> bytes:
        encoders, start = self._encoders, _short(len(self._encoders))
        parts = [_HEADER]
        for row in rows:
            parts.append(start)
            parts += [_NULL if value is None else encode(value) for value, encode in zip(row, encoders, strict=True)]
        parts.append(_END)
        return b"".join(parts)


def _encoder(kind: object) -> Encode:
    """The encoder for a column's type, narrowest first: a SmallInteger is an Integer to SQLAlchemy."""
    return next(encode for types, encode in _ENCODERS if isinstance(kind, types))


def _text(value: str) -> bytes:
    raw = value.encode()
    return _long(len(raw)) + raw


def _json(value: str) -> bytes:
    raw = value.encode()
    return _long(len(raw) + 1) + b"\x01" + raw  # 1: the version of the format


def _bytes(value: bytes) -> bytes:
    return _long(len(value)) + value


def _uuid(value: Any) -> bytes:
    raw: bytes = value.bytes
    return _UUID_BYTES + raw


@lru_cache(maxsize=1024)
def _moment(value: datetime) -> bytes:
    """A timestamp. Cached, because the rows of one page, and many columns of each, have the same."""
    return _int8((value - _EPOCH) // _MICROSECOND)


_UUID_BYTES = _long(16)
_FALSE, _TRUE = _long(1) + b"\x00", _long(1) + b"\x01"
_ENCODERS: tuple[tuple[type, Encode], ...] = (
    (UUID, _uuid),
    (JSONB, _json),
    (String, _text),
    (LargeBinary, _bytes),
    (Boolean, lambda value: _TRUE if value else _FALSE),
    (SmallInteger, _int2),
    (Integer, _int4),
    (DateTime, _moment),
)
