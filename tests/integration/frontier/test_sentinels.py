"""A Redis primary that dies is replaced by its replica, and a crawl loses nothing but time."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from redbeat.schedulers import get_redis
from redis import Redis
from redis.exceptions import RedisError

from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.adapters.operating.queues import QUEUES
from crawler.config import load_settings
from crawler.embedded.valkey import program
from crawler.errors import RedisUnavailable
from tests.chaos.rabbit import free_ports
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow


class Servers:
    """A primary, its replica and a sentinel that watches them."""

    def __init__(self, home: Path) -> None:
        self._home = home
        *self._ports, self._sentinel = free_ports(3)
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"sentinel://127.0.0.1:{self._sentinel}/main/0"

    def start(self) -> None:
        primary, replica = self._ports
        common = ["--bind", "127.0.0.1", "--save", "", "--repl-diskless-sync-delay", "0", "--dir", str(self._home)]
        self._run("--port", str(primary), *common)
        self._run("--port", str(replica), *common, "--replicaof", "127.0.0.1", str(primary))
        self._until(lambda: bool(Redis(port=replica).info("replication").get("master_link_status") == "up"))
        config = self._home / "sentinel.conf"
        config.write_text(
            f"port {self._sentinel}\nbind 127.0.0.1\ndir {self._home}\n"
            f"sentinel monitor main 127.0.0.1 {primary} 1\n"
            "sentinel down-after-milliseconds main 1000\nsentinel failover-timeout main 5000\n"
        )
        self._run(str(config), "--sentinel")
        self._until(lambda: bool(Redis(port=self._sentinel).sentinel_slaves("main")))

    def kill_primary(self) -> None:
        self._processes[0].kill()
        self._processes[0].wait()

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _run(self, *options: str) -> None:
        self._processes.append(subprocess.Popen([str(program()), *options], stdout=subprocess.DEVNULL))

    def _until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + 30
        while True:
            with suppress(RedisError, KeyError):
                if is_so():
                    return
            assert time.monotonic() < until
            time.sleep(0.05)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_crawl_goes_on_when_another_server_takes_over(servers: Servers, engine_database: str, tmp_path: Path) -> None:
    with (
        running_engine(engine_database, servers.url, data_dir=tmp_path / "data") as crawler,
        Site(tmp_path, pages=120, odd=0.5, seed=3) as site,
    ):
        config = {"delay_seconds": 0, "max_pages": 500, "max_concurrent": 2}
        queue = CeleryQueue(make_celery(crawler.tools.settings))
        assert set(queue.lengths()) == set(QUEUES)
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
        assert set(queue.lengths()) == set(QUEUES)


def test_beat_asks_the_sentinels_too(servers: Servers, engine_database: str) -> None:
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
