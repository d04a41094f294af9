"""A Redis primary that dies is replaced by its replica, and a crawl loses nothing but time."""

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from redbeat.schedulers import get_redis
from redis.exceptions import RedisError

from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.operating.queues import ENDS, LATER, OWN, QUEUES
from crawler.config import load_settings
from crawler.errors import RedisUnavailable
from tests.chaos.sentinels import SentinelServers
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[SentinelServers]:
    made = SentinelServers(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_crawl_goes_on_when_another_server_takes_over(
    servers: SentinelServers, engine_database: str, tmp_path: Path
) -> None:
    with (
        running_engine(engine_database, servers.url, data_dir=tmp_path / "data") as crawler,
        Site(tmp_path, pages=120, odd=0.5, seed=3) as site,
    ):
        config = {"delay_seconds": 0, "max_pages": 500, "max_concurrent": 2}
        queue = CeleryQueue(make_celery(crawler.tools.settings))
        assert set(queue.lengths()) == {*QUEUES, *OWN.values(), *LATER.values(), *ENDS.values()}
        crawl = crawler.start(crawler.project(site.url()), config=config)
        crawler.tools.engine.work_shift.shift_seconds = 0.5
        while len(site.requests()) < 40:
            crawler.shift()
        servers.kill_primary()
        began = time.monotonic()
        while True:
            with suppress(RedisUnavailable):
                crawler.shift()
                break
        assert time.monotonic() - began < 30
        crawler.tools.crawls.reconcile()
        ended = crawler.run(crawl, seconds=60)
        expected = {key: (e.state, e.reason, e.depth) for key, e in site.expected().items()}
        assert {k: (r["fetch_state"], r["reason"], r["depth"]) for k, r in crawler.ledger(ended).items()} == expected
        queue.ping()
        assert set(queue.lengths()) == {*QUEUES, *OWN.values(), *LATER.values(), *ENDS.values()}


def test_beat_asks_the_sentinels_too(servers: SentinelServers, engine_database: str) -> None:
    app = make_celery(load_settings(database_url=engine_database, redis_url=servers.url))
    get_redis(app).set("here", "it is")
    servers.kill_primary()
    until = time.monotonic() + 30
    while True:
        with suppress(RedisError):
            get_redis(app).set("here", "again")
            break
        assert time.monotonic() < until
        time.sleep(0.1)
