"""A Postgres primary that dies is replaced by its standby, and a crawl loses nothing but time."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy import text

from crawler.adapters.postgres.database import connect, transaction
from crawler.adapters.postgres.schema import migrate
from crawler.embedded.postgres import programs
from crawler.errors import Unavailable
from tests.chaos.rabbit import free_ports
from tests.databases import Databases
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow

USER = "nobody" if os.geteuid() == 0 else None
"""Postgres does not run as root."""


class Pair:
    """A primary and a standby that confirms each commit."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._ports = free_ports(2)
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self._ports[0]},127.0.0.1:{self._ports[1]}/postgres"

    def start(self) -> None:
        primary, standby = self._home / "primary", self._home / "standby"
        self._do("initdb", "-D", str(primary), "--auth=trust", "--username=postgres", "--no-sync")
        self._serve(primary, 0)
        self._do(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(self._ports[0]), "-U", "postgres", "-D", str(standby), "-R"
        )
        self._serve(standby, 1)
        self._ask(0, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self._ask(0, "SELECT pg_reload_conf()")
        self._ask(0, "CREATE EXTENSION IF NOT EXISTS vector")

    @contextmanager
    def pooled(self) -> Iterator[str]:
        """The primary behind PgBouncer, whose connections serve somebody else after each transaction."""
        program = shutil.which("pgbouncer")
        if program is None:
            pytest.skip("pgbouncer is not installed here")
        (port,) = free_ports(1)
        config = self._home / "pgbouncer.ini"
        config.write_text(
            f"[databases]\npostgres = host=127.0.0.1 port={self._ports[0]} user=postgres\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
            "pool_mode = transaction\ndefault_pool_size = 3\nignore_startup_parameters = options\n"
        )
        pool = subprocess.Popen([program, str(config)], user=USER, stderr=subprocess.DEVNULL)
        try:
            yield f"postgresql://postgres@127.0.0.1:{port}/postgres"
        finally:
            pool.kill()
            pool.wait()

    def fail_over(self) -> None:
        self._processes[0].kill()
        self._processes[0].wait()
        self._ask(1, "SELECT pg_promote()")

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _serve(self, home: Path, at: int) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_wal_senders": "4",
        }
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(programs() / "postgres"), "-D", str(home), "-p", str(self._ports[at]), *flags]
        self._processes.append(subprocess.Popen(command, user=USER, stderr=subprocess.DEVNULL))
        until = time.monotonic() + 60
        while True:
            with suppress(psycopg2.OperationalError):
                self._ask(at, "SELECT 1")
                return
            assert time.monotonic() < until
            time.sleep(0.1)

    def _do(self, program: str, *options: str) -> None:
        subprocess.run([str(programs() / program), *options], user=USER, check=True, stdout=subprocess.DEVNULL)

    def _ask(self, at: int, question: str) -> None:
        connection = psycopg2.connect(host="127.0.0.1", port=self._ports[at], user="postgres", connect_timeout=5)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(question)
        finally:
            connection.close()


@pytest.fixture
def pair() -> Iterator[Pair]:
    home = Path(tempfile.mkdtemp())  # not below a directory that only the user of the tests may enter
    if USER:
        shutil.chown(home, USER)
    made = Pair(home)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(home)


def test_a_crawl_goes_on_when_the_standby_takes_over(pair: Pair, redis_url: str, tmp_path: Path) -> None:
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


def test_a_pool_of_transactions_before_the_server_will_do(pair: Pair, redis_url: str, tmp_path: Path) -> None:
    """With the settings of docs/how-to/run-on-several-machines.md."""
    with (
        pair.pooled() as url,
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
