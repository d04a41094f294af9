"""The light fetcher against servers that behave: requests, answers, connections, times."""

import gc
import socket
import threading
import time
from pathlib import Path

import pytest

from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.reasons import Reason
from tests.integration.loopback_fetcher import USER_AGENT, fetch, fetch_all, loopback_fetcher
from tests.integration.raw_server import Request, response, serving


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def hello(_stream: socket.socket, request: Request) -> bytes:
    return response(f"<p>{request.path}</p>".encode())


def test_an_answer_carries_everything_the_port_promises() -> None:
    def answer(_stream: socket.socket, _request: Request) -> bytes:
        return response(b"<p>hi</p>", "200 OK", 'ETag: "v1"', "Set-Cookie: a=1", "SET-COOKIE: b=2")

    with serving(answer) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url("/a?b=c"), context="mine")
    assert (result.status, result.body, result.failure, result.error) == (200, b"<p>hi</p>", None, "")
    assert result.headers["etag"] == '"v1"'
    assert result.headers["set-cookie"] == "a=1, b=2"
    assert result.content_type == "text/html; charset=utf-8"
    assert result.url == server.url("/a?b=c")
    assert result.address == "127.0.0.1"
    assert result.http_version == "1.1"
    assert result.request.context == "mine"
    assert not result.truncated
    assert 0 < result.elapsed_seconds < 5


def test_a_request_says_who_we_are_and_what_we_take() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:
        fetch(fetcher, server.url(), headers=(("X-Project", "grün"), ("X-Empty", "")))
    (request,) = server.requests
    assert request.line == "GET / HTTP/1.1"
    assert request.headers["user-agent"] == USER_AGENT
    assert request.headers["accept-encoding"] == "gzip, br"
    assert request.headers["accept"] == "text/html, application/xhtml+xml, */*;q=0.1"
    assert request.headers["x-project"].encode("latin-1").decode() == "grün"
    assert request.headers["x-empty"] == ""
    assert "cookie" not in request.headers


def test_a_header_cannot_smuggle_a_second_line() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:
        fetch(fetcher, server.url(), headers=(("X-A", "1\r\nX-Evil: 1"), ("X-B\nX-Evil", "2")), etag='"\r\nX-Evil: 3')
    assert not any("evil" in name for name in server.requests[0].headers)


def test_headers_of_one_request_are_not_sent_with_the_next_on_the_same_handle() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:
        fetch(fetcher, server.url(), headers=(("Authorization", "Bearer secret"),), etag='"v1"')
        fetch(fetcher, server.url())
    assert server.requests[0].headers["authorization"] == "Bearer secret"
    assert {"authorization", "if-none-match"} & set(server.requests[1].headers) == set()


def test_headers_that_cannot_be_encoded_fail_the_request_and_leave_nothing_behind() -> None:
    odd = (("X-Odd", "\udc80"),)
    with serving(hello) as server, loopback_fetcher() as fetcher:
        fetch(fetcher, server.url("/1"), headers=(("Authorization", "Bearer secret"),))
        assert [fetch(fetcher, server.url("/2"), headers=odd).failure for _ in range(2)] == [Reason.PROTOCOL] * 2
        assert fetch(fetcher, server.url("/3")).status == 200
    assert [r.path for r in server.requests] == ["/1", "/3"]
    assert "authorization" not in server.requests[1].headers


def test_a_conditional_get_is_answered_304_without_a_body() -> None:
    def answer(_stream: socket.socket, request: Request) -> bytes:
        known = request.headers.get("if-none-match") == '"v1"'
        return b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n' if known else response()

    with serving(answer) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url(), etag='"v1"')
    assert (result.status, result.body, result.failure) == (304, b"", None)


def test_connections_are_kept_and_used_again() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:
        for number in range(10):
            assert fetch(fetcher, server.url(f"/{number}")).body == f"<p>/{number}</p>".encode()
    assert server.connections == 1
    assert len(server.requests) == 10


