"""A Postgres primary that dies is replaced by its standby, and a crawl loses nothing but time."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from crawler.adapters.postgres.database import connect, transaction
from crawler.adapters.postgres.schema import migrate
from crawler.errors import Unavailable
from tests.chaos.rabbit import free_ports
from tests.chaos.standby import USER, PostgresPair
from tests.databases import Databases
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow


def _await(port: int, seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise AssertionError(f"Nobody answers at port {port}.")


@contextmanager
def pooled(pair: PostgresPair) -> Iterator[str]:
    """The primary behind PgBouncer, whose connections serve somebody else after each transaction."""
    program = shutil.which("pgbouncer")
    if program is None:
        pytest.skip("pgbouncer is not installed here")
    (port,) = free_ports(1)
    config = pair.home / "pgbouncer.ini"
    config.write_text(
        f"[databases]\npostgres = host=127.0.0.1 port={pair.ports[0]} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 3\nignore_startup_parameters = options\n"
    )
    pool = subprocess.Popen([program, str(config)], user=USER, stderr=subprocess.DEVNULL)
    try:
        _await(port)
        yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
    finally:
        pool.kill()
        pool.wait()


@pytest.fixture
def pair() -> Iterator[PostgresPair]:
    made = PostgresPair()
    try:
        made.start()
        yield made
    finally:
        made.stop()


def test_a_crawl_goes_on_when_the_standby_takes_over(pair: PostgresPair, redis_url: str, tmp_path: Path) -> None:
    with (
        running_engine(pair.url, redis_url, data_dir=tmp_path / "data") as crawler,
        Site(tmp_path, pages=120, odd=0.5, seed=3) as site,
    ):
        migrate(crawler.tools.database)
        config = {"delay_seconds": 0, "max_pages": 500, "max_concurrent": 2}
        crawl = crawler.start(crawler.project(site.url()), config=config)
        crawler.tools.engine.work_shift.shift_seconds = 0.5
        while len(site.requests()) < 40:
            crawler.shift()
        pair.fail_over()
        began = time.monotonic()
        while True:
            with suppress(Unavailable):
                crawler.shift()
                break
        assert time.monotonic() - began < 30
        ended = crawler.run(crawl, seconds=60)
        expected = {key: (e.state, e.reason, e.depth) for key, e in site.expected().items()}
        assert {k: (r["fetch_state"], r["reason"], r["depth"]) for k, r in crawler.ledger(ended).items()} == expected


def test_a_pool_of_transactions_before_the_server_will_do(pair: PostgresPair, redis_url: str, tmp_path: Path) -> None:
    """With the settings of docs/how-to/run-on-several-machines.md."""
    with (
        pooled(pair) as url,
        running_engine(url, redis_url, data_dir=tmp_path / "data") as crawler,
        Site(tmp_path, pages=60, odd=0.5, seed=3) as site,
    ):
        migrate(crawler.tools.database)
        ended = crawler.crawl(site.url(), max_pages=500)
        crawler.again(ended)
        expected = {key: (e.state, e.reason, e.depth) for key, e in site.expected().items()}
        assert {k: (r["fetch_state"], r["reason"], r["depth"]) for k, r in crawler.ledger(ended).items()} == expected


def test_a_server_that_cannot_be_written_to_any_more_is_told(databases: Databases) -> None:
    database = connect(databases.make(), 1)
    with transaction(database) as db:
        db.execute(text("SET default_transaction_read_only = on"))
    with (
        pytest.raises(Unavailable, match="a replica that cannot be written to; name all servers"),
        transaction(database) as db,
    ):
        db.execute(text("CREATE TABLE t (n integer)"))
    with transaction(database) as db:
        db.execute(text("CREATE TABLE t (n integer)"))  # by another connection
    database.dispose()
