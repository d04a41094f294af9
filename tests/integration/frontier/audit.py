"""Looks at the frontier's keys from outside and says what must hold between any two calls."""

from collections import Counter
from typing import Any, NamedTuple

from redis import Redis

ReadyPairs = dict[tuple[str, str, str], float]


class CrawlBooks(NamedTuple):
    """One crawl as its keys tell it."""

    name: str
    info: dict[str, str]
    leases: set[str]
    data: dict[str, str]
    flying: set[str]
    past: set[str]
    poison: set[str]
    parked: set[str]
    broke: set[str]
    hosts: set[str]
    queues: dict[tuple[str, str, str], set[str]]
    """(lane, host, queue) -> members."""

    @property
    def budget(self) -> int:
        return min(int(self.info["pages"]), int(self.info["fetches"]))

    @property
    def slots(self) -> int:
        """Slots it has here: all, or its share. Those that others asked back for a second count as none."""
        held, asked, _ = map(int, self.info.get("slots", f"{self.info['max_concurrent']} 0 0").split())
        return held - asked

    def in_queues(self, *names: str) -> list[str]:
        return [member for (_, _, queue), members in self.queues.items() if queue in names for member in members]

    def leased(self) -> list[str]:
        return [raw.split("\n")[2] for raw in self.data.values()]

    def paid(self) -> int:
        """Pages whose budget is taken and not yet spent."""
        return sum(member.startswith("p") for member in [*self.leased(), *self.in_queues("free", "later")])


class Audit:
    def __init__(self, redis: Redis, prefix: str) -> None:
        self._redis: Any = redis
        self._prefix = prefix

    def check(self) -> dict[str, CrawlBooks]:
        ready = self._ready()
        books = {name: self._books(name) for name in _texts(self._redis.hkeys(f"{self._prefix}:crawls"))}
        for crawl in books.values():
            self._one_place_each(crawl)
            self._leases_agree(crawl)
            self._every_pair_waits_somewhere(crawl, ready)
            self._nothing_claimable_sleeps(crawl, ready)
        return books

    def _ready(self) -> ReadyPairs:
        found: ReadyPairs = {}
        for key in _texts(self._redis.keys(f"{self._prefix}:ready:?:*")):
            lane, crawl = key.split(":")[-2:]
            assert self._redis.zscore(f"{self._prefix}:ready:{lane}", crawl) is not None, "the crawl has no turn"
            for host, score in self._redis.zrange(key, 0, -1, withscores=True):
                found[crawl, lane, host.decode()] = score
        return found

    def _books(self, name: str) -> CrawlBooks:
        r, key = self._redis, f"{self._prefix}:crawl:{name}"
        queues = {}
        for found in _texts(r.keys(f"{self._prefix}:queue:{name}:*")):
            host, lane, queue = found.split(":")[-3:]
            queues[lane, host, queue] = set(_texts(r.zrange(found, 0, -1)))
        return CrawlBooks(
            name,
            {k.decode(): v.decode() for k, v in r.hgetall(key).items()},
            set(_texts(r.zrange(f"{key}:leases", 0, -1))),
            {k.decode(): v.decode() for k, v in r.hgetall(f"{key}:data").items()},
            set(_texts(r.smembers(f"{key}:flying"))),
            set(_texts(r.hkeys(f"{key}:past"))),
            set(_texts(r.smembers(f"{key}:poison"))),
            set(_texts(r.zrange(f"{key}:parked", 0, -1))),
            set(_texts(r.zrange(f"{key}:broke", 0, -1))),
            set(_texts(r.zrange(f"{key}:hosts", 0, -1))),
            queues,
        )

    def _one_place_each(self, crawl: CrawlBooks) -> None:
        everywhere = Counter([*crawl.in_queues("fresh", "free", "later"), *crawl.leased()])
        doubled = {m: n for m, n in everywhere.items() if n > 1 and not m.startswith("r")}
        assert not doubled, f"in two places: {doubled}"
        assert int(crawl.info.get("fresh", 0)) == len(crawl.in_queues("fresh"))
        assert int(crawl.info.get("free", 0)) == len(crawl.in_queues("free", "later"))
        assert set(crawl.in_queues("later")) <= crawl.past <= set(crawl.in_queues("fresh", "free", "later"))

    def _leases_agree(self, crawl: CrawlBooks) -> None:
        assert crawl.leases | crawl.poison == set(crawl.data)
        assert not crawl.leases & crawl.poison
        assert crawl.flying <= crawl.leases
        assert len(crawl.flying) <= int(crawl.info.get("slots", crawl.info["max_concurrent"]).split()[0])

    def _every_pair_waits_somewhere(self, crawl: CrawlBooks, ready: ReadyPairs) -> None:
        for lane, host, _ in crawl.queues:
            assert lane + host in crawl.hosts
            assert self._redis.zscore(f"{self._prefix}:host:{host}:waiters", lane + crawl.name) is not None
            places = ((crawl.name, lane, host) in ready, lane + host in crawl.parked, lane + host in crawl.broke)
            assert any(places), f"{lane} {host} is forgotten"

    def _nothing_claimable_sleeps(self, crawl: CrawlBooks, ready: ReadyPairs) -> None:
        """With slots or budget to spare some pair of the crawl is awake; when it is asked it wakes the next."""
        if crawl.info.get("paused") == "1":
            return
        awake = any(name == crawl.name for name, _, _ in ready)
        slots = crawl.slots - len(crawl.flying)
        assert not crawl.parked or slots <= 0 or awake, "a free slot woke nobody"
        assert not crawl.broke or crawl.budget <= 0 or awake, "budget woke nobody"


def _texts(values: Any) -> list[str]:
    return [value.decode() for value in values]