def test_a_kept_connection_that_the_server_closed_is_replaced_silently() -> None:
    def once(stream: socket.socket, request: Request) -> None:
        stream.sendall(hello(stream, request))  # keep-alive is promised, then the server goes away

    with serving(once) as server, loopback_fetcher() as fetcher:
        results = [fetch(fetcher, server.url(f"/{number}")) for number in range(4)]
    assert [r.status for r in results] == [200] * 4
    assert server.connections == 4


def test_requests_run_side_by_side_up_to_the_host_limit() -> None:
    lock = threading.Lock()
    state = {"now": 0, "most": 0}

    def answer(_stream: socket.socket, _request: Request) -> bytes:
        with lock:
            state["now"] += 1
            state["most"] = max(state["most"], state["now"])
        time.sleep(0.05)
        with lock:
            state["now"] -= 1
        return response()

    with serving(answer) as server, loopback_fetcher(max_host_connections=3) as fetcher:
        results = fetch_all(fetcher, [FetchRequest(server.url(f"/{n}")) for n in range(12)])
    assert [r.status for r in results] == [200] * 12
    assert state["most"] == 3


def test_plain_http_requests_to_a_new_host_do_not_queue_behind_the_first_answer() -> None:
    barrier = threading.Barrier(8, timeout=4)

    def answer(_stream: socket.socket, _request: Request) -> bytes:
        barrier.wait()
        return response()

    with serving(answer) as server, loopback_fetcher() as fetcher:
        results = fetch_all(fetcher, [FetchRequest(server.url(f"/{n}")) for n in range(8)])
    assert [r.status for r in results] == [200] * 8


def test_submit_never_waits_for_the_network() -> None:
    def slow(_host: str) -> list[str]:
        time.sleep(1)
        return ["127.0.0.1"]

    with loopback_fetcher(lookup=slow) as fetcher:
        begun = time.monotonic()
        for number in range(100):
            fetcher.submit(FetchRequest(f"http://h{number}.test/"))
            fetcher.submit(FetchRequest(f"http://127.0.0.{number + 1}:9/"))
        assert time.monotonic() - begun < 30, "a hundred names take a hundred seconds to find"
        assert fetcher.active == 200


def test_poll_returns_after_its_timeout_when_nothing_finished() -> None:
    with loopback_fetcher() as fetcher:
        begun = time.monotonic()
        assert fetcher.poll(0.2) == []
        assert 0.19 < time.monotonic() - begun < 20
        assert fetcher.active == 0


# content types


def test_an_unwanted_type_is_refused_at_the_end_of_the_head_before_any_body() -> None:
    def answer(stream: socket.socket, _request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: Image/PNG\r\nX-A: b\r\nContent-Length: 99\r\n\r\n")
        stream.recv(1)  # the body never comes

    with serving(answer) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url())
    assert result.failure is Reason.CONTENT_TYPE
    assert (result.status, result.content_type, result.headers["x-a"]) == (200, "Image/PNG", "b")
    assert result.body == b""
    assert result.elapsed_seconds < 2


@pytest.mark.parametrize(
    ("field", "accepted"),
    [
        ("Content-Type: TEXT/HTML;charset=x", True),
        ("Content-Type: application/xhtml+xml", True),
        ("Content-Type:", True),
        ("X-Nothing: 1", True),
        ("Content-Type: text/htmlx", False),
        ("Content-Type: application/pdf", False),
    ],
)
def test_wanted_and_missing_types_are_read_others_are_not(field: str, *, accepted: bool) -> None:
    raw = f"HTTP/1.1 200 OK\r\n{field}\r\nContent-Length: 2\r\n\r\nhi".encode()
    with serving(lambda _stream, _request: raw) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url())
    assert (result.failure, result.body) == ((None, b"hi") if accepted else (Reason.CONTENT_TYPE, b""))


