"""Snapshots: the bytes of a page as stored, compressed, with an id made from their hash."""

import hashlib
import threading
from datetime import datetime
from uuid import UUID

import zstandard

from crawler.domain.engine.ledger import Snapshot, snapshot_id
from crawler.errors import Unavailable

_DAMAGED = "What is stored of the page is damaged: it is not what was written."


class _Compressor(threading.local):
    """One for each thread: two that use the same at once break it. A new one for each page would cost more."""

    def __init__(self) -> None:
        self.compress = zstandard.ZstdCompressor(level=3).compress


_compressor = _Compressor()


class DamagedSnapshot(Unavailable):
    """The storage gave back other bytes."""


def snapshot(body: bytes, content_type: str, now: datetime) -> Snapshot:
    digest = hashlib.sha256(body).digest()
    return Snapshot(snapshot_id(digest), digest, _compressor.compress(body), content_type[:200], len(body), now)


def name_of(body: bytes) -> UUID:
    """The id under which these bytes are stored."""
    return snapshot_id(hashlib.sha256(body).digest())


def most_compressed(length: int) -> int:
    """How many bytes a snapshot of this length may have: what cannot be compressed becomes a little longer."""
    return length + length // 100 + 1000


def decompressed(content: bytes, length: int) -> bytes:
    """Decompress a snapshot. More than `length` bytes are refused before they fill the memory."""
    try:
        if zstandard.frame_content_size(content) > length:  # what a frame says of itself counts for more than a limit
            raise DamagedSnapshot(_DAMAGED)
        return zstandard.ZstdDecompressor().decompress(content, length)
    except zstandard.ZstdError as exc:
        raise DamagedSnapshot(_DAMAGED) from exc


def checked(body: bytes, name: UUID | None) -> bytes:
    """The bytes, if they are those that are stored under this id. Others who write there may have exchanged them."""
    if name is not None and name_of(body) != name:
        raise DamagedSnapshot(_DAMAGED)
    return body
