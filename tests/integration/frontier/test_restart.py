"""A restart of the server forgets nothing that matters."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import End, Lane
from crawler.errors import RedisUnavailable
from tests.integration.frontier.desk import Desk, pages
from tests.integration.frontier.valkey_process import ValkeyProcess


@pytest.fixture
def own_valkey() -> Iterator[ValkeyProcess]:
    with tempfile.TemporaryDirectory(prefix="vk") as directory:
        process = ValkeyProcess(Path(directory))
        process.start()
        yield process
        process.kill()


def test_delays_blocks_pauses_and_leases_survive_a_killed_server(own_valkey: ValkeyProcess) -> None:
    desk = Desk(RedisFrontier(own_valkey.client()))
    frontier = desk.frontier
    crawl = desk.crawl(*pages("a.test", 3), *pages("b.test", 3, start=5), *pages("c.test", 2, start=9), max_pages=7)
    paused = desk.crawl(*pages("d.test", 2))
    frontier.pause_crawl(paused, paused=True)
    frontier.pause_host("c.test", paused=True)
    frontier.set_host_delay("c.test", 7)
    frontier.block_host("b.test", 3600, 8, 3)
    frontier.set_robots("a.test", 3600, 0.5)
    lease = frontier.claim(Lane.HTTP, [(crawl, "a.test")], 1, 30)[0]
    frontier.sent([(lease, 0)])
    hosts = [frontier.host(f"{name}.test") for name in "abcd"]
    stats = [frontier.stats(crawl), frontier.stats(paused)]

    own_valkey.kill()
    own_valkey.start()

    assert [frontier.host(f"{name}.test") for name in "abcd"] == hosts
    assert [frontier.stats(crawl), frontier.stats(paused)] == stats
    assert desk.end([lease]) == [], "the lease is still ours"
    again = desk.wait()
    assert [(other.crawl_id, other.host) for other in again] == [(crawl, "a.test")]
    assert again[0].claimed_ms - lease.claimed_ms >= 500
    assert again[0].token > lease.token


def test_a_server_that_is_away_is_one_error_of_ours(own_valkey: ValkeyProcess) -> None:
    desk = Desk(RedisFrontier(own_valkey.client(retries=0)))
    crawl = desk.crawl(*pages("a.test", 1))
    own_valkey.kill()
    for call in (
        lambda: desk.claim(),
        lambda: desk.stats(crawl),
        lambda: desk.known(crawl, pages("a.test", 1)),
        lambda: desk.frontier.acquire_hint(Lane.HTTP, 1),
    ):
        with pytest.raises(RedisUnavailable):
            call()
    own_valkey.start()
    assert desk.end([desk.one()], End.STORED) == []


def test_tokens_grow_even_when_the_server_lost_everything(own_valkey: ValkeyProcess) -> None:
    client = own_valkey.client()
    desk = Desk(RedisFrontier(client))
    desk.crawl(*pages("a.test", 1))
    old = desk.one()
    client.flushall()
    crawl = desk.crawl(*pages("a.test", 1))
    new = desk.one()
    assert new.token > old.token
    assert desk.stats(crawl).epoch > old.epoch