@pytest.mark.parametrize("status", ["404 Not Found", "500 Broken", "301 Moved"])
def test_the_type_of_an_answer_that_is_no_page_does_not_matter(status: str) -> None:
    raw = response(b"{}", status, "Content-Type: application/json")
    with serving(lambda _stream, _request: raw) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url())
    assert (result.failure, result.status, result.body) == (None, int(status[:3]), b"{}")


def test_no_accept_types_take_any_type() -> None:
    raw = response(b"User-agent: *", "200 OK", "Content-Type: text/plain")
    with serving(lambda _stream, _request: raw) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url(), accept_types=())
    assert result.body == b"User-agent: *"
    assert server.requests[0].headers["accept"] == "*/*"


# redirects


def redirecting(_stream: socket.socket, request: Request) -> bytes:
    hops = {
        "/a": "/b", "/b": "c", "/c": "/end", "/loop": "/back", "/back": "/loop", "/self": "/self",
        "/file": "file:///etc/passwd", "/bad": "http://[", "/user": "http://u:pw@127.0.0.1/",
    }  # fmt: skip
    if request.path.startswith("/count"):
        return response(b"", "302 Found", f"Location: /count?{int(request.path.partition('?')[2] or 0) + 1}")
    if request.path in hops:
        return response(b"moved", "302 Found", f"Location: {hops[request.path]}")
    return response(b"<p>end</p>")


def test_a_redirect_is_handed_back_when_none_may_be_followed() -> None:
    with serving(redirecting) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url("/b"))
    assert (result.status, result.location, result.failure) == (302, "c", None)
    assert len(server.requests) == 1


def test_redirects_are_followed_as_far_as_the_request_allows() -> None:
    with serving(redirecting) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url("/a"), max_redirects=3)
        assert (result.status, result.url, result.location) == (200, server.url("/end"), "")
        assert result.request.url == server.url("/a")
        result = fetch(fetcher, server.url("/a"), max_redirects=2)
        assert (result.failure, result.status) == (Reason.REDIRECT_LOOP, 302)


@pytest.mark.parametrize(("path", "requests"), [("/loop", 2), ("/self", 1), ("/count", 6)])
def test_circles_and_endless_chains_of_redirects_end(path: str, requests: int) -> None:
    with serving(redirecting) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url(path), max_redirects=5)
    assert result.failure is Reason.REDIRECT_LOOP
    assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("path", "failure"), [("/file", Reason.EGRESS), ("/user", Reason.EGRESS), ("/bad", Reason.PROTOCOL)]
)
def test_a_redirect_to_what_is_no_plain_web_address_is_not_followed(path: str, failure: Reason) -> None:
    with serving(redirecting) as server, loopback_fetcher() as fetcher:
        result = fetch(fetcher, server.url(path), max_redirects=5)
    assert (result.failure, result.status) == (failure, 302)
    assert "pw" not in result.error + result.url


def test_secret_headers_stay_with_their_origin_when_a_redirect_leaves_it() -> None:
    with serving(hello) as other:

        def leaving(_stream: socket.socket, request: Request) -> bytes:
            target = "/near" if request.path == "/" else other.url("/far")
            return response(b"", "302 Found", f"Location: {target}")

        with serving(leaving) as server, loopback_fetcher() as fetcher:
            secret = (("Authorization", "Bearer s"), ("Cookie", "a=b"))
            result = fetch(fetcher, server.url(), max_redirects=5, headers=secret, etag='"v"')
    assert result.url == other.url("/far")
    assert [r.headers.get("authorization") for r in server.requests] == ["Bearer s", "Bearer s"]
    assert {"authorization", "cookie", "if-none-match"} & set(other.requests[0].headers) == set()


def test_the_deadline_is_one_for_all_hops_together() -> None:
    def slow(_stream: socket.socket, request: Request) -> bytes:
        time.sleep(0.4)
        return redirecting(_stream, request)

    with serving(slow) as server, loopback_fetcher(timeout_seconds=1) as fetcher:
        result = fetch(fetcher, server.url("/count"), max_redirects=20)
    assert result.failure is Reason.TIMEOUT
    assert result.elapsed_seconds < 1.5


