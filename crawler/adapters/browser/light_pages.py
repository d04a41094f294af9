"""Text, links and hash of a page as fetched over plain HTTP, kept in Redis for comparison with the browser's version.

The comparison: `compare` in `domain/rendering/url_shapes.py`.
"""

from typing import Any
from uuid import UUID

import orjson
import zstandard

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.domain.pages.still_loading import Signs
from crawler.domain.rendering.url_shapes import LightPage

KEPT_SECONDS = 3600.0
MAX_BYTES = 512 * 1024
"""Largest page that is kept. Of a larger one nothing is kept, and nothing is learned."""
_TOO_LARGE = b"-"


class LightPages(FrontierCalls):
    def keep(self, crawl_id: UUID, digest: bytes, page: LightPage) -> None:
        fields = [page.text, page.links, page.content_hash.hex()]
        packed = orjson.dumps([*fields, *page.signs] if page.is_loading else fields)
        kept = zstandard.ZstdCompressor(level=1).compress(packed) if len(packed) <= MAX_BYTES else _TOO_LARGE
        self._command("SET", self._key(crawl_id, digest), kept, "PX", milliseconds(KEPT_SECONDS))

    def begin(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether this page is to be fetched over plain HTTP first: True once, over all processes."""
        key = self._key(crawl_id, digest)
        return self._is_first(key, b"")

    def begin_again(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether it is to be fetched so once more, as the worker that did was lost: True once."""
        return self._is_first(self._key(crawl_id, digest) + b":again", b"1")

    def _is_first(self, key: bytes, value: bytes) -> bool:
        return bool(self._command("SET", key, value, "NX", "PX", milliseconds(KEPT_SECONDS)))

    def find(self, crawl_id: UUID, digest: bytes) -> LightPage | None:
        """The page, if it was kept."""
        kept: Any = self._command("GET", self._key(crawl_id, digest))
        if not kept or kept == _TOO_LARGE:
            return None
        text, links, content_hash, *signs = orjson.loads(
            zstandard.ZstdDecompressor().decompress(kept, max_output_size=MAX_BYTES)
        )
        return LightPage(text, links, bytes.fromhex(content_hash), Signs(*map(tuple, signs)))

    def was_read(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether plain HTTP brought a page that could be parsed."""
        return bool(self._command("GET", self._key(crawl_id, digest)))

    def _key(self, crawl_id: UUID, digest: bytes) -> bytes:
        return self._keys.named("light", crawl_id.hex, digest.hex())
