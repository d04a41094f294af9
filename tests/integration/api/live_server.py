"""The service over real connections, and people who watch it."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import uvicorn
from pydantic import SecretStr
from websockets.sync.client import ClientConnection, connect

from crawler.bootstrap import App
from crawler.entrypoints.api.live.protocol import LiveProtocol
from tests.integration.api.conftest import Service

SECONDS = 30.0
"""Machines that run tests are busy."""


def eventually(what: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


class Watcher:
    """Reads events."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    def next(self, seconds: float = SECONDS) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.connection.recv(timeout=seconds))
        return event

    def take(self, count: int) -> list[dict[str, Any]]:
        return [self.next() for _ in range(count)]

    def until(self, kind: str) -> list[dict[str, Any]]:
        events = [self.next()]
        while events[-1]["type"] != kind:
            events.append(self.next())
        return events


@contextmanager
def watching(
    port: int, service: Service, project_id: UUID | str, after: int | None = None, **options: Any
) -> Iterator[Watcher]:
    query = options.pop("query", "" if after is None else f"after={after}")
    url = f"ws://127.0.0.1:{port}/api/v1/projects/{project_id}/ws?{query}"
    headers = {"Authorization": f"Bearer {service.secret}", **options.pop("headers", {})}
    given = {"open_timeout": SECONDS, "close_timeout": 1, "ping_interval": None, **options}
    with connect(url, additional_headers=headers, **given) as connection:
        yield Watcher(connection)


@contextmanager
def served(app: object, *, direct: bool = True) -> Iterator[int]:
    """In a thread of this process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(300)
        ws: Any = LiveProtocol if direct else "websockets-sansio"
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws=ws))  # type: ignore[arg-type]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive(), "it ends when it is asked to, whoever still watches"


class ServiceProcess:
    """The service as `crawler up` starts it."""

    def __init__(self, tools: App, port: int = 0) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = port or int(probe.getsockname()[1])
        where = ("--host", "127.0.0.1", "--port", str(self.port))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crawler.entrypoints.api", *where], env=_environment(tools)
        )
        self.pid = self._process.pid
        self._await()

    def _await(self) -> None:
        until = time.monotonic() + 3 * SECONDS  # its imports are seconds of work
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            assert self._process.poll() is None
            time.sleep(0.1)
        self.kill()
        raise AssertionError("the service does not start")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> int:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        return self._process.wait(30)


@contextmanager
def service_process(tools: App, port: int = 0) -> Iterator[ServiceProcess]:
    process = ServiceProcess(tools, port)
    try:
        yield process
    finally:
        process.end()


def _environment(tools: App) -> dict[str, str]:
    given = {name: getattr(tools.settings, name) for name in ("database_url", "redis_url", "data_dir")}
    values = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else str(value) for name, value in given.items()
    }
    return {**os.environ, **{f"CRAWLER_{name.upper()}": value for name, value in values.items()}}
