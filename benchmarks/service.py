"""The HTTP service, as `crawler up` starts it."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID

import requests

from benchmarks.children import child
from benchmarks.ours import Ours
from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.processes import all_processes

START_SECONDS = 60.0
PATH = "/api/v1"


@dataclass(frozen=True)
class Service:
    pid: int
    port: int
    key: str

    def live_url(self, project_id: UUID) -> str:
        return f"ws://127.0.0.1:{self.port}{PATH}/projects/{project_id}/ws"


@contextmanager
def service(crawler: Ours, scope: Scope = Scope.READ) -> Iterator[Service]:
    tools = crawler.tools
    key, secret = ApiKey.issue(name="bench", scope=scope, now=tools.clock())
    tools.store.add_key(key)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    spec = all_processes(tools.settings, "127.0.0.1", port)[0]
    with child(spec.argv, env=dict(spec.env or {}), stderr=subprocess.DEVNULL) as process:
        _await(port)
        yield Service(process.pid, port, secret)


def _await(port: int) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        try:
            if requests.get(f"http://127.0.0.1:{port}{PATH}/health/live", timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)
    raise SystemExit("The service did not start.")
