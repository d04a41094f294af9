"""Decompress snapshots (a page's stored bytes) from rows of Postgres."""

from typing import Any

from sqlalchemy import Row

from crawler.domain.engine import snapshots


def snapshot_bytes(row: Row[Any]) -> bytes:
    """The bytes of a row with `content` and `byte_length`."""
    return decompressed(row.content, row.byte_length)


def decompressed(content: Any, length: int) -> bytes:
    return snapshots.decompressed(bytes(content), length)
