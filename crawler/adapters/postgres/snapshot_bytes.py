"""Stored bytes from rows of Postgres: decompressed snapshots, and pictures. Some rows only refer to them elsewhere."""

from typing import Any

from sqlalchemy import Row

from crawler.adapters.objects.object_store import ObjectGone, id_in, is_reference, read_object
from crawler.domain.engine import snapshots

MOST_PICTURE = 64 * 2**20
PICTURE_HEAD = 24
"""Bytes of a PNG that stay in Postgres: they say how large it is."""


def snapshot_bytes(row: Row[Any]) -> bytes:
    """The bytes of a row with `content` and `byte_length`."""
    return decompressed(row.content, row.byte_length)


def find_bytes(content: Any, length: int) -> bytes | None:
    """The same; None if they are no longer kept, or the storage has lost them: one page must not hold up others."""
    try:
        return None if content is None else decompressed(content, length)
    except ObjectGone:
        return None


def decompressed(content: Any, length: int) -> bytes:
    stored = bytes(content)
    return _read(stored, length)[1] if is_reference(stored) else snapshots.decompressed(stored, length)


def compressed(reference: bytes, length: int) -> bytes:
    """The object of a snapshot as it was written. Raises if it is damaged."""
    return _read(reference, length)[0]


def _read(reference: bytes, length: int) -> tuple[bytes, bytes]:
    content = read_object(reference, snapshots.most_compressed(length))
    return content, snapshots.checked(snapshots.decompressed(content, length), id_in(reference))


def picture_bytes(image: Any) -> bytes:
    """The bytes of a picture. Raises if its object is another one. A byte like the mark never follows a PNG's head."""
    stored = bytes(image)
    reference = picture_reference(stored)
    if reference is None:
        return stored
    found = read_object(reference, MOST_PICTURE)
    if found[:PICTURE_HEAD] != stored[:PICTURE_HEAD] or picture_reference(found):
        raise snapshots.DamagedSnapshot("What is stored of the picture is damaged: it is not what was written.")
    return found


def picture_reference(image: bytes) -> bytes | None:
    reference = image[PICTURE_HEAD:]
    return reference if is_reference(reference) else None
