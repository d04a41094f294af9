"""Requests whose head is too long or no HTTP: refused with a problem document, and not read into memory without end."""

import json
import socket
import time
from typing import Any

import pytest

from crawler.entrypoints.http.request_heads import LINGER_BYTES, LONGEST_HEAD, LONGEST_TARGET
from tests.integration.api.test_slow_clients import answered, connected, impatient

IN_CHUNKS = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
LINES = b"28\r\nhttps://example.org/a/page/of/the/list,1\r\n" * 20_000


async def refusing(scope: object, receive: object, send: Any) -> None:
    """Answers before the body is there, as the service does where the key is wrong."""
    await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


def answer_to(*pieces: bytes) -> tuple[int, dict[str, Any]]:
    with impatient() as port, connected(port) as client:
        for piece in pieces:
            try:
                client.sendall(piece)
            except OSError:  # refused before everything was sent
                break
        head, _, body = read_all(client).partition(b"\r\n\r\n")
        assert b"application/problem+json" in head
        return int(head.split()[1]), json.loads(body)


def read_all(client: socket.socket) -> bytes:
    found = b""
    while piece := client.recv(65536):
        found += piece
    return found


@pytest.mark.parametrize(
    ("request_", "status", "code"),
    [
        (b"GET /?" + b"q" * LONGEST_TARGET + b" HTTP/1.1\r\nHost: h\r\n\r\n", 414, "query_too_long"),
        (b"GET /?" + b"q" * 70_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n", 414, "query_too_long"),
        (b"GET / HTTP/1.1\r\nHost: h\r\nX: " + b"x" * (LONGEST_HEAD + 1), 431, "headers_too_large"),
        (b"GET / HTTP/1.1\r\nHost: h\r\n" + b"X: y\r\n" * 20_000, 431, "headers_too_large"),
        (b"\x16\x03\x01\x02\x00\x01\x00", 400, "not_http"),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n" * 2000, 400, "not_http"),
        (IN_CHUNKS + b"1\r\nx\r\n0\r\n" + b"X: y\r\n" * 5000, 431, "headers_too_large"),
        (IN_CHUNKS + b"1\r\nx\r\n" * 20_000, 400, "body_in_crumbs"),
    ],
    ids=["query", "longer query", "one header", "many headers", "TLS", "many at once", "trailers", "crumbs"],
)
def test_a_head_that_cannot_be_taken_is_a_problem_document(request_: bytes, status: int, code: str) -> None:
    got, problem = answer_to(request_)
    assert (got, problem["status"], problem["code"]) == (status, status, code)
    assert problem["detail"].endswith(".")


def test_what_follows_a_body_is_no_header() -> None:
    seen: list[tuple[bytes, bytes]] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        seen.extend(scope["headers"])
        await refusing(scope, receive, send)

    asked = IN_CHUNKS + b"1\r\nx\r\n0\r\nAuthorization: Bearer k\r\n\r\n"
    with impatient(app) as port, connected(port, asked) as client:
        assert answered(client)[0] == 401
    assert [name for name, _ in seen] == [b"host", b"transfer-encoding"]


def test_a_head_without_an_end_is_cut_off() -> None:
    assert answer_to(b"GET / HTTP/1.1\r\nX: ", *[b"x" * 65_536] * 100)[0] == 431


def test_who_goes_on_sending_gets_the_answer_and_no_reset() -> None:
    """A connection that is closed before all is read is reset, and what was sent on it may be lost."""
    with impatient() as port, connected(port) as client:
        client.sendall(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000)
        assert answered(client)[0] == 431
        client.sendall(b"X: y\r\n" * 20_000)
        time.sleep(0.05)
        client.sendall(b"X: y\r\n")
        assert client.recv(65536) == b""


def test_who_sends_for_ever_is_cut_off() -> None:
    with impatient() as port, connected(port) as client, pytest.raises(OSError):  # noqa: PT011 - it has several names
        client.sendall(b"X: y\r\n" * LINGER_BYTES)


def test_a_long_body_is_no_long_head() -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 300000\r\n\r\n"
    with impatient() as port, connected(port, head, *[b"x" * 10_000] * 30) as client:
        assert read_all(client).endswith(b"300000 127.0.0.1")


def test_a_body_sent_line_by_line_is_taken() -> None:
    with impatient() as port, connected(port, IN_CHUNKS, LINES, b"0\r\n\r\n") as client:
        assert answered(client) == (200, b"800000 127.0.0.1")


def test_what_is_sent_after_the_answer_is_not_read_for_ever() -> None:
    with impatient(refusing) as port, connected(port, IN_CHUNKS, b"1\r\nx\r\n") as client:
        assert answered(client)[0] == 401
        with pytest.raises(OSError):  # noqa: PT011 - a closed connection has several names
            client.sendall(LINES * 100)


@pytest.mark.parametrize("connection", [b"close", b"keep-alive"])
def test_who_is_refused_while_sending_a_file_gets_the_answer_and_no_reset(connection: bytes) -> None:
    """Most programs send all of it before they look at what was answered."""
    size = LINGER_BYTES // 2
    head = b"POST / HTTP/1.1\r\nHost: h\r\nConnection: %s\r\nContent-Length: %d\r\n\r\n" % (connection, size)
    with impatient(refusing) as port, connected(port, head) as client:
        time.sleep(0.2)  # the answer is there before
        for _ in range(16):
            client.sendall(b"x" * (size // 16))
        assert answered(client)[0] == 401


def test_who_is_refused_and_sends_for_ever_is_cut_off() -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 1000000000\r\n\r\n"
    with impatient(refusing) as port, connected(port, head) as client, pytest.raises(OSError):  # noqa: PT011 - several
        client.sendall(b"x" * 10 * LINGER_BYTES)


def test_who_was_refused_and_still_sends_makes_room_for_others() -> None:
    head = b"POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 10000\r\n\r\n"
    with (
        impatient(refusing, most_connections=2) as port,
        connected(port, head) as first,
        connected(port, head) as next_,
    ):
        assert [answered(client)[0] for client in (first, next_)] == [401, 401]
        with connected(port, b"GET / HTTP/1.1\r\nHost: h\r\n\r\n") as third:
            assert answered(third)[0] == 401
