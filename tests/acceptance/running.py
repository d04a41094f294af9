"""`crawler up` as a person runs it, spoken to over HTTP; and a receiver of webhooks."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import psutil
import requests

from tests.acceptance.cli import Cli
from tests.acceptance.warm import Forked

T = TypeVar("T")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(what: Callable[[], T | None], seconds: float, words: str, *, every: float = 0.1) -> T:
    """Its first answer that is something. Who starts a process to ask should ask less often."""
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, f"not within {seconds:g} s: {words}"
        time.sleep(every)
    return found


def until(output: Iterable[str] | None, words: str) -> list[str]:
    """What a command says, up to the line with these words."""
    lines = []
    for line in output or ():
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError("".join(lines))


def words_of(process: psutil.Process) -> list[str]:
    try:
        return " ".join(process.cmdline()).split()  # a forked process shows its command line as one word
    except psutil.Error:  # it ends this very moment
        return []


def workers(stack: psutil.Process, name: str) -> list[psutil.Process]:
    """The main process of a worker: its children carry the same command line."""
    children = stack.children(recursive=True)
    named = [p for p in children if any(word.startswith(f"{name}-") for word in words_of(p))]
    return [p for p in named if p.ppid() not in {q.pid for q in named}]


class Posted(NamedTuple):
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@contextmanager
def receiving_posts() -> Iterator[tuple[str, list[Posted]]]:
    """Its address, and what was sent there."""
    posts: list[Posted] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            posts.append(Posted(headers, self.rfile.read(int(headers["content-length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/hook", posts
    finally:
        server.shutdown()
        server.server_close()


class Running:
    def __init__(self, cli: Cli, command: "Forked | subprocess.Popen[str]", port: int, flower: int) -> None:
        self.cli = cli
        self.command = command
        self.process = psutil.Process(command.pid)
        self.port = port
        self.flower = f"http://127.0.0.1:{flower}"
        self.address = f"http://127.0.0.1:{port}"
        self.key = (cli.data_dir / "api-key").read_text().strip()
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Bearer {self.key}"

    def __call__(self, method: str, path: str, body: Any = None, *, status: int | None = None, **params: Any) -> Any:
        url = f"{self.address}/api/v1{path}"
        answer = self._session.request(method, url, params=params, json=body, timeout=60)
        assert answer.ok if status is None else answer.status_code == status, answer.text
        kind = answer.headers.get("content-type", "")
        return answer.json() if kind in {"application/json", "application/problem+json"} else answer.text

    def kill(self, *names: str) -> int:
        """Processes with one of these in their command line, without a word; how many."""
        killed = 0
        for child in self.process.children(recursive=True):
            line = " ".join(words_of(child))
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                if child.name() != "postgres" and any(name in line for name in names):
                    os.kill(child.pid, signal.SIGKILL)
                    killed += 1
        return killed

    def log(self, name: str) -> str:
        return (self.cli.data_dir / "logs" / f"{name}.log").read_text()

    def project(self, name: str, url: str) -> str:
        settings = {"delay_seconds": 0, "render": "never", "use_sitemaps": False}
        made: str = self("POST", "/projects", {"name": name, "website_url": url, "settings": settings})["id"]
        return made

    def history(self, project: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self("GET", f"/projects/{project}/crawl-history")["items"]
        return found

    def due_soon(self, project: str, **config: Any) -> datetime:
        """Set a daily schedule whose next run begins in six to ten seconds, and say when.

        Slots are whole minutes and runs begin their jitter later, to the second: for a wanted second there is a slot
        and a jitter that give it. Six seconds, because beat looks every five.
        """
        path, daily = f"/projects/{project}/schedule", {"enabled": True, "frequency": "daily", **config}
        longest = self("PUT", path, {**daily, "time": "00:00", "jitter_minutes": 180})
        used = {datetime.fromisoformat(run["slot_at"]) for run in longest["runs"]}
        at = datetime.fromisoformat(longest["next_run_at"])
        share = (timedelta(hours=at.hour, minutes=at.minute, seconds=at.second).total_seconds() + 0.5) / (180 * 60)
        while True:
            soonest = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=6)
            choices = [_slot(soonest, int(share * minutes * 60), minutes) for minutes in range(181)]
            _, slot, minutes = min(choice for choice in choices if choice[1] not in used)
            planned = self("PUT", path, {**daily, "time": f"{slot:%H:%M}", "jitter_minutes": minutes})
            begins = datetime.fromisoformat(planned["next_run_at"])
            if begins - datetime.now(UTC) < timedelta(seconds=12):
                return begins


def _slot(soonest: datetime, jitter_seconds: int, minutes: int) -> tuple[datetime, datetime, int]:
    """The first moment a run with this jitter can begin, and its slot, a whole minute."""
    begins = soonest + timedelta(seconds=(jitter_seconds - soonest.second) % 60)
    return begins, begins - timedelta(seconds=jitter_seconds), minutes


@contextmanager
def running(directory: Path, **environment: str) -> Iterator[Running]:
    port, flower = free_port(), free_port()
    given = {"CRAWLER_FLOWER_PORT": str(flower), "CRAWLER_EGRESS_ALLOW": "127.0.0.0/8", **environment}
    cli = Cli(directory, **given)
    command = cli.start("up", "--port", str(port))
    try:
        until(command.stdout, "Ctrl-C")
        threading.Thread(target=command.stdout.read if command.stdout else print, daemon=True).start()
        yield Running(cli, command, port, flower)
    finally:
        cli.end_all()
