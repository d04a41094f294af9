"""What belongs to a whole crawl, shared out over three servers: exact, whoever dies in the middle of it."""

import random
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.adapters.frontier.sharded_frontier import ShardedFrontier
from crawler.domain.crawls.frontier import CrawlStats, End, Lane, Outcome, Seen
from crawler.domain.crawls.shards import shard_of
from crawler.errors import RedisUnavailable
from tests.integration.frontier.conftest import sharded
from tests.integration.frontier.desk import LIMITS, Desk, page, pages
from tests.integration.frontier.valkey_process import ValkeyProcess

HOSTS = ("c.test", "b.test", "a.test")
"""One on each server."""


class Died(Exception):
    """The process died here."""


class MortalShard(FrontierShard):
    """A server whose client may die before a step, or after it and before it hears the answer."""

    chance: random.Random
    risk = 0.0

    def _run(self, name: str, *args: Any) -> Any:
        return self._mortal(super()._run, name, *args) if name == "share" else super()._run(name, *args)

    def _pool(self, *args: Any) -> Any:
        return self._mortal(super()._pool, *args)

    def _mortal(self, step: Callable[..., Any], *args: Any) -> Any:
        fate = self.chance.random()
        if fate < self.risk:
            raise Died
        answer = step(*args)
        if fate > 1 - self.risk:
            raise Died
        return answer


def mortal(redis: Redis, prefix: str, chance: random.Random) -> tuple[ShardedFrontier, list[MortalShard]]:
    shards = [MortalShard(redis, f"{prefix}:{number}") for number in range(3)]
    for shard in shards:
        shard.chance = chance
    return ShardedFrontier(shards, look_seconds=0), shards


@pytest.fixture
def three(redis: Redis, prefix: str) -> ShardedFrontier:
    return sharded(redis, prefix)


def test_each_host_of_these_tests_has_a_server_of_its_own() -> None:
    assert [shard_of(host, 3) for host in HOSTS] == [0, 1, 2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 12))])
def test_however_often_processes_die_exactly_max_pages_are_stored(redis: Redis, prefix: str, seed: int) -> None:
    chance = random.Random(seed)
    frontier, shards = mortal(redis, prefix, chance)
    crawl = Desk(frontier).crawl(
        *(page(f"http://{HOSTS[n % 3]}/{n}", n) for n in range(60)), max_pages=10, max_fetches=400, max_concurrent=4
    )
    stored: list[str] = []
    deaths = 0
    for _ in range(900):
        for shard in shards:
            shard.risk = 0.08
        try:
            if _stats(frontier, crawl).finished:
                break
            _work_once(frontier, chance, stored)
        except Died:
            deaths += 1
            frontier, shards = mortal(redis, prefix, chance)
        _never_too_much(frontier, shards, crawl, len(stored))
    for shard in shards:
        shard.risk = 0.0
    assert _stats(frontier, crawl).finished, "it never ends"
    assert deaths > 3, "nothing was tried"
    assert len(stored) == len(set(stored)) == 10


def _work_once(frontier: ShardedFrontier, chance: random.Random, stored: list[str]) -> None:
    pairs, _ = frontier.due(Lane.HTTP, 50)
    for lease in frontier.claim(Lane.HTTP, pairs, chance.randint(1, 3), 0.001) if pairs else ():
        end = chance.choice([End.STORED, End.STORED, End.DROPPED, End.RETRY])
        frontier.answered([(lease, 0)])
        stale, _ = frontier.complete(lease.crawl_id, [Outcome(lease, end, lease.claimed_ms)])
        if end is End.STORED and not stale:
            stored.append(lease.url)


def _stats(frontier: ShardedFrontier, crawl: UUID) -> CrawlStats:
    poison = [Outcome(lease, End.DROPPED) for lease, is_poison in frontier.reap(crawl) if is_poison]
    frontier.complete(crawl, poison)
    stats = frontier.stats(crawl)
    assert stats is not None
    return stats


