"""The light fetcher against servers that do not behave: each limit holds, and the next fetch works."""

import errno
import gzip
import resource
import socket
import threading
import time

import brotli
import pytest

from crawler.adapters.curl import handle as curl_handle
from crawler.adapters.curl import transfer as curl_transfer
from crawler.adapters.curl.errors import one_line
from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.curl.transfer import MAX_FIELDS, MAX_HEAD_BYTES, OTHER_BODY_BYTES, Transfer
from crawler.domain.crawls.fetching import FetchRequest, FetchResult
from crawler.domain.reasons import Reason
from tests.integration.bombs import GIGABYTE, bomb, nothing_packed
from tests.integration.loopback_fetcher import fetch, fetch_all, loopback_fetcher
from tests.integration.raw_server import Request, Respond, response, serving

MEGABYTE = 1024 * 1024
LIMIT = 5 * MEGABYTE
MAY_GROW = 50 * MEGABYTE


def fetch_from(respond: Respond, *, then_works: bool = True, **fields: object) -> FetchResult:
    """One hostile answer, then a plain request on the same fetcher: the worker is alive and nothing leaked over."""

    def both(stream: socket.socket, request: Request) -> bytes | None:
        return response(b"<p>fine</p>") if request.path == "/fine" else respond(stream, request)

    with serving(both) as server, loopback_fetcher(max_body_bytes=LIMIT) as fetcher:
        result = fetch(fetcher, server.url("/bad"), **fields)
        after = fetch(fetcher, server.url("/fine"))
        assert (after.status, after.body) == (200, b"<p>fine</p>")
        assert fetcher._meter.buffered == 0
    return result


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_bomb_of_a_gigabyte_stops_at_the_limit_and_costs_no_memory(encoding: str) -> None:
    packed = bomb(encoding)
    assert len(packed) < 2 * MEGABYTE
    before = peak_bytes()
    begun = time.process_time()
    result = fetch_from(lambda _s, _r: response(packed, "200 OK", f"Content-Encoding: {encoding}"))
    assert result.failure is Reason.TOO_LARGE
    assert (result.status, len(result.body), result.truncated) == (200, LIMIT, True)
    assert peak_bytes() - before < MAY_GROW
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    "fields",
    [
        ("Content-Encoding: gzip, gzip, gzip",),
        ("Content-Encoding: gzip",) * 3,
        ("content-encoding:GZIP,,identity,x-gzip", "Content-Encoding: gzip"),
    ],
)
def test_a_body_packed_several_times_is_not_unpacked(fields: tuple[str, ...]) -> None:
    """All that is unpacked is nothing: no limit of bytes ends it, and no other request of the process goes on."""
    packed = nothing_packed(GIGABYTE)
    assert len(packed) < 100_000
    begun = time.process_time()
    result = fetch_from(lambda _s, _r: response(packed, "200 OK", *fields))
    assert time.process_time() - begun < 0.3
    assert (result.failure, result.status, result.body) == (Reason.PROTOCOL, 200, b"")
    assert "packed more than once" in result.error


def test_of_a_redirect_packed_several_times_the_head_is_enough() -> None:
    def answer(_stream: socket.socket, request: Request) -> bytes:
        if request.path == "/next":
            return response(b"<p>end</p>", "200 OK", "Content-Encoding: identity")
        return response(nothing_packed(GIGABYTE), "302 Found", "Content-Encoding: gzip, gzip, gzip", "Location: /next")

    result = fetch_from(answer, max_redirects=1)
    assert (result.failure, result.status, result.body) == (None, 200, b"<p>end</p>")


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "503 Busy"])
def test_a_bomb_on_an_answer_that_is_no_page_costs_next_to_nothing(status: str) -> None:
    answer = response(bomb("gzip"), status, "Content-Encoding: gzip", "Location: /next")
    result = fetch_from(lambda _s, _r: answer)
    assert (result.failure, result.status) == (None, int(status[:3]))
    assert (len(result.body), result.truncated) == (OTHER_BODY_BYTES, True)
    assert result.location == ("/next" if status.startswith("302") else "")


def test_a_followed_redirect_with_a_bomb_is_still_followed() -> None:
    def answer(_stream: socket.socket, request: Request) -> bytes:
        if request.path == "/next":
            return response(b"<p>end</p>")
        return response(bomb("gzip"), "302 Found", "Content-Encoding: gzip", "Location: /next")

    result = fetch_from(answer, max_redirects=1)
    assert (result.status, result.body, result.truncated) == (200, b"<p>end</p>", False)


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_compressed_page_arrives_whole(encoding: str) -> None:
    page = b"<p>" + b"words and words " * 20_000
    packed = gzip.compress(page) if encoding == "gzip" else brotli.compress(page)
    result = fetch_from(lambda _s, _r: response(packed, "200 OK", f"Content-Encoding: {encoding}"))
    assert (result.failure, result.body) == (None, page)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [("zstd", b"x"), ("gzip", b"not gzip at all"), ("br", b"\xff" * 40), (", ".join(["gzip"] * 50), b"x")],
)
def test_a_body_that_cannot_be_unpacked_is_a_protocol_failure(encoding: str, body: bytes) -> None:
    result = fetch_from(lambda _s, _r: response(body, "200 OK", f"Content-Encoding: {encoding}"))
    assert result.failure is Reason.PROTOCOL


