"""Snapshots: the bytes of a page as stored, compressed, with an id made from their hash."""

import hashlib
from datetime import datetime
from uuid import UUID

import zstandard

from crawler.domain.engine.ledger import Snapshot, snapshot_id

_compress = zstandard.ZstdCompressor(level=3).compress


def snapshot(body: bytes, content_type: str, now: datetime) -> Snapshot:
    digest = hashlib.sha256(body).digest()
    return Snapshot(snapshot_id(digest), digest, _compress(body), content_type[:200], len(body), now)


def name_of(body: bytes) -> UUID:
    """The id under which these bytes are stored."""
    return snapshot_id(hashlib.sha256(body).digest())


def decompressed(content: bytes, length: int) -> bytes:
    """Decompress a snapshot. More than `length` bytes are refused before they fill the memory."""
    return zstandard.ZstdDecompressor().decompress(content, length)
