"""Text and links of a page as fetched over plain HTTP, kept in Redis for comparison with the browser's version.

The comparison: `compare` in `domain/rendering/url_shapes.py`.
"""

from typing import Any
from uuid import UUID

import orjson
import zstandard

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds

KEPT_SECONDS = 3600.0
MAX_BYTES = 512 * 1024
"""Largest page that is kept. Of a larger one nothing is kept, and nothing is learned."""
_TOO_LARGE = b"-"
_compress = zstandard.ZstdCompressor(level=1).compress
_expand = zstandard.ZstdDecompressor().decompress


class LightPages(FrontierCalls):
    def keep(self, crawl_id: UUID, digest: bytes, text: str, links: list[str]) -> None:
        packed = orjson.dumps([text, links])
        kept = _compress(packed) if len(packed) <= MAX_BYTES else _TOO_LARGE
        self._command("SET", self._key(crawl_id, digest), kept, "PX", milliseconds(KEPT_SECONDS))

    def begin(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether this page is to be fetched over plain HTTP first: True once, over all processes."""
        key = self._key(crawl_id, digest)
        return bool(self._command("SET", key, b"", "NX", "PX", milliseconds(KEPT_SECONDS)))

    def find(self, crawl_id: UUID, digest: bytes) -> tuple[str, list[str]] | None:
        """Text and links of the page, if they were kept."""
        kept: Any = self._command("GET", self._key(crawl_id, digest))
        if not kept or kept == _TOO_LARGE:
            return None
        text, links = orjson.loads(_expand(kept, max_output_size=MAX_BYTES))
        return text, links

    def was_read(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether plain HTTP brought a page that could be parsed."""
        return bool(self._command("GET", self._key(crawl_id, digest)))

    def _key(self, crawl_id: UUID, digest: bytes) -> bytes:
        return self._keys.named("light", crawl_id.hex, digest.hex())