def test_the_requests_own_limit_beats_the_fetchers_and_the_beginning_is_kept() -> None:
    body = bytes(range(256)) * 40
    result = fetch_from(lambda _s, _r: response(body), max_body_bytes=1000)
    assert (result.failure, result.body, result.truncated) == (Reason.TOO_LARGE, body[:1000], True)
    result = fetch_from(lambda _s, _r: response(body), max_body_bytes=len(body))
    assert (result.failure, result.body, result.truncated) == (None, body, False)


def test_an_endless_body_stops_at_the_limit() -> None:
    def endless(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            stream.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")

    before = peak_bytes()
    result = fetch_from(endless)
    assert (result.failure, len(result.body)) == (Reason.TOO_LARGE, LIMIT)
    assert peak_bytes() - before < MAY_GROW


def test_bodies_over_their_share_are_put_off_when_memory_is_short() -> None:
    together = 4
    go_on = threading.Event()

    def half(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 600000\r\n\r\n")
        stream.sendall(b"a" * 400_000)
        go_on.wait(5)
        stream.sendall(b"a" * 200_000)

    with serving(half) as server, loopback_fetcher(buffered_bytes=MEGABYTE) as fetcher:
        for number in range(together):
            fetcher.submit(FetchRequest(server.url(f"/{number}")))
        results: list[FetchResult] = []
        most = 0
        until = time.monotonic() + 5
        while fetcher.active and time.monotonic() < until:
            results += fetcher.poll(0.05)
            most = max(most, fetcher._meter.buffered)
            if results:
                go_on.set()
    put_off = [r for r in results if r.failure is Reason.TIMEOUT]
    assert len(results) == together
    assert put_off
    assert all("Put off" in r.error for r in put_off)
    assert [r for r in results if r.failure is None and len(r.body) == 600_000]
    assert most <= 2 * MEGABYTE


# slow


def test_a_dripping_body_ends_at_the_deadline() -> None:
    def drip(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            stream.sendall(b"a")
            time.sleep(0.1)

    with serving(drip) as server, loopback_fetcher(timeout_seconds=1) as fetcher:
        result = fetch(fetcher, server.url())
    assert result.failure is Reason.TIMEOUT
    assert 0.9 < result.elapsed_seconds < 2


def test_a_server_that_says_nothing_ends_at_the_deadline() -> None:
    def silent(stream: socket.socket, _request: Request) -> None:
        stream.recv(1)

    with serving(silent) as server, loopback_fetcher(timeout_seconds=0.5) as fetcher:
        result = fetch(fetcher, server.url())
    assert (result.failure, result.status) == (Reason.TIMEOUT, 0)
    assert result.sent_at > 0


def test_a_crawling_body_is_given_up_long_before_a_long_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curl_handle, "LOW_SPEED_SECONDS", 1)

    def crawl(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            stream.sendall(b"a")
            time.sleep(0.5)

    with serving(crawl) as server, loopback_fetcher(timeout_seconds=60) as fetcher:
        result = fetch(fetcher, server.url())
    assert result.failure is Reason.TIMEOUT
    assert result.elapsed_seconds < 8


# lies and nonsense


def test_a_body_cut_short_is_marked_truncated() -> None:
    def short(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<p>only this")

    result = fetch_from(short)
    assert (result.failure, result.status, result.body) == (None, 200, b"<p>only this")
    assert result.truncated
    assert result.error


def test_what_comes_after_the_declared_length_is_not_taken_for_the_next_answer() -> None:
    extra = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Type: text/html\r\n\r\nevil"
    result = fetch_from(lambda _s, _r: response(b"good") + extra)
    assert (result.failure, result.body) == (None, b"good")


def _answers(raw: bytes) -> Respond:
    def answer(stream: socket.socket, _request: Request) -> None:
        stream.sendall(raw)

    return answer


def _head(*fields: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + b"".join(f + b"\r\n" for f in fields) + b"\r\n"


PROTOCOL_FAULTS = {
    "a header line of a megabyte": _head(b"X-Long: " + b"a" * MEGABYTE),
    "a header line over the limit": _head(b"X-Long: " + b"a" * MAX_HEAD_BYTES),
    "ten thousand headers": _head(*(b"X-%d: a" % n for n in range(10_000))),
    "one header too many": _head(*(b"X-%d: a" % n for n in range(MAX_FIELDS))),
    "a hundred thousand cookies": _head(*(b"Set-Cookie: a=%d" % n for n in range(100_000))),
    "a NUL in a header": _head(b"X-Nul: a\x00b"),
    "a carriage return in a header": _head(b"X-Cr: a\rInjected: 1"),
    "a header without colon": _head(b"nonsense"),
    "HTTP/0.9": b"<p>no head at all</p>",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a status that is no number": b"HTTP/1.1 abc OK\r\n\r\n",
    "a status that begins like a number": b"HTTP/1.1 200abc OK\r\n\r\n",
    "a status of six digits": b"HTTP/1.1 999999 OK\r\n\r\n",
    "a status of thousands of digits": b"HTTP/1.1 200" + b"9" * 5000 + b" OK\r\n\r\n",
    "an interim status of four digits": b"HTTP/1.1 1000 OK\r\n\r\n",
    "a flood of interim answers": b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" * 1000 + _head(),
    "a flood of bare interim answers": b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
    "more than a few interim answers": b"HTTP/1.1 103 Early Hints\r\n\r\n" * 20 + _head(),
    "two lengths that differ": _head(b"Content-Length: 1", b"Content-Length: 2") + b"ab",
    "a length that is no number": _head(b"Content-Length: many") + b"ab",
    "a chunk size that is no number": _head(b"Transfer-Encoding: chunked") + b"zz\r\nab\r\n",
    "an upgrade nobody asked for": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nabc",
}


@pytest.mark.parametrize("fault", PROTOCOL_FAULTS)
def test_an_answer_that_breaks_http_is_a_protocol_failure(fault: str) -> None:
    result = fetch_from(_answers(PROTOCOL_FAULTS[fault]))
    assert result.failure is Reason.PROTOCOL, (result.failure, result.error, result.status)
    assert result.error
    assert result.elapsed_seconds < 3


def test_as_many_headers_as_allowed_are_accepted() -> None:
    fields = [f"X-{n}: a" for n in range(MAX_FIELDS - 2)]
    result = fetch_from(lambda _s, _r: response(b"<p>ok</p>", "200 OK", *fields))
    assert result.failure is None
    assert len(result.headers) == MAX_FIELDS


def test_odd_bytes_in_headers_do_no_harm() -> None:
    fields = (b"X-Latin: gr\xfcn", b"X-Fold: a", b"\t b", b"X-Esc: \x1b[2J")
    result = fetch_from(lambda _s, _r: _head(*fields, b"Content-Length: 2") + b"hi")
    assert (result.failure, result.body) == (None, b"hi")
    assert result.headers["x-latin"] == "grün"
    assert result.headers["x-fold"] == "a b"
    assert not any("\r" in value or "\n" in value for value in result.headers.values())


def test_a_few_interim_answers_and_a_trailer_are_fine() -> None:
    raw = (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: image/png\r\n\r\n"
        + _head(b"Transfer-Encoding: chunked", b"Trailer: X-Sum")
        + b"2\r\nhi\r\n0\r\nContent-Type: image/gif\r\nX-Sum: 1\r\n\r\n"
    )
    result = fetch_from(lambda _s, _r: raw)
    assert (result.failure, result.status, result.body) == (None, 200, b"hi")
    assert result.content_type == "text/html"


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\nContent-Ty"])
def test_a_connection_that_ends_before_the_head_is_a_connect_failure(sent: bytes) -> None:
    result = fetch_from(_answers(sent))
    assert result.failure is Reason.CONNECT


def test_nobody_listening_is_a_connect_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with loopback_fetcher() as fetcher:
        result = fetch(fetcher, f"http://127.0.0.1:{port}/")
    assert (result.failure, result.status) == (Reason.CONNECT, 0)


def test_a_process_without_free_descriptors_is_a_connect_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_arguments: object) -> socket.socket:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(curl_transfer, "socket", full)
    with loopback_fetcher() as fetcher:
        result = fetch(fetcher, "http://127.0.0.1:9/")
    assert (result.failure, result.error) == (Reason.CONNECT, "Too many open files")


def test_an_error_is_one_short_line_without_credentials() -> None:
    text = one_line("Failed: http://me:hunter2@proxy.test/?api_key=abc&x=1\r\n\x1b[2J" + "y" * 1000)
    assert text.startswith("Failed: http://proxy.test/?api_key=…&x=1 [2J")
    assert len(text) == 300
    assert text.isprintable()


def test_bombs_that_arrive_together_let_the_response_of_another_owner_through() -> None:
    """To unpack one takes a moment only, but nobody else's request goes on meanwhile."""
    packed = bomb("br")
    all_there = threading.Barrier(41, timeout=10)

    def answer(_stream: socket.socket, request: Request) -> bytes:
        if request.path == "/fine":
            return response(b"<p>fine</p>")
        all_there.wait()
        return response(packed, "200 OK", "Content-Encoding: br")

    with serving(answer) as server, loopback_fetcher(max_body_bytes=LIMIT) as fetcher:
        for number in range(40):
            fetcher.submit(FetchRequest(server.url(f"/{number}"), owner="bombs"))
        until = time.monotonic() + 10
        while all_there.n_waiting < 40:
            assert time.monotonic() < until
            assert fetcher.poll(0.01) == []
        all_there.wait()
        time.sleep(0.2)  # until all of them have arrived
        finished = fetcher.poll(0.01)
        fetcher.submit(FetchRequest(server.url("/fine"), owner="somebody else"))
        while not any(result.url.endswith("/fine") for result in finished):
            time.sleep(0.005)  # a moment for the server
            finished += fetcher.poll(0.01)
        assert len(finished) < 20
        finished += fetch_all(fetcher, ())
        assert len(finished) == 41


def test_a_bomb_gives_way_to_nobody_before_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would keep what it has until then, and others would be put off for that."""
    packed, gave_way = bomb("gzip"), list[Transfer]()
    monkeypatch.setattr(CurlFetcher, "_pause", lambda _, transfer: gave_way.append(transfer))
    with (
        serving(lambda _s, _r: response(packed, "200 OK", "Content-Encoding: gzip")) as server,
        loopback_fetcher(max_body_bytes=10 * MEGABYTE) as fetcher,
    ):
        assert fetch(fetcher, server.url("/")).failure is Reason.TOO_LARGE
    assert gave_way == []


def in_pieces(body: bytes, size: int) -> bytes:
    pieces = (body[start : start + size] for start in range(0, len(body), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def chunked(stream: socket.socket, sent: bytes, *fields: str) -> None:
    lines = ("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Connection: close", *fields)
    stream.sendall("".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + sent)


@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_in_single_bytes_arrives_whole(encoding: str) -> None:
    body = b"".join(b"<p>%d</p>" % number for number in range(10_000))
    sent = in_pieces(gzip.compress(body) if encoding else body, 1)
    fields = (f"Content-Encoding: {encoding}",) if encoding else ()
    result = fetch_from(lambda stream, _request: chunked(stream, sent, *fields))
    assert (result.failure, result.body) == (None, body)


def test_a_large_body_in_tiny_pieces_stops_at_the_limit_and_costs_no_memory() -> None:
    sent = b"2\r\nab\r\n" * MEGABYTE * 3
    before = peak_bytes()
    result = fetch_from(lambda stream, _request: chunked(stream, sent))
    assert (result.failure, len(result.body)) == (Reason.TOO_LARGE, LIMIT)
    assert peak_bytes() - before < MAY_GROW


def test_bodies_in_single_bytes_leave_others_their_turn() -> None:
    """Each byte costs a call, and a hundred thousand of them are there at once."""
    sent = b"1\r\na\r\n" * MEGABYTE + b"0\r\n\r\n"

    def answer(stream: socket.socket, request: Request) -> bytes | None:
        if request.path == "/fine":
            return response(b"<p>fine</p>")
        chunked(stream, sent)
        return None

    with serving(answer) as server, loopback_fetcher(max_body_bytes=LIMIT, timeout_seconds=15) as fetcher:
        for number in range(8):
            fetcher.submit(FetchRequest(server.url(f"/{number}"), owner="tiny"))
        longest, finished = 0.0, []
        while fetcher.active:
            begun = time.thread_time()
            finished += fetcher.poll(0)
            longest = max(longest, time.thread_time() - begun)
        fetcher.submit(FetchRequest(server.url("/fine"), owner="somebody else"))
        finished += fetch_all(fetcher, ())
    assert [result.failure for result in finished] == [None] * 9
    assert longest < 0.2


def test_a_body_that_stays_packed_is_not_unpacked_and_the_next_one_is() -> None:
    packed = gzip.compress(b"<urlset/>")
    asked: list[str | None] = []

    def answer(_stream: socket.socket, request: Request) -> bytes:
        asked.append(request.headers.get("accept-encoding"))
        return response(packed, "200 OK", "Content-Encoding: gzip")

    with serving(answer) as server, loopback_fetcher() as fetcher:
        bodies = [fetch(fetcher, server.url("/"), stays_packed=stays).body for stays in (True, False, True)]
    assert bodies == [packed, b"<urlset/>", packed]
    assert [asked[0], asked[2]] == ["gzip", "gzip"]
