"""Receivers of webhooks that take the message and never answer: they cost their own notices time, and nobody else."""

import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crawler.adapters.notices.webhook_sender import SECONDS
from tests.acceptance.running import Running, eventually
from tests.integration.handmade import lay, page
from tests.site.client import Site

RECEIVERS = 6
pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(300)]


class Hanging:
    """Receivers that know who waits for them, until they are told to answer."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.came: dict[str, datetime] = {}
        """By crawl."""
        self.waiting = 0
        self.answers = threading.Event()


@contextmanager
def hanging() -> Iterator[Hanging]:
    state, lock = Hanging(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                state.came[told["crawl_id"]] = datetime.now(UTC)
                state.waiting += 1
            try:
                while not state.answers.wait(0.05) and not has_hung_up(self.connection):
                    pass
            finally:
                with lock:
                    state.waiting -= 1
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(RECEIVERS)]
    for server in servers:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    state.urls = [f"http://127.0.0.1:{server.server_address[1]}/hook" for server in servers]
    try:
        yield state
    finally:
        state.answers.set()
        for server in servers:
            server.shutdown()
            server.server_close()


def has_hung_up(connection: socket.socket) -> bool:
    return bool(select.select([connection], [], [], 0)[0]) and not connection.recv(1, socket.MSG_PEEK)


def ended(up: Running, project: str, crawls: int) -> datetime | None:
    history = up.history(project)
    at = history[0]["completed_at"] if len(history) == crawls else None
    return datetime.fromisoformat(at) if at else None


def statuses(up: Running, projects: list[str]) -> list[str]:
    return [row["status"] for project in projects for row in up("GET", "/notifications", project_id=project)["items"]]


def test_six_receivers_that_hang_delay_no_start_of_a_crawl(up: Running, tmp_path: Path) -> None:
    with hanging() as receivers, Site(tmp_path, hosts=1, pages=3) as site:
        lay(site, {"/": page(title="Home")})
        told = [up.project(f"Told {number}", site.url()) for number in range(RECEIVERS)]
        for project in told:
            up("POST", f"/projects/{project}/phases/crawl/run")
        for project, url in zip(told, receivers.urls, strict=True):
            eventually(lambda project=project: ended(up, project, 1), 120, "the first crawl is over")  # type: ignore[misc]
            notify = {"notification_webhook": url, "notify_on": "always"}
            up(
                "PUT",
                f"/projects/{project}/schedule",
                {"enabled": True, "frequency": "monthly", "day_of_month": 1, **notify},
            )
        for project in told:
            up("POST", f"/projects/{project}/schedule/run-now")
        eventually(lambda: receivers.waiting >= 2, 120, "receivers hang")

        other = up.project("Other", site.url())
        crawl = up("POST", f"/projects/{other}/phases/crawl/run")["crawl_id"]
        begun = eventually(lambda: up("GET", f"/crawl/{crawl}")["started_at"], 120, "the other crawl began")
        asked = up("GET", f"/crawl/{crawl}")["created_at"]
        waited = datetime.fromisoformat(begun) - datetime.fromisoformat(asked)
        assert waited < timedelta(seconds=SECONDS / 2), "it waited for a receiver to be given up"
        eventually(lambda: len(receivers.came) == RECEIVERS, 120, "all have their notice")
        for project in told:
            over = eventually(lambda project=project: ended(up, project, 2), 1, "it came after the end")  # type: ignore[misc]
            delay = receivers.came[up.history(project)[0]["id"]] - over
            assert delay < timedelta(seconds=SECONDS), "one receiver that hangs delays no other notice"
        eventually(lambda: ended(up, other, 1), 120, "the other crawl is over")
        waiting, now = receivers.waiting, datetime.now(UTC)
        receivers.answers.set()
        patient = sum(now - came < timedelta(seconds=SECONDS - 1) for came in receivers.came.values())
        assert waiting >= patient, "nobody is given up before its time, which it takes a very slow machine to see"
        eventually(lambda: "sending" not in statuses(up, told), 120, "all are told in the end")
        assert len(statuses(up, told)) == RECEIVERS
        assert statuses(up, told).count("sent") == waiting
