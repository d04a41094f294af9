"""Postgres and Valkey of a data directory, to be killed, frozen and robbed."""

import json
import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
from redis import Redis

from crawler.embedded import EmbeddedServers
from crawler.embedded.locks import try_exclusive
from crawler.supervisor.guard import Guard

POSTGRES = "postgres"
VALKEY = "valkey"


class FragileServers:
    """The product's embedded servers, which it can start again whatever happened to them."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._embedded = EmbeddedServers(data_dir)
        self._guard = Guard()
        self._groups: set[int] = set()

    def start(self) -> None:
        """Starts what does not run, too after a fault."""
        servers = self._embedded.ensure_running()
        self.database_url, self.redis_url = servers.database_url, servers.redis_url
        for name in (POSTGRES, VALKEY):  # they outlive their owner, but not a killed run of tests
            group = os.getpgid(self.pid(name))
            self._groups.add(group)
            self._guard.add(group)

    def stop(self) -> None:
        for name in (POSTGRES, VALKEY):
            with suppress(psutil.Error, ProcessLookupError):
                self.signal(name, signal.SIGCONT)
        self._embedded.release()
        for group in self._groups:
            self._guard.remove(group)
        self._guard.close()

    @property
    def sockets(self) -> dict[str, Path]:
        return {name: Path(self._state()[name]["socket"]) for name in (POSTGRES, VALKEY)}

    def pid(self, name: str) -> int:
        return int(self._state()[name]["pid"])

    def _state(self) -> dict[str, dict[str, str]]:
        state: dict[str, dict[str, str]] = json.loads((self._data_dir / "servers" / "state.json").read_text())
        return state

    # -- faults -----------------------------------------------------------------------------

    def signal(self, name: str, number: signal.Signals) -> None:
        """Postgres is many processes: a stop of one is no stop of the server."""
        main = psutil.Process(self.pid(name))
        everyone = [main, *main.children(recursive=True)] if number in (signal.SIGSTOP, signal.SIGCONT) else [main]
        for process in everyone:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)

    def kill(self, name: str) -> None:
        """`kill -9`, or what Postgres calls immediate; gone when this returns."""
        pid = self.pid(name)
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            self.signal(name, signal.SIGQUIT if name == POSTGRES else signal.SIGKILL)
            process.wait(10)
        _await_gone(self._data_dir / "servers" / f"{name}.lock")

    def forget_redis(self) -> None:
        """Redis comes back with nothing."""
        self.kill(VALKEY)
        shutil.rmtree(self._data_dir / VALKEY)

    def tear_redis_log(self, lost_bytes: int) -> None:
        """The end of the append-only file never reached the disk."""
        self.kill(VALKEY)
        newest = max((self._data_dir / VALKEY / "appendonlydir").glob("*.incr.aof"))
        size = newest.stat().st_size
        os.truncate(newest, max(0, size - lost_bytes))

    def redis(self, database: int = 0) -> Redis:
        """A connection that no fault of the network touches."""
        return Redis(unix_socket_path=str(self.sockets[VALKEY]), db=database, socket_timeout=60)


def _await_gone(lock: Path) -> None:
    """Its lock is free when the last process of a server has gone."""
    until = time.monotonic() + 10
    while (held := try_exclusive(lock)) is None:
        assert time.monotonic() < until, f"{lock.stem} does not die"
        time.sleep(0.01)
    os.close(held)
