"""Debian's RabbitMQ on loopback, one server or a cluster of several, in a directory of its own."""

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
START_SECONDS = 120


def why_absent() -> str | None:
    if PROGRAM.exists() and EPMD.exists():
        return None
    return "RabbitMQ is not installed here; on Debian: apt-get install rabbitmq-server"


class Rabbit:
    def __init__(self, directory: Path, nodes: int = 1) -> None:
        self._directory = directory
        self._epmd_port, *ports = free_ports(1 + 2 * nodes)
        self._guard = Guard()
        self._epmd: subprocess.Popen[bytes] | None = None
        pairs = zip(ports[::2], ports[1::2], strict=True)
        self._nodes = [_Node(directory / f"node{number}", *pair) for number, pair in enumerate(pairs)]

    @property
    def url(self) -> str:
        """All of them, the first one first."""
        return ";".join(f"amqp://guest:guest@127.0.0.1:{node.port}//" for node in self._nodes)

    def start(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        # Its name server would else stay behind as a daemon.
        self._epmd = self._run(self._directory, {}, str(EPMD), "-address", "127.0.0.1", "-port", str(self._epmd_port))
        self.start_node(0)
        for number in range(1, len(self._nodes)):  # one after the other: they look for the first to join it
            self.start_node(number)

    def start_node(self, number: int) -> None:
        """One of them, with what it had on its disk."""
        node = self._nodes[number]
        node.directory.mkdir(exist_ok=True)
        environment = node.environment(None if number == 0 else self._nodes[0].name)
        node.process = self._run(node.directory, environment, str(PROGRAM))
        node.await_listening()

    def kill_node(self, number: int) -> None:
        node = self._nodes[number]
        if node.process:
            self._kill(node.process)
            node.process = None

    def signal_node(self, number: int, what: signal.Signals) -> None:
        process = self._nodes[number].process
        assert process is not None
        os.killpg(process.pid, what)

    def restart(self) -> None:
        """`kill -9` of all, and up again."""
        self.stop()
        self.start()

    def stop(self) -> None:
        for number in reversed(range(len(self._nodes))):
            self.kill_node(number)
        if self._epmd:
            self._kill(self._epmd)
            self._epmd = None

    def close(self) -> None:
        self.stop()
        self._guard.close()

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._guard.remove(process.pid)

    def _run(self, directory: Path, environment: dict[str, str], *command: str) -> subprocess.Popen[bytes]:
        with (directory / "output.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                env={
                    **os.environ,
                    "HOME": str(self._directory),  # where the secret is that members of a cluster share
                    "ERL_EPMD_ADDRESS": "127.0.0.1",
                    "ERL_EPMD_PORT": str(self._epmd_port),
                    **environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._guard.add(process.pid)
        return process


class _Node:
    def __init__(self, directory: Path, port: int, cluster_port: int) -> None:
        self.directory = directory
        self.port = port
        self.name = f"chaos{port}@localhost"
        self.process: subprocess.Popen[bytes] | None = None
        self._cluster_port = cluster_port

    def environment(self, joins: str | None) -> dict[str, str]:
        """`joins`: the member of a cluster that it asks to join it when it has no data yet."""
        home = str(self.directory)
        plugins, config = self.directory / "plugins", self.directory / "node.conf"
        plugins.write_text("[].\n")
        config.write_text(
            "cluster_formation.peer_discovery_backend = classic_config\n"
            f"cluster_formation.classic_config.nodes.1 = {joins}\n"
            if joins
            else ""
        )
        return {
            "RABBITMQ_NODENAME": self.name,
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._cluster_port),
            "RABBITMQ_MNESIA_BASE": f"{home}/mnesia",
            "RABBITMQ_LOG_BASE": f"{home}/log",
            "RABBITMQ_CONFIG_FILE": str(config),
            "RABBITMQ_CONF_ENV_FILE": f"{home}/none",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            # One thread that does not spin: several of them share a machine with all that is tested. Members that are
            # silent are left after 10 s at most; a minute is RabbitMQ's own default.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} -kernel net_ticktime 8 +S 1:1 +sbwt none"
            ),
        }

    def await_listening(self) -> None:
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, self._output()
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.2)
        raise AssertionError(f"RabbitMQ does not start: {self._output()}")

    def _output(self) -> str:
        return (self.directory / "output.log").read_text(errors="replace")[-2000:]


def free_ports(count: int) -> list[int]:
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()
