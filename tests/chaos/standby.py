"""Postgres with a standby, on loopback."""

import os
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psycopg2

from crawler.embedded.postgres import programs
from crawler.supervisor.guard import Guard
from tests.chaos.rabbit import free_ports

USER = "nobody" if os.geteuid() == 0 else None
"""Postgres does not run as root."""


class PostgresPair:
    """A primary and a standby that confirms each commit."""

    def __init__(self) -> None:
        self.home = Path(tempfile.mkdtemp())  # not below a directory that only the user of the tests may enter
        if USER:
            shutil.chown(self.home, USER)
        self.ports = free_ports(2)
        self._guard = Guard()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.ports[0]},127.0.0.1:{self.ports[1]}/postgres"

    def start(self) -> None:
        primary, standby = self.home / "primary", self.home / "standby"
        self._do("initdb", "-D", str(primary), "--auth=trust", "--username=postgres", "--no-sync")
        self._serve(primary, 0)
        self._do(
            "pg_basebackup", "-h", "127.0.0.1", "-p", str(self.ports[0]), "-U", "postgres", "-D", str(standby), "-R"
        )
        self._serve(standby, 1)
        self._ask(0, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self._ask(0, "SELECT pg_reload_conf()")
        self._ask(0, "CREATE EXTENSION IF NOT EXISTS vector")

    def fail_over(self) -> None:
        self._processes[0].kill()
        self._processes[0].wait()
        self._ask(1, "SELECT pg_promote()")

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            self._guard.remove(process.pid)
        self._guard.close()
        shutil.rmtree(self.home)

    def _serve(self, home: Path, at: int) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_wal_senders": "4",
        }
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(programs() / "postgres"), "-D", str(home), "-p", str(self.ports[at]), *flags]
        process = subprocess.Popen(command, user=USER, stderr=subprocess.DEVNULL, start_new_session=True)
        self._processes.append(process)
        self._guard.add(process.pid)
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
        connection = psycopg2.connect(host="127.0.0.1", port=self.ports[at], user="postgres", connect_timeout=5)
        try:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(question)
        finally:
            connection.close()
