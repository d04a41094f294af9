"""Receivers of webhooks that take the message and never answer: they cost their own notices time, and nobody else."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.running import Running, eventually, running
from tests.integration.handmade import lay, page
from tests.site.client import Site

RECEIVERS = 6
pytestmark = pytest.mark.timeout(180)


class Hanging:
    """A receiver that counts who waits for it, until it is told to answer."""

    def __init__(self) -> None:
        self.waiting = 0
        self.answers = threading.Event()
        self.url = ""


@contextmanager
def hanging() -> Iterator[Hanging]:
    state, lock = Hanging(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with lock:
                state.waiting += 1
            state.answers.wait(60)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    try:
        yield state
    finally:
        state.answers.set()
        server.shutdown()
        server.server_close()


def ended(up: Running, project: str, crawls: int) -> bool:
    history = up.history(project)
    return len(history) == crawls and bool(history[0]["completed_at"])


def test_six_receivers_that_hang_delay_no_start_of_a_crawl(tmp_path: Path) -> None:
    with hanging() as receiver, Site(tmp_path, hosts=1, pages=3) as site, running(tmp_path / "data") as up:
        lay(site, {"/": page(title="Home")})
        told = [up.project(f"Told {number}", site.url()) for number in range(RECEIVERS)]
        for project in told:
            up("POST", f"/projects/{project}/phases/crawl/run")
        for project in told:
            eventually(lambda project=project: ended(up, project, 1), 60, "the first crawl is over")  # type: ignore[misc]
            notify = {"notification_webhook": receiver.url, "notify_on": "always"}
            up(
                "PUT",
                f"/projects/{project}/schedule",
                {"enabled": True, "frequency": "monthly", "day_of_month": 1, **notify},
            )
            up("POST", f"/projects/{project}/schedule/run-now")
        eventually(lambda: receiver.waiting >= 2, 60, "receivers hang")

        other = up.project("Other", site.url())
        crawl = up("POST", f"/projects/{other}/phases/crawl/run")["crawl_id"]
        begun = eventually(lambda: up("GET", f"/crawl/{crawl}")["started_at"], 40, "the other crawl began")
        asked = up("GET", f"/crawl/{crawl}")["created_at"]
        assert datetime.fromisoformat(begun) - datetime.fromisoformat(asked) < timedelta(seconds=2)
        eventually(lambda: receiver.waiting == RECEIVERS, 14, "one receiver that hangs delays no other notice")
        eventually(lambda: ended(up, other, 1), 30, "the other crawl is over")
        receiver.answers.set()

        def statuses() -> list[str]:
            return [row["status"] for row in up("GET", "/notifications")["items"]]

        eventually(lambda: statuses() == ["sent"] * RECEIVERS, 20, "all are told in the end")
