"""One turn at long work for the whole cluster, in Redis. It is free again soon after its process died."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from redis import Redis
from redis.exceptions import RedisError
from redis.lock import Lock

from crawler.adapters.frontier.redis_connection import redis_unavailable

HELD_SECONDS = 60.0
RENEW_SECONDS = 10.0


class LongTurn:
    def __init__(self, client: Redis, name: str) -> None:
        self._client = client
        self._key = f"cr:turn:{name}"

    @contextmanager
    def __call__(self) -> Iterator[bool]:
        """Whether the turn is ours, until the end of the block."""
        lock: Lock = self._client.lock(self._key, HELD_SECONDS, blocking=False, thread_local=False)
        try:
            is_ours = lock.acquire()
        except RedisError as exc:
            raise redis_unavailable(self._client, exc) from exc
        if not is_ours:
            yield False
            return
        over = threading.Event()
        renewing = threading.Thread(target=_renew, args=(lock, over), daemon=True)
        renewing.start()
        try:
            yield True
        finally:
            over.set()
            renewing.join()
            with suppress(RedisError):  # it expires by itself
                lock.release()


def _renew(lock: Lock, over: threading.Event) -> None:
    while not over.wait(RENEW_SECONDS):
        with suppress(RedisError):  # tried again; who lost it for too long repeats what is safe to repeat
            lock.extend(HELD_SECONDS, replace_ttl=True)