def _never_too_much(frontier: ShardedFrontier, shards: list[MortalShard], crawl: UUID, stored: int) -> None:
    for shard in shards:
        shard.risk = 0.0
    states = [shard.state(crawl) for shard in shards]
    pool = frontier._shares.home(crawl).pool(crawl)
    assert pool
    held = sum(state.pages for state in states if state)
    assert pool.base.pages - pool.out.pages + held + stored <= 10
    slots = sum(state.slots for state in states if state)
    assert slots <= 4
    assert all(state.in_flight <= state.slots for state in states if state)


def test_a_crawl_on_one_host_gets_all_slots_and_pages_whichever_server_that_is(three: ShardedFrontier) -> None:
    desk = Desk(three)
    for host in HOSTS:
        crawl = desk.crawl(*pages(host, 30), max_pages=9, max_concurrent=4)
        leases = desk.claim()
        assert len(leases) == 4
        while leases:
            desk.end(leases)
            leases = desk.claim()
        assert desk.stats(crawl).finished
        assert desk.stats(crawl).queued == 21


def test_slots_that_lie_idle_on_one_server_come_to_another(three: ShardedFrontier) -> None:
    desk = Desk(three, servers=3)
    crawl = desk.crawl(*pages(HOSTS[0], 2), max_concurrent=4)
    first = desk.claim()
    desk.frontier.discover(crawl, pages(HOSTS[1], 9))
    assert len(desk.claim()) == 2
    desk.answer(first)
    assert desk.stats(crawl).in_flight == 2
    assert len(desk.claim()) == 2, "the two that the first server does not need any more"


def test_never_more_in_flight_than_the_crawl_may_have_on_all_servers(three: ShardedFrontier) -> None:
    desk = Desk(three, servers=3)
    desk.crawl(*(entry for host in HOSTS for entry in pages(host, 20)), max_concurrent=5)
    held = []
    for _ in range(12):
        held += desk.claim(3)
        assert len(held) <= 5
        desk.end(held[:2])
        held = held[2:]


def test_limits_that_are_lowered_are_called_in_from_every_server(three: ShardedFrontier) -> None:
    desk = Desk(three, servers=3)
    crawl = desk.crawl(*(entry for host in HOSTS for entry in pages(host, 20)), max_pages=50, max_concurrent=6)
    desk.end(desk.claim())
    three.open_crawl(crawl, LIMITS._replace(max_pages=8, max_concurrent=3))
    stored, held = 6, desk.claim()
    while held:
        assert len(held) <= 3
        desk.end(held)
        stored += len(held)
        assert not desk.stats(crawl).leased
        held = desk.claim()
    assert stored == 8
    assert desk.stats(crawl).finished


def test_a_crawl_that_one_server_forgot_is_lost_and_can_be_rebuilt(
    three: ShardedFrontier, redis: Redis, prefix: str
) -> None:
    desk = Desk(three, servers=3)
    entries = [entry for host in HOSTS for entry in pages(host, 4)]
    for number in range(3):
        crawl = desk.crawl(*entries, max_concurrent=20)
        redis.delete(*redis.keys(f"{prefix}:{number}:*"))
        assert three.stats(crawl) is None
        three.open_crawl(crawl, LIMITS)
        assert three.stats(crawl) is None or number == shard_of(crawl.hex, 3), "a server must not get it back empty"
        three.rebuild(crawl, LIMITS, seen=[], entries=entries, pages_left=9, fetches_left=30)
        assert desk.stats(crawl).queued == 12
        stored = 0
        while leases := desk.claim():
            desk.end(leases)
            stored += len(leases)
        assert (stored, desk.stats(crawl).finished) == (9, True)
        three.close_crawl(crawl)


