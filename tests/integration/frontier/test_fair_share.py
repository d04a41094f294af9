"""Crawls share slots fairly: what a small one gets depends on its own need, not on what a large one has waiting."""

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import End, Entry, Lane, Lease, Outcome
from tests.integration.frontier.clock import Clock
from tests.integration.frontier.desk import ONE_SERVER, Desk, page, pages
from tests.integration.frontier.valkey_process import ValkeyProcess

ROUND_SECONDS = 0.001
ENOUGH = {"max_pages": 100_000, "max_fetches": 300_000}


def on_hosts(name: str, urls: int, hosts: int) -> list[Entry]:
    return [page(f"http://{name}{n % hosts}.test/{n}", n) for n in range(urls)]


def complete(desk: Desk, leases: Sequence[Lease]) -> None:
    desk.answer(leases)
    for crawl in {lease.crawl_id for lease in leases}:
        mine = [Outcome(lease, End.STORED) for lease in leases if lease.crawl_id == crawl]
        desk.frontier.complete(crawl, mine)


def rounds_until_done(desk: Desk, crawls: Sequence[UUID], *, room: int, lane: Lane = Lane.HTTP, most: int = 400) -> int:
    """How often a worker with so many slots has to look until these crawls have nothing left."""
    left = dict.fromkeys(crawls)
    for number in range(1, most + 1):
        pairs, _ = desk.frontier.due(lane, room)
        complete(desk, desk.frontier.claim(lane, pairs, room, 30) if pairs else [])
        desk.sleep(ROUND_SECONDS)
        for crawl in list(left):
            if desk.stats(crawl).finished:
                del left[crawl]
        if not left:
            return number
    raise AssertionError(f"{len(left)} of {len(crawls)} crawls are not done after {most} rounds")


@ONE_SERVER
@pytest.mark.quick(4)
@pytest.mark.parametrize("lane", Lane)
@pytest.mark.parametrize("hosts", [1, 300])
def test_small_crawls_are_done_in_time_whatever_a_large_one_has_waiting(desk: Desk, hosts: int, lane: Lane) -> None:
    desk.crawl(*on_hosts("big", 600, hosts), max_concurrent=256, lane=lane, **ENOUGH)
    desk.sleep(1)
    small = [desk.crawl(*pages(f"small{n}.test", 10), lane=lane) for n in range(5)]
    room = 12  # two for each
    assert rounds_until_done(desk, small, room=room, lane=lane) <= 7


@pytest.mark.slow
def test_a_large_crawl_with_overdue_hosts_never_slows_a_small_ones_pace(desk: Desk) -> None:
    """Its hosts are due more often than there are slots: they wait for each other, not the small crawl for them."""
    desk.crawl(*on_hosts("big", 600, 150), max_concurrent=256, delay_ms=10, **ENOUGH)
    desk.sleep(1)
    small = desk.crawl(*pages("small.test", 4), delay_ms=10)
    assert rounds_until_done(desk, [small], room=4) <= 3 * 12 + 4


@ONE_SERVER
def test_of_many_crawls_none_has_two_turns_before_another_has_one(desk: Desk) -> None:
    crawls = [desk.crawl(*on_hosts(f"h{n}-", 30, 10), max_concurrent=20) for n in range(8)]
    for _ in range(3):
        served: list[UUID] = []
        for _ in crawls:  # no time passes
            leases = desk.frontier.claim(Lane.HTTP, desk.frontier.due(Lane.HTTP, 1)[0], 1, 30)
            served += [lease.crawl_id for lease in leases]
        assert sorted(served) == sorted(crawls)
        desk.sleep(ROUND_SECONDS)


@ONE_SERVER
def test_a_look_at_what_is_due_takes_nobodys_turn(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 3))
    desk.sleep(0.01)
    desk.crawl(*pages("b.test", 3))
    first, _ = desk.frontier.due(Lane.HTTP, 1)
    assert desk.frontier.due(Lane.HTTP, 1)[0] == first