# times


def test_sent_reports_each_request_once_at_the_moment_the_server_can_have_seen_it() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:
        requests = [FetchRequest(server.url(f"/{n}")) for n in range(5)]
        before = time.time()
        results = fetch_all(fetcher, requests)
        moments = fetcher.sent()
        assert fetcher.sent() == []
    assert sorted(r.url for r, _ in moments) == sorted(r.url for r in requests)
    seen = {r.path: r.at for r in server.requests}
    for result in results:
        assert {id(r): at for r, at in moments}[id(result.request)] == result.sent_at
        arrived = seen[result.request.url.removeprefix(server.url(""))]
        assert before <= result.sent_at <= arrived
        assert arrived - result.sent_at < 0.5


def test_a_request_that_waits_for_its_name_is_not_sent_yet() -> None:
    def slow(_host: str) -> list[str]:
        time.sleep(0.3)
        return ["127.0.0.1"]

    with serving(hello) as server, loopback_fetcher(lookup=slow) as fetcher:
        submitted = time.time()
        fetcher.submit(FetchRequest(server.url("/", "slow.test")))
        assert fetcher.poll(0.1) == []
        assert fetcher.sent() == []
        result = fetcher.poll(3)[0]
        assert result.sent_at >= submitted + 0.29


def test_a_request_that_never_went_out_has_no_sent_time() -> None:
    with loopback_fetcher() as fetcher:
        assert fetch(fetcher, "http://10.0.0.1/").sent_at == 0
        assert fetcher.sent() == []


# the machine


def test_the_environment_cannot_add_a_proxy_or_credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text("default login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(hello) as server, loopback_fetcher() as fetcher:
        assert fetch(fetcher, server.url()).status == 200
    assert "authorization" not in server.requests[0].headers


def test_handles_are_pooled_and_nothing_piles_up_over_many_fetches() -> None:
    with serving(hello) as server, loopback_fetcher() as fetcher:

        def many(count: int) -> None:
            done = started = 0
            while done < count:
                while fetcher.active < 8 and started < count:
                    fetcher.submit(FetchRequest(server.url(f"/{started}")))
                    started += 1
                done += len(fetcher.poll(1))
                fetcher.sent()

        many(50)
        gc.collect()
        before = len(gc.get_objects()), open_descriptors()
        many(2000)
        server.requests.clear()
        gc.collect()
        after = len(gc.get_objects()), open_descriptors()
        assert after[0] - before[0] < 500
        assert after[1] - before[1] < 8
        assert server.connections <= 8
        assert 0 < len(fetcher._free) <= 8
        assert fetcher._meter.buffered == 0


def test_close_with_requests_under_way_leaves_no_descriptor_behind() -> None:
    def never(stream: socket.socket, _request: Request) -> None:
        stream.recv(1)

    before = open_descriptors()
    with serving(never) as server, loopback_fetcher(lookup=lambda _host: ["127.0.0.1"]) as fetcher:
        for number in range(20):
            fetcher.submit(FetchRequest(server.url(f"/{number}", "h.test")))
        fetcher.poll(0.3)
    deadline = time.monotonic() + 3
    while open_descriptors() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert open_descriptors() <= before


@pytest.mark.parametrize("once", [True, False])
def test_a_request_on_a_kept_connection_that_breaks_is_sent_again_unless_it_must_not_be(once: bool) -> None:
    def breaks(stream: socket.socket, request: Request) -> bytes | None:
        return None if request.path == "/breaks" else hello(stream, request)

    with serving(breaks) as server, loopback_fetcher() as fetcher:
        fetch(fetcher, server.url("/first"))
        result = fetch(fetcher, server.url("/breaks"), once=once)
        assert result.failure is Reason.CONNECT
        assert result.sent_at > 0
        assert [request.path for request in server.requests].count("/breaks") == (1 if once else 2)
