"""One turn at long work for the whole cluster, in Redis. It is free again soon after its process died."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from uuid import uuid4

from redis import Redis

from crawler.adapters.frontier.calls import FrontierCalls, milliseconds
from crawler.errors import RedisUnavailable

HELD_SECONDS = 60.0
RENEW_SECONDS = 10.0


class LongTurn(FrontierCalls):
    def __init__(self, client: Redis, name: str) -> None:
        super().__init__(client)
        self._key = self._keys.named("turn", name)

    @contextmanager
    def __call__(self) -> Iterator[bool]:
        """Whether the turn is ours, until the end of the block."""
        token, held = uuid4().hex, milliseconds(HELD_SECONDS)
        if self._command("SET", self._key, token, "NX", "PX", held) is None:
            yield False
            return
        over = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(token, over), daemon=True)
        renewing.start()
        try:
            yield True
        finally:
            over.set()
            renewing.join()
            with suppress(RedisUnavailable):  # it expires by itself
                if self._is_ours(token):
                    self._command("DEL", self._key)

    def _renew(self, token: str, over: threading.Event) -> None:
        while not over.wait(RENEW_SECONDS):
            with suppress(RedisUnavailable):
                if self._is_ours(token):
                    self._command("PEXPIRE", self._key, milliseconds(HELD_SECONDS))

    def _is_ours(self, token: str) -> bool:
        return bool(self._command("GET", self._key) == token.encode())
