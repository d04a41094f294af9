"""The HTTP service on a real port, in this process; and a door in front of it that loses answers."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

import requests
import uvicorn

from crawler.bootstrap import App
from crawler.entrypoints.api.live.protocol import LiveProtocol
from tests.integration.shared_app import shared_app
from tests.integration.threaded_server import ThreadedServer


@contextmanager
def served(tools: App) -> Iterator[str]:
    """The service's address."""
    server = uvicorn.Server(
        uvicorn.Config(shared_app(tools), host="127.0.0.1", port=0, log_level="critical", ws=LiveProtocol)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started:
        assert thread.is_alive(), "the service ended at once"
        assert time.monotonic() < until, "the service does not start"
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)


class Seen(NamedTuple):
    method: str
    path: str
    key: str | None
    authorization: str | None


Mishap = Callable[["_Handler"], None]


class Door:
    """Passes requests on to a service, unless a mishap was planned for the next ones."""

    def __init__(self, service: str, address: str) -> None:
        self.service = service
        self.address = address
        self.seen: list[Seen] = []
        self.mishaps: list[Mishap] = []


class _Handler(BaseHTTPRequestHandler):
    door: Door
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None: ...

    def forwarded(self) -> requests.Response:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        body = self.rfile.read(length)
        with requests.Session() as session:
            session.trust_env = False
            return session.request(self.command, self.door.service + self.path, headers=headers, data=body, timeout=30)

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_any(self) -> None:
        headers = self.headers
        self.door.seen.append(
            Seen(self.command, self.path, headers.get("Idempotency-Key"), headers.get("Authorization"))
        )
        if self.door.mishaps:
            self.door.mishaps.pop(0)(self)
            self.close_connection = True
            return
        real = self.forwarded()
        self.answer(real.status_code, real.content, Content_Type=real.headers.get("Content-Type", ""))

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - the library's names


def lost_after_it_was_done(handler: _Handler) -> None:
    handler.forwarded()


def never_arrived(_: _Handler) -> None: ...


def refused(status: int, **headers: str) -> Mishap:
    def mishap(handler: _Handler) -> None:
        # Told that it closes: or the next request may go into a connection that is just ending.
        handler.answer(status, b"<h1>Bad gateway</h1>", Content_Type="text/html", Connection="close", **headers)

    return mishap


def told(status: int, body: bytes, content_type: str = "application/json") -> Mishap:
    def mishap(handler: _Handler) -> None:
        handler.answer(status, body, Content_Type=content_type, Connection="close")

    return mishap


def cut_off(handler: _Handler) -> None:
    """The head says there are more pieces than come."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"4\r\nhalf\r\n")


@contextmanager
def door_before(service: str) -> Iterator[Door]:
    server = ThreadedServer(("127.0.0.1", 0), _Handler)
    door = Door(service, f"http://127.0.0.1:{server.server_address[1]}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"door": door})
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield door
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
