"""Debian's RabbitMQ on loopback, in a directory of its own."""

import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from crawler.supervisor.guard import Guard

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Not the one on the PATH: as root that would change the user."""
EPMD = Path("/usr/bin/epmd")
START_SECONDS = 90


def why_absent() -> str | None:
    if PROGRAM.exists() and EPMD.exists():
        return None
    return "RabbitMQ is not installed here; on Debian: apt-get install rabbitmq-server"


class Rabbit:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._port, self._epmd_port, self._node_port = free_ports(3)
        self._guard = Guard()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self._port}//"

    def start(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        # Its name server would else stay behind as a daemon.
        self._run(str(EPMD), "-address", "127.0.0.1", "-port", str(self._epmd_port))
        self._run(str(PROGRAM))
        self._await_listening()

    def restart(self) -> None:
        """`kill -9`, and up again."""
        self.stop()
        self.start()

    def stop(self) -> None:
        for process in reversed(self._processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            self._guard.remove(process.pid)
        self._processes.clear()

    def close(self) -> None:
        self.stop()
        self._guard.close()

    def _run(self, *command: str) -> None:
        with (self._directory / "output.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env={**os.environ, **self._environment()},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)
        self._guard.add(process.pid)

    def _environment(self) -> dict[str, str]:
        home = str(self._directory)
        plugins = self._directory / "plugins"
        plugins.write_text("[].\n")
        return {
            "HOME": home,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "RABBITMQ_NODENAME": f"chaos{self._port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self._port),
            "RABBITMQ_DIST_PORT": str(self._node_port),
            "RABBITMQ_MNESIA_BASE": f"{home}/mnesia",
            "RABBITMQ_LOG_BASE": f"{home}/log",
            "RABBITMQ_CONFIG_FILE": f"{home}/none",
            "RABBITMQ_CONF_ENV_FILE": f"{home}/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def _await_listening(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            assert self._processes[-1].poll() is None, self._output()
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), timeout=1):
                return
            time.sleep(0.2)
        raise AssertionError(f"RabbitMQ does not start: {self._output()}")

    def _output(self) -> str:
        return (self._directory / "output.log").read_text(errors="replace")[-2000:]


def free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()
