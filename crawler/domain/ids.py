"""Identifiers: UUID version 7, ordered by time, so that indexes on them grow at one end."""

import secrets
from uuid import UUID


def new_id(now_ms: int) -> UUID:
    """A UUID version 7 for the moment `now_ms`."""
    value = (now_ms & 0xFFFFFFFFFFFF) << 80 | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    return UUID(int=value & ~(0x3 << 62) | 0x2 << 62)
