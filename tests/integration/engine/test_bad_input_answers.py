"""Answers that are too large, too slow, torn or no HTTP: each URL says why, and its neighbours are stored (B9-B11)."""

import gzip
import socket
import time
from contextlib import suppress

import pytest

from crawler.domain import retries
from tests.integration.bombs import GIGABYTE, bomb, nothing_packed
from tests.integration.footprint import MEGABYTE, footprint
from tests.integration.handmade import page
from tests.integration.hostile_site import Answers, crawl_among_good_pages
from tests.integration.live_engine import Engine
from tests.integration.raw_server import response

TIMEOUT_SECONDS = 1.0
BODY = page(title="Odd").encode()


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": TIMEOUT_SECONDS, "lease_seconds": 20}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon: how long the waits are is another test's matter."""
    monkeypatch.setattr(retries, "FIRST_RETRY_SECONDS", 0.05)


def packed(encoding: str, status: str = "200 OK", *fields: str) -> bytes:
    return response(bomb(encoding), status, f"Content-Encoding: {encoding}", *fields)


def test_bombs_stop_at_the_limit_and_cost_no_memory(crawler: Engine) -> None:
    answers = {
        "/gzip": packed("gzip"),
        "/br": packed("br"),
        "/nested": response(nothing_packed(GIGABYTE), "200 OK", "Content-Encoding: gzip, gzip, gzip"),
        "/zstd": packed("zstd"),
        "/moved": packed("gzip", "301 Moved", "Location: /before"),
        "/missing": packed("gzip", "404 Not Found"),
    }
    crawl_among_good_pages(crawler, {})  # whatever a first crawl loads is loaded
    with footprint() as seen:
        outcome = crawl_among_good_pages(crawler, answers)
    assert outcome.ends == {
        "/gzip": "too_large",
        "/br": "too_large",
        "/nested": "protocol",
        "/zstd": "protocol",
        "/moved": "redirected",
        "/missing": "not_found",
    }
    assert seen.grown < 50 * MEGABYTE


def drip(stream: socket.socket) -> None:
    """One byte at a time, for ever."""
    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n")
    send_until_gone(stream, b"x", pause=0.1)


def endless(stream: socket.socket) -> None:
    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
    send_until_gone(stream, b"10000\r\n" + b"x" * 65536 + b"\r\n")


def endless_head(stream: socket.socket) -> None:
    stream.sendall(b"HTTP/1.1 200 OK\r\n")
    send_until_gone(stream, b"X-More: and more\r\n", pause=0.001)


def send_until_gone(stream: socket.socket, data: bytes, pause: float = 0.0) -> None:
    with suppress(OSError):
        while True:
            stream.sendall(data)
            time.sleep(pause)


@pytest.mark.slow
def test_bodies_without_end_and_lengths_that_lie_end_at_a_limit(crawler: Engine) -> None:
    promised = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n"
    more = response(BODY) + response(page(title="Smuggled").encode()) * 3
    answers: Answers = {"/drip": drip, "/endless": endless, "/short": promised + BODY, "/long": more}
    crawl_among_good_pages(crawler, {})
    began = time.monotonic()
    with footprint() as seen:
        outcome = crawl_among_good_pages(crawler, answers)
    assert outcome.ends == {"/drip": "timeout", "/endless": "too_large", "/short": "protocol", "/long": "done"}
    assert crawler.page(outcome.crawl, "/long")["title"] == "Odd", "as much as was declared"
    assert outcome.rows["/short"]["attempts"] == 4
    assert time.monotonic() - began < 4 * TIMEOUT_SECONDS + 15
    assert seen.grown < 50 * MEGABYTE


def test_what_is_no_http_fails_as_protocol(crawler: Engine) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    answers: Answers = {
        "/long-line": head + b"X-Long: " + b"x" * 1_000_000 + b"\r\n\r\n" + BODY,
        "/many-lines": head + b"".join(b"X-%d: x\r\n" % n for n in range(10_000)) + b"\r\n" + BODY,
        "/wide": head + b"X-Wide: " + b"x" * 50_000 + b"\r\n\r\n" + BODY,
        "/some-lines": head + b"X: x\r\n" * 150 + b"\r\n" + BODY,
        "/endless-head": endless_head,
        "/nul": head + b"X-Nul: a\x00b\r\n\r\n" + BODY,
        "/http09": BODY,
        "/interim": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 10_000 + response(BODY),
        "/garbage": bytes(range(256)) * 4,
        "/other-protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
        "/no-status": b"HTTP/1.1 \r\n\r\n",
        "/two-lengths": head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY,
        "/bad-chunk": head + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n0\r\n\r\n",
        "/bad-gzip": response(b"not gzip", "200 OK", "Content-Encoding: gzip"),
        "/no-target": response(b"", "302 Found"),
    }
    outcome = crawl_among_good_pages(crawler, answers)
    assert outcome.ends == dict.fromkeys(answers, "protocol")


def test_bytes_that_are_no_text_are_no_page(crawler: Engine) -> None:
    """They would be told as a change, and so would the page when it is back."""
    twice = gzip.compress(gzip.compress(BODY * 50, mtime=0), mtime=0)
    outcome = crawl_among_good_pages(crawler, {"/twice": response(twice, "200 OK", "Content-Encoding: gzip")})
    assert outcome.ends == {"/twice": "parse"}


def test_odd_bytes_in_a_head_do_not_cost_the_page(crawler: Engine) -> None:
    odd = (b"\xff\xfe\x80", b"caf\xc3\xa9", b"__import__('os')", b"\x1b[2J", b"'; DROP TABLE crawled_pages; --")
    fields = b"".join(
        b"%s: %s\r\n" % (name, value) for value in odd for name in (b"ETag", b"Server", b"Referrer-Policy")
    )
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\xff\xfe\r\nLast-Modified: \xff\r\n" + fields
    outcome = crawl_among_good_pages(crawler, {"/odd": head + b"\r\n" + BODY})
    assert outcome.ends == {"/odd": "done"}
    assert crawler.page(outcome.crawl, "/odd")["title"] == "Odd"
