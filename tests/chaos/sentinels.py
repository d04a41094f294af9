"""Valkey with a stand-in, on loopback."""

import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from crawler.embedded.valkey import program
from crawler.supervisor.guard import Guard
from tests.chaos.rabbit import free_ports


class SentinelServers:
    """A primary, its replica and a sentinel that watches them."""

    def __init__(self, home: Path) -> None:
        self._home = home
        *self._ports, self._sentinel = free_ports(3)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._guard = Guard()

    @property
    def url(self) -> str:
        return f"sentinel://127.0.0.1:{self._sentinel}/main/0"

    def start(self) -> None:
        self._home.mkdir(exist_ok=True)
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

    def freeze_primary(self) -> None:
        """As a machine without power: nobody is told."""
        self._processes[0].send_signal(signal.SIGSTOP)

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()
            self._guard.remove(process.pid)
        self._guard.close()

    def _run(self, *options: str) -> None:
        process = subprocess.Popen([str(program()), *options], stdout=subprocess.DEVNULL, start_new_session=True)
        self._processes.append(process)
        self._guard.add(process.pid)

    def _until(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + 30
        while True:
            with suppress(RedisError, KeyError):
                if is_so():
                    return
            assert time.monotonic() < until
            time.sleep(0.05)
