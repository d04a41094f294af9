"""Opaque cursors for paginated lists.

A cursor names the last row shown, so rows added meanwhile do not shift the list.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, TypeVar
from uuid import UUID

import orjson
from fastapi import Query

from crawler.domain.acquisition.entry_choices import Sort
from crawler.entrypoints.http.shapes import Listed, Text
from crawler.errors import Invalid

MOST = 200
_NUMBER = re.compile(r"[0-9]{1,18}").fullmatch
_FARTHEST = timedelta(hours=16)
"""Offset of a time zone: so far from UTC, Postgres knows none."""

Cursor = Annotated[Text | None, Query(max_length=8000, description="`next_cursor` of the part before")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most")]

Row = TypeVar("Row")
Shown = TypeVar("Shown")


class InvalidCursor(Invalid):
    """This cursor is not one of this list's; leave it out to begin at the beginning."""

    code = "invalid_cursor"


def encode(kind: str, *parts: str) -> str:
    text = json.dumps([kind, *parts], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(kind: str, cursor: str | None, count: int = 1) -> list[str] | None:
    """Decode the parts of a cursor of this kind of list. None when no cursor is given."""
    if cursor is None:
        return None
    try:
        found = orjson.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (binascii.Error, ValueError) as exc:
        raise InvalidCursor from exc
    if not isinstance(found, list) or len(found) != count + 1 or found[0] != kind:
        raise InvalidCursor
    if not all(isinstance(part, str) and "\x00" not in part and part.isprintable() for part in found):
        raise InvalidCursor
    return found[1:]


def moment(part: str) -> datetime:
    """Read a timestamp exactly as our cursors write it: other spellings may be invalid to Postgres."""
    try:
        at = datetime.fromisoformat(part)
    except ValueError as exc:
        raise InvalidCursor from exc
    offset = at.utcoffset()
    if offset is None or abs(offset) >= _FARTHEST or not 1970 <= at.year < 9999 or at.isoformat() != part:
        raise InvalidCursor
    return at


def decode_id(kind: str, cursor: str | None) -> UUID | None:
    found = decode(kind, cursor)
    if found is None:
        return None
    try:
        return UUID(found[0])
    except ValueError as exc:
        raise InvalidCursor from exc


def decode_number(kind: str, cursor: str | None, first: int = 0) -> int:
    found = decode(kind, cursor)
    return first if found is None else as_number(found[0])


def as_number(part: str) -> int:
    if not _NUMBER(part):
        raise InvalidCursor
    return int(part)


def decode_version(cursor: str | None) -> tuple[datetime, UUID] | None:
    parts = decode("versions", cursor, count=2)
    if parts is None:
        return None
    try:
        return moment(parts[0]), UUID(parts[1])
    except ValueError as exc:
        raise InvalidCursor from exc


def decode_queue_place(kind: str, sort: Sort, cursor: str | None) -> list[str] | None:
    parts = decode(kind, cursor, 3 if sort is Sort.PRIORITY else 1)
    if parts is None:
        return None
    if not _NUMBER(parts[-1]) or (len(parts) > 1 and not re.fullmatch("[0-9]", parts[0])):
        raise InvalidCursor
    if len(parts) > 1:
        moment(parts[1])
    return parts


def listed(
    rows: Sequence[Row],
    limit: int,
    show: Callable[[Row], Shown],
    cursor: Callable[[Row], str],
    looked_until: str | None = None,
) -> Listed[Shown]:
    """One part of a list. `rows` has one row more than `limit`, which tells without another query whether more follow.

    `looked_until` is the cursor where a search stopped before it found enough rows.
    """
    shown = rows[:limit]
    following = cursor(shown[-1]) if len(rows) > limit and shown else looked_until
    return Listed(items=[show(row) for row in shown], next_cursor=following)


def part_of(
    kind: str, rows: Sequence[Row], cursor: str | None, limit: int, name: Callable[[Row], str]
) -> tuple[Sequence[Row], str | None]:
    """One part of a list that is read as a whole, and the cursor of what follows it. `name` tells rows apart."""
    after = decode(kind, cursor)
    first = 0 if after is None else next((n for n, row in enumerate(rows, 1) if name(row) == after[0]), None)
    if first is None:
        raise InvalidCursor
    shown = rows[first : first + limit]
    return shown, encode(kind, name(shown[-1])) if len(rows) > first + limit else None
