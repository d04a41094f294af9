"""Snapshots are kept compressed."""

from typing import Any

import zstandard
from sqlalchemy import Row


def snapshot_bytes(row: Row[Any]) -> bytes:
    """Of a row with `content` and `byte_length`."""
    return zstandard.ZstdDecompressor().decompress(bytes(row.content), row.byte_length)
