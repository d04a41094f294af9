"""Small servers on loopback that answer in bytes, so that they can also answer wrongly."""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Request:
    line: str
    headers: dict[str, str]
    at: float
    body: bytes = b""

    @property
    def method(self) -> str:
        return self.line.split()[0]

    @property
    def path(self) -> str:
        return self.line.split()[1]


@dataclass
class Server:
    """What happened at a server; `requests` is the ground truth of its tests."""

    host: str
    port: int
    scheme: str = "http"
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    def url(self, path: str = "/", host: str | None = None) -> str:
        return f"{self.scheme}://{host or self.host}:{self.port}{path}"


Respond = Callable[[socket.socket, Request], bytes | None]
"""Bytes are sent and the connection is kept; None (after sending what it likes) closes it."""


def response(body: bytes = b"<p>hello</p>", status: str = "200 OK", *fields: str) -> bytes:
    if not any(f.lower().startswith("content-type:") for f in fields):
        fields += ("Content-Type: text/html; charset=utf-8",)
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


@contextmanager
def serving(
    respond: Respond, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
) -> Iterator[Server]:
    def handle(connection: socket.socket) -> None:
        stream = tls.wrap_socket(connection, server_side=True) if tls else connection
        with stream:
            buffered = b""
            while (head := _read_head(stream, buffered)) is not None:
                raw, buffered = head
                request = _parse(raw)
                body, buffered = _read_body(stream, buffered, int(request.headers.get("content-length", 0)))
                request = replace(request, body=body)
                server.requests.append(request)
                answer = respond(stream, request)
                if answer is None:
                    return
                stream.sendall(answer)

    with serving_connections(handle, host=host, port=port) as server:
        server.scheme = "https" if tls else "http"
        yield server


@contextmanager
def serving_connections(
    handle: Callable[[socket.socket], None], *, host: str = "127.0.0.1", port: int = 0
) -> Iterator[Server]:
    """One thread per connection; what a hostile or impatient client breaks is not the server's fault."""
    listener = socket.create_server((host, port), backlog=512)
    server = Server(host, listener.getsockname()[1])
    open_connections: list[socket.socket] = []

    def guarded(connection: socket.socket) -> None:
        with connection, suppress(OSError, ValueError):
            handle(connection)

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            server.connections += 1
            open_connections.append(connection)
            threading.Thread(target=guarded, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in open_connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


def _read_head(stream: socket.socket, buffered: bytes) -> tuple[bytes, bytes] | None:
    while b"\r\n\r\n" not in buffered:
        data = stream.recv(65536)
        if not data:
            return None
        buffered += data
    head, _, rest = buffered.partition(b"\r\n\r\n")
    return head, rest


def _read_body(stream: socket.socket, buffered: bytes, length: int) -> tuple[bytes, bytes]:
    while len(buffered) < length and (data := stream.recv(65536)):
        buffered += data
    return buffered[:length], buffered[length:]


def _parse(head: bytes) -> Request:
    line, *fields = head.decode("latin-1").split("\r\n")
    pairs = (f.partition(":") for f in fields)
    return Request(line, {name.lower(): value.strip() for name, _, value in pairs}, time.time())
