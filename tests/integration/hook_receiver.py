"""Receives webhooks on loopback: whole bodies, and answers as a test wants."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from tests.integration.threaded_server import ThreadedServer


class Received(NamedTuple):
    body: bytes
    headers: dict[str, str]

    @property
    def told(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class Receiver:
    def __init__(self, address: str) -> None:
        self.address = address
        self.got: list[Received] = []
        self.answers: list[int] = []
        """Statuses of the next ones; then 200."""

    @property
    def types(self) -> list[str]:
        return [one.told["type"] for one in self.got]

    def wait_for(self, event: str, seconds: float = 60) -> dict[str, Any]:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for one in self.got:
                if one.told["type"] == event:
                    return one.told
            time.sleep(0.02)
        raise AssertionError(f"{event} did not come, but {self.types}")


@contextmanager
def receiving() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append(Received(body, {name.lower(): value for name, value in self.headers.items()}))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadedServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_address[1]}/hook")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
