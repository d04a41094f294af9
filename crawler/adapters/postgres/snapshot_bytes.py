"""Stored bytes from rows of Postgres: decompressed snapshots, and pictures. Some rows only refer to them elsewhere."""

from typing import Any

from sqlalchemy import Row

from crawler.adapters.objects.object_store import MARK, id_in, is_reference, read_object
from crawler.domain.engine import snapshots

MOST_PICTURE = 64 * 2**20
PICTURE_HEAD = 24
"""Bytes of a PNG that stay in Postgres: they say how large it is."""


def snapshot_bytes(row: Row[Any]) -> bytes:
    """The bytes of a row with `content` and `byte_length`."""
    return decompressed(row.content, row.byte_length)


def decompressed(content: Any, length: int) -> bytes:
    stored = bytes(content)
    if not is_reference(stored):
        return snapshots.decompressed(stored, length)
    found = snapshots.decompressed(read_object(stored, snapshots.most_compressed(length)), length)
    return snapshots.checked(found, id_in(stored))


def picture_bytes(image: Any) -> bytes:
    """The bytes of a picture. A byte like the mark never follows a PNG's head."""
    stored = bytes(image)
    reference = stored[PICTURE_HEAD:]
    return read_object(reference, MOST_PICTURE) if is_reference(reference) else stored


def picture_reference(image: bytes) -> bytes | None:
    reference = image[PICTURE_HEAD:]
    return reference if reference.startswith(MARK) else None
