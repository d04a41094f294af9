"""A Redis we cannot trust is refused in one sentence."""

import threading
import time

import pytest
import redis

from crawler.adapters.frontier.redis_connection import HeldConnection, check_redis, connect_redis
from crawler.adapters.frontier.redis_scripts import Scripts
from crawler.embedded import Servers
from crawler.errors import RedisUnavailable


@pytest.fixture
def guarded(embedded_servers: Servers):  # type: ignore[no-untyped-def]
    """The same server, for a moment with a password."""
    with redis.Redis.from_url(embedded_servers.redis_url) as admin:
        admin.config_set("requirepass", "sesame")
        try:
            yield embedded_servers.redis_url
        finally:
            admin.config_set("requirepass", "")


def test_a_good_server_passes(embedded_servers: Servers) -> None:
    check_redis(connect_redis(embedded_servers.redis_url), time.time())


@pytest.mark.parametrize("skew", [-6, 6, 7200])
def test_a_clock_more_than_five_seconds_off_is_refused(embedded_servers: Servers, skew: int) -> None:
    with pytest.raises(RedisUnavailable, match=r"differ by .* synchronise both with NTP"):
        check_redis(connect_redis(embedded_servers.redis_url), time.time() + skew)


@pytest.mark.slow
@pytest.mark.parametrize("password", ["", "password=wrong&"])
def test_a_wrong_password_is_told_without_showing_it(guarded: str, password: str) -> None:
    with pytest.raises(RedisUnavailable, match="refuses this password; correct CRAWLER_REDIS_URL") as caught:
        check_redis(connect_redis(guarded.replace("?", f"?{password}")), time.time())
    assert "wrong" not in caught.value.message


def test_no_server_is_told() -> None:
    with pytest.raises(RedisUnavailable, match="does not answer; check that it runs"):
        check_redis(connect_redis("redis://127.0.0.1:1/0"), time.time())


def test_an_order_that_the_server_refuses_is_told_in_its_words(embedded_servers: Servers) -> None:
    """ "It does not answer" would send people to look at a server that runs."""
    client = connect_redis(embedded_servers.redis_url)
    client.set("word", "text")
    with pytest.raises(RedisUnavailable, match=r"refuses an order of ours: .*not an integer"):
        Scripts(client).command("INCR", "word")


def test_threads_may_come_and_go_without_end(embedded_servers: Servers) -> None:
    """A pool refuses to make more than a hundred connections, and never hears that a thread's has gone."""
    client = connect_redis(embedded_servers.redis_url)
    held, answers = HeldConnection(client), list[object]()
    before = client.info("clients")["connected_clients"]
    for _ in range(120):
        thread = threading.Thread(target=lambda: answers.append(held("ECHO", "here")))
        thread.start()
        thread.join()
    assert answers == [b"here"] * 120
    assert client.info("clients")["connected_clients"] <= before + 1, "none of them stays behind"
