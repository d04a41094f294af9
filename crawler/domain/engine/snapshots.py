"""The bytes of a page as they are stored: compressed, and named by what they are."""

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
    """`length`: of the bytes as they came. A longer one is refused before it fills the memory."""
    return zstandard.ZstdDecompressor().decompress(content, length)
