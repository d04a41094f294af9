"""Snapshots are kept compressed."""

from typing import Any

import zstandard
from sqlalchemy import Row


def snapshot_bytes(row: Row[Any]) -> bytes:
    """Of a row with `content` and `byte_length`."""
    return decompressed(row.content, row.byte_length)


def decompressed(content: Any, length: int) -> bytes:
    return zstandard.ZstdDecompressor().decompress(bytes(content), length)