def test_only_the_server_that_forgot_is_rebuilt(three: ShardedFrontier, redis: Redis, prefix: str) -> None:
    """Its neighbours keep their leases, and the crawl stores exactly what it may."""
    desk = Desk(three, servers=3)
    entries = [entry for host in HOSTS for entry in pages(host, 8)]
    crawl = desk.crawl(*entries, max_pages=20, max_concurrent=6)
    before = desk.stats(crawl)
    first = desk.claim(5)
    stored = {lease.url for lease in first}
    desk.end(first)
    held = desk.claim(4)
    lost = next(number for number in range(3) if number != shard_of(crawl.hex, 3))
    redis.delete(*redis.keys(f"{prefix}:{lost}:*"))
    assert three.stats(crawl) is None
    left = [entry for entry in entries if entry.url not in stored]
    seen = [Seen(entry.digest, entry.depth, entry.host) for entry in entries]
    limits = LIMITS._replace(max_pages=20, max_concurrent=6)
    assert three.rebuild(crawl, limits, seen=seen, entries=left, pages_left=15, fetches_left=99) == before.epoch
    for lease in held:
        stale = desk.end([lease])
        assert bool(stale) == (shard_of(lease.host, 3) == lost)
        stored |= {lease.url} if not stale else set()
    while leases := desk.claim():
        assert stored.isdisjoint(lease.url for lease in leases)
        desk.end(leases)
        stored |= {lease.url for lease in leases}
        assert not desk.stats(crawl).leased
    assert 20 <= len(stored) <= 24, "the commit refuses those beyond"
    assert desk.stats(crawl).finished
    assert desk.known(crawl, entries) == [1] * 24


def test_with_a_server_away_nothing_is_released_and_the_error_names_it(valkey: ValkeyProcess, prefix: str) -> None:
    """Or the requests of those that were released would be in no record."""
    gone = Redis(unix_socket_path="/nowhere/frontier.sock", retry=Retry(NoBackoff(), 0))
    three = sharded(valkey.client(), prefix)
    desk = Desk(three, servers=3)
    crawl = desk.crawl(*(entry for host in HOSTS for entry in pages(host, 2)), max_concurrent=6)
    leases = desk.claim()
    assert {lease.host for lease in leases} == set(HOSTS)
    shards = [FrontierShard(valkey.client(), f"{prefix}:{number}") for number in range(2)]
    half = ShardedFrontier([*shards, FrontierShard(gone, f"{prefix}:2")], look_seconds=0)
    for call in (lambda: half.release(leases), lambda: half.stats(crawl), lambda: half.due(Lane.HTTP, 9)):
        with pytest.raises(RedisUnavailable, match=r"nowhere/frontier\.sock does not answer.*CRAWLER_FRONTIER_URLS"):
            call()
    assert desk.stats(crawl).leased == len(leases)


def test_another_number_of_servers_is_seen_and_a_rebuild_mends_it(redis: Redis, prefix: str) -> None:
    desk = Desk(sharded(redis, prefix, 3), servers=3)
    entries = [page(f"http://h{n}.test/{n}", n) for n in range(20)]
    crawl = desk.crawl(*entries)
    for count in (2, 4):
        other = sharded(redis, prefix, count)
        assert other.stats(crawl) is None
        other.rebuild(crawl, LIMITS, seen=[], entries=entries, pages_left=100, fetches_left=300)
        stats = other.stats(crawl)
        assert stats
        assert stats.queued == 20


def test_processes_that_know_other_servers_are_refused(redis: Redis, prefix: str) -> None:
    three = sharded(redis, prefix, 3)
    three.enter_shift(Lane.HTTP, "one", 10)
    three.enter_shift(Lane.HTTP, "two", 10)
    other = sharded(redis, prefix, 4)
    for call in (lambda: other.enter_shift(Lane.HTTP, "three", 10), other.open_crawls):
        with pytest.raises(RedisUnavailable, match="same CRAWLER_FRONTIER_URLS"):
            call()
