"""Names of the frontier's Redis keys, and the batches scripts work on. The key map is in `redis_frontier.py`."""

from collections.abc import Callable, Hashable
from typing import TypeVar
from uuid import UUID

from crawler.adapters.frontier.redis_connection import Argument
from crawler.domain.crawls.frontier import Lane

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

BATCH = 500
"""Most items in one script call: the server does nothing else while it runs."""

LANE_LETTER = {Lane.HTTP: "h", Lane.BROWSER: "b"}
LANE_OF_LETTER = {letter: lane for lane, letter in LANE_LETTER.items()}
BOTH_LANES = "hb"

_CRAWL_PARTS = ("leases", "data", "flying", "past", "poison", "parked", "broke", "hosts", "seen")
_HOST_PARTS = ("flying", "waiters")
_QUEUES = ("fresh", "free", "later")
_KEPT = 10_000


class Made(dict[K, V]):
    """A cache that makes each value once per key, and is emptied when it gets too large."""

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make

    def __missing__(self, key: K) -> V:
        if len(self) >= _KEPT:
            self.clear()
        value = self[key] = self._make(key)
        return value


class Keys:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.ready = {lane: self.named("ready", letter) for lane, letter in LANE_LETTER.items()}
        self.token = self.named("token")
        self.lost = self.named("lost")
        self.crawls = self.named("crawls")
        self.shared = (*self.ready.values(), self.token, self.lost, self.crawls)
        self.crawl = Made(self._crawl)
        self.host = Made(self._host)
        self.queues = Made(self._queues)

    def named(self, *parts: str) -> bytes:
        return ":".join((self._prefix, *parts)).encode()

    def seen(self, crawl_id: UUID) -> bytes:
        return self.crawl[crawl_id][-1]

    def hosts(self, crawl_id: UUID) -> bytes:
        return self.crawl[crawl_id][-2]

    def _crawl(self, crawl_id: UUID) -> tuple[bytes, ...]:
        name = crawl_id.hex
        return self.named("crawl", name), *(self.named("crawl", name, part) for part in _CRAWL_PARTS)

    def _host(self, host: str) -> tuple[bytes, ...]:
        return self.named("host", host), *(self.named("host", host, part) for part in _HOST_PARTS)

    def _queues(self, pair: tuple[str, UUID, str]) -> tuple[bytes, ...]:
        lanes, crawl_id, host = pair
        return tuple(self.named("queue", crawl_id.hex, host, lane, part) for lane in lanes for part in _QUEUES)


class Batch:
    """The crawls, hosts and (crawl, host) pairs of one script call. Scripts number them from 1, in this order."""

    def __init__(self, keys: Keys, lanes: str = "h") -> None:
        self._keys = keys
        self._lanes = lanes
        self._crawls: dict[UUID, int] = {}
        self._hosts: dict[str, int] = {}
        self._pairs: dict[tuple[UUID, str], int] = {}

    def crawl(self, crawl_id: UUID) -> int:
        return self._crawls.setdefault(crawl_id, len(self._crawls) + 1)

    def host(self, host: str) -> int:
        return self._hosts.setdefault(host, len(self._hosts) + 1)

    def pair(self, crawl_id: UUID, host: str) -> int:
        return self._pairs.setdefault((crawl_id, host), len(self._pairs) + 1)

    def layout(self) -> tuple[list[Argument], list[Argument]]:
        """The script's KEYS, and the ARGV that describe them (read by `lua/layout.lua`)."""
        numbers = [n for crawl_id, host in self._pairs for n in (self.crawl(crawl_id), self.host(host))]
        keys: list[Argument] = list(self._keys.shared)
        for crawl_id in self._crawls:
            keys += self._keys.crawl[crawl_id]
        for host in self._hosts:
            keys += self._keys.host[host]
        for crawl_id, host in self._pairs:
            keys += self._keys.queues[self._lanes, crawl_id, host]
        sizes = (len(self._crawls), len(self._hosts), len(self._pairs))
        return keys, [self._lanes, *sizes, *(c.hex for c in self._crawls), *self._hosts, *numbers]
