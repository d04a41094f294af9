"""Clients that send half a request and wait: they are cut off, and everybody else is answered."""

import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from typing import Any

import pytest
import requests
import uvicorn

from crawler.config import Settings, load_settings
from crawler.entrypoints.api.__main__ import config
from crawler.entrypoints.http.slow_clients import ImpatientProtocol, impatient_protocol
from crawler.errors import SettingsError

SECONDS = 20.0


async def application(scope: dict, receive: object, send: object) -> None:  # type: ignore[type-arg]
    """Answers with the length of the request's body and the client's address."""
    body = b""
    while True:
        message = await receive()  # type: ignore[operator]
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    answer = f"{len(body)} {scope['client'][0]}".encode()
    headers = [(b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})  # type: ignore[operator]
    await send({"type": "http.response.body", "body": answer})  # type: ignore[operator]


@contextmanager
def served(made: uvicorn.Config) -> Iterator[int]:
    server = uvicorn.Server(made)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until = time.monotonic() + SECONDS
        while not server.started:
            assert time.monotonic() < until
            time.sleep(0.01)
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SECONDS)


@contextmanager
def impatient(app: Any = application, **limits: Any) -> Iterator[int]:
    protocol = impatient_protocol(**limits)
    with served(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", http=protocol, lifespan="off")
    ) as port:
        yield port


def connected(port: int, *pieces: bytes) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
    for piece in pieces:
        made.sendall(piece)
    return made


def answered(client: socket.socket) -> tuple[int, bytes]:
    """The next answer's status and body: head and body need not come in one piece."""
    answer = http.client.HTTPResponse(client)
    answer.begin()
    return answer.status, answer.read()


HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: h\r\nX-Slow: "
HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nhalf"


@pytest.mark.parametrize("half", [b"", HALF_A_HEAD, HALF_A_BODY], ids=["nothing", "head", "body"])
def test_half_a_request_is_not_waited_for(half: bytes) -> None:
    with impatient(head_seconds=0.3, body_seconds=0.3) as port, connected(port, half) as client:
        assert answered(client)[0] == 408
        assert client.recv(100) == b"", "closed"


def test_a_head_that_trickles_in_is_not_waited_for() -> None:
    with impatient(head_seconds=0.5) as port, connected(port, HALF_A_HEAD) as client:
        client.settimeout(0)
        until, told = time.monotonic() + SECONDS, b""
        while not told and time.monotonic() < until:
            with suppress(BlockingIOError):
                told = client.recv(100)
            with suppress(OSError):
                client.send(b"x")
            time.sleep(0.02)
        assert told.startswith(b"HTTP/1.1 408 ")


def test_a_large_body_may_take_its_time() -> None:
    """Each piece earns its sender time."""
    piece = b"x" * 1000
    with impatient(body_seconds=0.4) as port:
        head = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000\r\n\r\n"
        with connected(port, head) as client:
            for _ in range(8):
                client.sendall(piece)
                time.sleep(0.1)
            assert answered(client) == (200, b"8000 127.0.0.1")


def test_a_second_request_on_a_connection_has_its_own_time() -> None:
    with impatient(head_seconds=0.5) as port, connected(port, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n") as client:
        assert answered(client)[0] == 200
        time.sleep(0.7)  # idle between requests: uvicorn's own, longer limit
        client.sendall(b"GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        assert answered(client)[0] == 200
        client.sendall(HALF_A_HEAD)
        assert answered(client)[0] == 408


def test_many_half_sent_requests_leave_room_for_others() -> None:
    with impatient(head_seconds=60.0, body_seconds=60.0, most_connections=20) as port, ExitStack() as stack:
        halves = [
            stack.enter_context(
                connected(
                    port,
                    HALF_A_HEAD,
                )
            )
            for _ in range(60)
        ]
        for _ in range(30):
            assert requests.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).status_code == 200
        halves[0].settimeout(SECONDS)
        assert halves[0].recv(100) == b"", "those who wait longest make room"


LARGE = b"x" * 1_000_000
ASK = b"GET / HTTP/1.1\r\nHost: h\r\n\r\n"


async def large(scope: object, receive: object, send: Any) -> None:
    """Answers with more than the system holds for a client that takes nothing, in pieces."""
    headers = [(b"content-length", str(len(LARGE)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for n in range(0, len(LARGE), 50_000):
        await send({"type": "http.response.body", "body": LARGE[n : n + 50_000], "more_body": n + 50_000 < len(LARGE)})


async def at_once(scope: object, receive: object, send: Any) -> None:
    """The same, all of it handed over before any of it is taken."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"connection", b"close")]})
    await send({"type": "http.response.body", "body": LARGE})


def silent(port: int, asked: bytes = ASK, room: int = 2048) -> socket.socket:
    """Asks and takes no answer."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    made.settimeout(SECONDS)
    made.connect(("127.0.0.1", port))
    made.sendall(asked)
    return made


@pytest.mark.parametrize("app", [large, at_once])
@pytest.mark.parametrize("asked", [ASK, ASK * 20, ASK + HALF_A_BODY, ASK + b"\0"], ids=["one", "many", "half", "wrong"])
def test_an_answer_that_nobody_takes_is_not_kept(app: Any, asked: bytes) -> None:
    ended = threading.Event()

    def connection_lost(self: ImpatientProtocol, exc: Exception | None) -> None:
        ImpatientProtocol.connection_lost(self, exc)
        ended.set()

    with impatient(app, take_seconds=0.2, connection_lost=connection_lost) as port, silent(port, asked):
        assert ended.wait(SECONDS)


@pytest.mark.slow
def test_an_answer_may_be_taken_slowly() -> None:
    """Each look finds less than the one before."""
    with impatient(large, take_seconds=1.0) as port, silent(port, room=32_768) as client:
        found = 0
        while found < len(LARGE):
            piece = client.recv(16_384)
            assert piece, "cut off"
            found += len(piece)
            time.sleep(0.03)


def test_many_who_take_no_answer_leave_room_for_others() -> None:
    async def app(scope: dict, receive: object, send: object) -> None:  # type: ignore[type-arg]
        await (large if scope["path"] == "/large" else application)(scope, receive, send)

    with impatient(app, take_seconds=60.0, most_connections=20) as port, ExitStack() as stack:
        ask = ASK.replace(b"/", b"/large", 1)
        for n in range(50):
            stack.enter_context(silent(port, ask * (1 + n % 3)))
        for _ in range(30):
            assert requests.get(f"http://127.0.0.1:{port}/", timeout=SECONDS).status_code == 200


def address_told(settings: Settings) -> str:
    made = config(settings, "127.0.0.1", 0)
    made.app, made.factory, made.log_level, made.lifespan = application, False, "critical", "off"
    with served(made) as port:
        answer = requests.get(f"http://127.0.0.1:{port}/", headers={"X-Forwarded-For": "203.0.113.7"}, timeout=SECONDS)
    return answer.text.split()[1]


def test_an_address_named_in_a_header_is_believed_only_from_a_trusted_proxy() -> None:
    assert ip_address(address_told(load_settings())).is_loopback
    assert address_told(load_settings(trusted_proxies="127.0.0.0/8,10.0.0.1")) == "203.0.113.7"
    assert ip_address(address_told(load_settings(trusted_proxies="10.0.0.1"))).is_loopback


def test_a_proxy_that_is_no_address_is_refused() -> None:
    with pytest.raises(SettingsError, match="CRAWLER_TRUSTED_PROXIES"):
        load_settings(trusted_proxies="proxy.example")
