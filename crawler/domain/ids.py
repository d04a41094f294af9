"""Identifiers: UUID version 7, ordered by time, so that indexes on them grow at one end."""

import re
import secrets
from uuid import UUID

_LEAST = "00000000-0000-0000-0000-000000000000"
_MOST = _LEAST.replace("0", "f")
_ID = re.compile(_LEAST.replace("0", "[0-9a-f]"), re.IGNORECASE).fullmatch


def new_id(now_ms: int) -> UUID:
    """A UUID version 7 for the moment `now_ms`."""
    value = (now_ms & 0xFFFFFFFFFFFF) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)


def least_id(now_ms: int) -> UUID:
    """No id made at that moment or later is less."""
    return UUID(int=(now_ms & 0xFFFFFFFFFFFF) << 80)


def time_of(identity: UUID) -> int:
    """The moment, in milliseconds, for which an id was made."""
    return identity.int >> 80


def ids_that_begin(so: str) -> tuple[UUID, UUID] | None:
    """The least and the greatest id whose text begins so; None if no id does."""
    least = so + _LEAST[len(so) :]
    return (UUID(least), UUID(so + _MOST[len(so) :])) if so and _ID(least) else None
