"""Notes in Redis from one visit of a page to the next: use no browser, or send these cookies.

When such a note is made: `handlers/engine/fall_back_to_http.py` (no browser) and `render_where_needed.py` beside it
(cookies). A site may keep somebody signed in by such cookies, so they are encrypted.
"""

from collections.abc import Callable
from typing import Any, Protocol
from uuid import UUID

from redis import Redis

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.domain.rendering.rendered_page import VisitNote

KEPT_SECONDS = 3600
MOST_RETURNS = 2
"""How often a page may set cookies and reload; then it is taken as it is."""
MAX_COOKIES = 32 * 1024
_WITHOUT, _COOKIES, _RETURNS, _TRIED = b"without", b"cookies", b"returns", b"tried"


class Box(Protocol):
    def seal_json(self, value: Any) -> str: ...
    def open_token(self, token: str, seconds: int) -> Any: ...


class VisitNotes(FrontierCalls):
    def __init__(self, redis: Redis, box: Callable[[], Box]) -> None:
        super().__init__(redis)
        self._box = box

    def find(self, crawl_id: UUID, digest: bytes) -> VisitNote:
        found: Any = self._command("HMGET", self._key(crawl_id, digest), _WITHOUT, _COOKIES)
        without, sealed = (value.decode() if value else "" for value in found)
        cookies = self._box().open_token(sealed, KEPT_SECONDS) if sealed else ""
        return VisitNote(without, cookies or "")

    def do_without(self, crawl_id: UUID, digest: bytes, why: str) -> bool:
        """Let the next visit use no browser; with an empty `why`, none ever does without. True for the first call."""
        key = self._key(crawl_id, digest)
        first = bool(self._command("HSETNX", key, _WITHOUT, why))
        self._keep(key)
        return first

    def come_again(self, crawl_id: UUID, digest: bytes, cookies: str) -> bool:
        """Let the next visit send these cookies; False when there have been enough such visits."""
        key = self._key(crawl_id, digest)
        if len(cookies) > MAX_COOKIES or int(self._command("HINCRBY", key, _RETURNS, 1)) > MOST_RETURNS:
            return False
        self._command("HSET", key, _COOKIES, self._box().seal_json(cookies))
        self._keep(key)
        return True

    def try_again(self, crawl_id: UUID, digest: bytes) -> bool:
        """Whether the page may be visited once more because it got no data: True for the first call."""
        key = self._key(crawl_id, digest)
        first = bool(self._command("HSETNX", key, _TRIED, "1"))
        self._keep(key)
        return first

    def _keep(self, key: bytes) -> None:
        self._command("PEXPIRE", key, milliseconds(KEPT_SECONDS))

    def _key(self, crawl_id: UUID, digest: bytes) -> bytes:
        return self._keys.named("visit", crawl_id.hex, digest.hex())