@ONE_SERVER
def test_a_crawl_with_one_host_gets_as_many_slots_as_one_with_many(desk: Desk) -> None:
    big = desk.crawl(*on_hosts("big", 200, 50), max_concurrent=100)
    small = desk.crawl(*pages("small.test", 50), max_concurrent=100)
    leases = [lease.crawl_id for lease in desk.claim(20)]
    assert (leases.count(big), leases.count(small)) == (10, 10)


@ONE_SERVER
def test_slots_nobody_else_needs_go_to_who_can_use_them(desk: Desk) -> None:
    big = desk.crawl(*on_hosts("big", 200, 50), max_concurrent=100)
    small = desk.crawl(*pages("small.test", 2), max_concurrent=100)
    leases = [lease.crawl_id for lease in desk.claim(20)]
    assert (leases.count(big), leases.count(small)) == (18, 2)


def test_slow_hosts_of_large_crawls_never_hold_every_slot(desk: Desk) -> None:
    """None of their requests is ever answered, and still each new crawl is served at once."""
    free = slots = 64
    large = [desk.crawl(*on_hosts(f"slow{n}-", 70, 70), max_concurrent=256, **ENOUGH) for n in range(6)]
    held: dict[UUID, int] = dict.fromkeys(large, 0)
    for _ in range(30):
        pairs, _ = desk.frontier.due(Lane.HTTP, min(free, 32))
        for lease in desk.frontier.claim(Lane.HTTP, pairs, min(free, 32), 300, 1, free):
            held[lease.crawl_id] += 1
            free -= 1
    assert free > 0
    assert min(held.values()) >= slots // (3 * len(large))
    newcomer = desk.crawl(*pages("new.test", 3))
    served: list[UUID] = []
    for _ in range(2):
        desk.sleep(ROUND_SECONDS)
        pairs, _ = desk.frontier.due(Lane.HTTP, free)
        served += [lease.crawl_id for lease in desk.frontier.claim(Lane.HTTP, pairs, free, 30, 1, free)]
    assert newcomer in served, "it was hidden by crawls that cannot be served"


@ONE_SERVER
def test_a_crawl_alone_uses_most_slots(desk: Desk) -> None:
    desk.crawl(*on_hosts("slow", 100, 100), max_concurrent=256, **ENOUGH)
    assert len(desk.frontier.claim(Lane.HTTP, desk.frontier.due(Lane.HTTP, 100)[0], 100, 30, 1, 100)) == 75


@ONE_SERVER
def test_pairs_that_an_earlier_version_left_ready_are_served(desk: Desk, redis: Any, prefix: str) -> None:
    crawl = desk.crawl(*pages("a.test", 2), *pages("b.test", 2, start=2), max_concurrent=9)
    for host, score in redis.zrange(f"{prefix}:ready:h:{crawl.hex}", 0, -1, withscores=True):
        redis.zadd(f"{prefix}:ready:h", {f"{crawl.hex}|{host.decode()}": score})
    redis.delete(f"{prefix}:ready:h:{crawl.hex}")
    redis.zrem(f"{prefix}:ready:h", crawl.hex)
    assert {lease.host for lease in desk.claim()} == {"a.test", "b.test"}


@pytest.mark.slow
@pytest.mark.parametrize("hosts", [1, 2500])
def test_twenty_small_projects_beside_one_of_50000_urls(
    valkey: ValkeyProcess, prefix: str, monkeypatch: pytest.MonkeyPatch, hosts: int
) -> None:
    """As many rounds as beside one of 500 URLs."""
    redis = valkey.client()
    redis.flushall()
    desk = Desk(RedisFrontier(redis, prefix), Clock(redis, monkeypatch))
    rounds: list[int] = []
    for urls in (500, 50_000):
        big = desk.crawl(*on_hosts("big", urls, hosts), max_concurrent=256, **ENOUGH)
        desk.sleep(1)
        small = [desk.crawl(*pages(f"s{n}.test", 20)) for n in range(20)]
        rounds.append(rounds_until_done(desk, small, room=32))
        for crawl in (big, *small):
            desk.frontier.close_crawl(crawl)
    redis.close()
    few, many = rounds
    assert many <= few + 2
    assert many <= 2 * math.ceil(20 * 21 / 32)
