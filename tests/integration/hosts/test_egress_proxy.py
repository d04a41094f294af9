"""The browser's proxy by itself, spoken to in bytes."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import pytest

from crawler.adapters.browser.egress_proxy import Door, EgressProxy, Endpoint
from crawler.adapters.browser.proxy_heads import refusal
from crawler.adapters.browser.upstream_proxy import UpstreamProxy
from crawler.adapters.curl.transfer import MAX_INTERIM_ANSWERS
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.reasons import Reason
from crawler.errors import SettingsError
from tests.integration.browser.driving import until
from tests.integration.raw_server import Server, response, serving, serving_connections

OPEN = EgressRule.parse(["127.0.0.1"])
T = TypeVar("T")


def say(
    rule: EgressRule,
    script: Callable[[EgressProxy], Awaitable[T]],
    upstream: str | None = None,
    names: dict[str, list[str]] | None = None,
    max_visit_bytes: int = 10**8,
) -> T:
    async def run() -> T:
        proxy = EgressProxy(
            rule,
            upstream=UpstreamProxy.parse(upstream) if upstream else None,
            resolve=names or {},
            lookup=_no_such_name,
            connect_seconds=2,
            max_visit_bytes=max_visit_bytes,
        )
        try:
            return await script(proxy)
        finally:
            proxy.close()

    return asyncio.run(run())


def _no_such_name(host: str) -> list[str]:
    raise LookupError(f"there is no {host}")


async def ask(door: Door, data: bytes) -> bytes:
    """A whole answer; nothing more of one that is cut off."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(data)
    try:
        async with asyncio.timeout(5):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
            return head + await reader.readexactly(length)
    except asyncio.IncompleteReadError as exc:
        return exc.partial
    finally:
        writer.close()


async def once(proxy: EgressProxy, data: bytes) -> tuple[bytes, Door]:
    door = await proxy.open_door()
    try:
        return await ask(door, data), door
    finally:
        await door.close()


@pytest.fixture
def site() -> Iterator[Server]:
    with serving(lambda _, request: response(b"hello " + request.path.encode())) as server:
        yield server


def test_a_plain_request_goes_out_as_the_site_expects_it(site: Server) -> None:
    request = (
        f"GET http://127.0.0.1:{site.port}/a?b HTTP/1.1\r\nHost: elsewhere\r\nProxy-Connection: keep-alive\r\n"
        "Proxy-Authorization: Basic c2VjcmV0\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-Own: 2\r\n\r\n"
    ).encode()
    answer, door = say(OPEN, lambda proxy: once(proxy, request))
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.endswith(b"hello /a?b")
    assert b"Connection: close" in answer
    (seen,) = site.requests
    assert seen.line == "GET /a?b HTTP/1.1"
    assert seen.headers == {"host": f"127.0.0.1:{site.port}", "x-own": "2", "connection": "close"}
    endpoint = Endpoint("127.0.0.1", site.port)
    assert door.addresses == {endpoint: "127.0.0.1"}
    assert door.sent_at[endpoint] <= seen.at


def test_a_body_goes_with_its_request_and_nothing_after_it() -> None:
    received: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        data = b""
        while not data.endswith(b"12345"):
            data += connection.recv(4096)
        with suppress(OSError):  # it may have hung up by now
            connection.sendall(response(b"ok"))
            while more := connection.recv(4096):
                data += more
        received.append(data.partition(b"\r\n\r\n")[2])

    async def talk(proxy: EgressProxy, port: int, body: bytes) -> bytes:
        door = await proxy.open_door()
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(f"POST http://127.0.0.1:{port}/ HTTP/1.1\r\nContent-Length: 5\r\n\r\n".encode())
        await asyncio.sleep(0.1)
        writer.write(body)
        answer = await reader.read(15)
        writer.close()
        await door.close()
        return answer

    with serving_connections(handle) as taking:
        assert say(OPEN, lambda proxy: talk(proxy, taking.port, b"12345")) == b"HTTP/1.1 200 OK"
        # Whether the answer still gets through before the connection ends is a race; what was sent is not.
        say(OPEN, lambda proxy: talk(proxy, taking.port, b"12345GET http"))
        until(lambda: len(received) == 2)
    assert received == [b"12345", b"12345"]


def test_a_tunnel_carries_bytes_both_ways(site: Server) -> None:
    data = f"CONNECT 127.0.0.1:{site.port} HTTP/1.1\r\n\r\n".encode()

    async def talk(proxy: EgressProxy) -> bytes:
        door = await proxy.open_door()
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(data)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET /in HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = await reader.readuntil(b"hello /in")
        await door.close()
        assert await reader.read() == b"", "a closed door ends its connections"
        writer.close()
        return answer

    assert b"200 OK" in say(OPEN, talk)


@pytest.mark.parametrize(
    "request_line",
    [
        "CONNECT 127.0.0.2:{port} HTTP/1.1",
        "GET http://127.0.0.2:{port}/ HTTP/1.1",
        "GET http://inside.test:{port}/ HTTP/1.1",
        "CONNECT inside.test:{port} HTTP/1.1",
        "CONNECT 2130706434:{port} HTTP/1.1",
        "CONNECT 127.0.0.1:{port}@127.0.0.2:{port} HTTP/1.1",
        "GET http://127.0.0.1:{port}@127.0.0.2:{port}/ HTTP/1.1",
        "GET ftp://127.0.0.2:{port}/ HTTP/1.1",
        "CONNECT [::ffff:127.0.0.2]:{port} HTTP/1.1",
    ],
)
def test_what_may_not_be_reached_is_refused_and_remembered(request_line: str) -> None:
    with serving(lambda *_: response(b"secret"), host="127.0.0.2") as victim:
        data = f"{request_line.format(port=victim.port)}\r\nHost: x\r\n\r\n".encode()
        names = {"inside.test": ["127.0.0.2"]}
        answer, door = say(OPEN, lambda proxy: once(proxy, data), names=names)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert victim.connections == 0
    assert sum(door.refusals.values()) == 1


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/2\r\n\r\n",
        b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST http://127.0.0.1:%d/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nBad Header: x\r\n\r\n",
    ],
)
def test_a_request_that_could_be_read_in_two_ways_is_not_passed_on(site: Server, data: bytes) -> None:
    data = data.replace(b"%d", str(site.port).encode())
    answer, _ = say(OPEN, lambda proxy: once(proxy, data))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert site.connections == 0


def test_a_name_without_an_address_and_a_closed_port_are_told_apart() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]

    async def talk(proxy: EgressProxy) -> dict[Endpoint, Reason]:
        door = await proxy.open_door()
        assert (await ask(door, b"CONNECT missing.test:80 HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 502")
        assert (await ask(door, b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % free)).startswith(b"HTTP/1.1 502")
        await door.close()
        return {endpoint: failure.reason for endpoint, failure in door.failures.items()}

    found = say(OPEN, talk)
    assert found == {Endpoint("missing.test", 80): Reason.DNS, Endpoint("127.0.0.1", free): Reason.CONNECT}


def test_a_name_with_one_closed_address_is_dialled_at_the_other(site: Server) -> None:
    data = f"GET http://both.test:{site.port}/ HTTP/1.1\r\n\r\n".encode()
    names = {"both.test": ["127.0.0.2", "127.0.0.1"]}
    answer, door = say(OPEN, lambda proxy: once(proxy, data), names=names)
    assert answer.endswith(b"hello /")
    assert door.addresses[Endpoint("both.test", site.port)] == "127.0.0.1"


def test_what_one_door_opens_stays_closed_at_the_next(site: Server) -> None:
    data = f"GET http://127.0.0.1:{site.port}/ HTTP/1.1\r\n\r\n".encode()

    async def talk(proxy: EgressProxy) -> list[bytes]:
        doors = [await proxy.open_door(("127.0.0.1", site.port)), await proxy.open_door(), await proxy.wall_door()]
        answers = [(await ask(door, data))[9:12] for door in doors]
        for door in doors:
            await door.close()
        return answers

    assert say(EgressRule(), talk) == [b"200", b"403", b"403"]


def test_a_site_that_answers_in_the_interim_for_ever_is_cut_off() -> None:
    # Each such answer costs more to pass on than to send: all tabs would wait for this one.
    def for_ever(connection: socket.socket) -> None:
        connection.recv(65536)
        while True:
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100)

    async def script(proxy: EgressProxy) -> tuple[bytes, Door]:
        door = await proxy.open_door()
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(f"GET http://127.0.0.1:{server.port}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        try:
            async with asyncio.timeout(3):
                return await reader.read(-1), door
        finally:
            writer.close()
            await door.close()

    with serving_connections(for_ever) as server:
        answer, door = say(OPEN, script)
    assert answer.count(b"HTTP/1.1 103 ") == MAX_INTERIM_ANSWERS
    assert answer.endswith(refusal(Reason.PROTOCOL))
    assert door.failures[Endpoint("127.0.0.1", server.port)].reason is Reason.PROTOCOL


def test_a_visit_that_loads_too_much_is_cut_off() -> None:
    with serving(lambda *_: response(b"x" * 500_000)) as large:
        data = f"GET http://127.0.0.1:{large.port}/ HTTP/1.1\r\n\r\n".encode()
        answer, _ = say(OPEN, lambda proxy: once(proxy, data), max_visit_bytes=100_000)
    assert len(answer) < 200_000


# through the operator's own proxy


@contextmanager
def http_proxy() -> Iterator[tuple[Server, list[bytes]]]:
    heads: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        head = _read_head(connection)
        heads.append(head)
        if head.startswith(b"CONNECT"):
            _, port = head.split()[1].decode().split(":")
            with socket.create_connection(("127.0.0.1", int(port))) as onward:
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                _splice(connection, onward)
        else:
            connection.sendall(response(b"from the proxy"))

    with serving_connections(handle) as server:
        yield server, heads


@contextmanager
def socks_proxy() -> Iterator[tuple[Server, list[bytes]]]:
    wanted: list[bytes] = []

    def handle(connection: socket.socket) -> None:
        assert connection.recv(3) == b"\x05\x01\x02"
        connection.sendall(b"\x05\x02")
        wanted.append(connection.recv(100))
        connection.sendall(b"\x01\x00")
        asked = connection.recv(100)
        wanted.append(asked)
        connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
        with socket.create_connection(("127.0.0.1", int.from_bytes(asked[-2:], "big"))) as onward:
            _splice(connection, onward)

    with serving_connections(handle) as server:
        yield server, wanted


def _read_head(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(4096)
    return data


def _splice(one: socket.socket, other: socket.socket) -> None:
    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):  # either side may hang up at any moment
            while data := source.recv(4096):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=pump, args=(one, other), daemon=True)
    thread.start()
    pump(other, one)


async def through_tunnel(proxy: EgressProxy, authority: str) -> bytes:
    door = await proxy.open_door()
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    writer.write(f"CONNECT {authority} HTTP/1.1\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " in head:
        writer.write(b"GET /far HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"hello /far")
    writer.close()
    await door.close()
    return head


def test_tunnels_and_plain_requests_go_through_the_operators_proxy(site: Server) -> None:
    names = {"far.test": ["127.0.0.1"]}
    with http_proxy() as (upstream, heads):
        url = f"http://me:p%40ss@127.0.0.1:{upstream.port}"
        tunnel = say(OPEN, lambda proxy: through_tunnel(proxy, f"far.test:{site.port}"), url, names)
        plain, _ = say(OPEN, lambda proxy: once(proxy, b"GET http://far.test/p HTTP/1.1\r\n\r\n"), url, names)
    assert tunnel.endswith(b"hello /far")
    assert plain.endswith(b"from the proxy")
    login = b"Proxy-Authorization: Basic bWU6cEBzcw=="
    assert heads[0].startswith(b"CONNECT far.test:%d HTTP/1.1\r\n" % site.port)
    assert heads[1].startswith(b"GET http://far.test/p HTTP/1.1\r\n")
    assert all(login in head for head in heads)


@pytest.mark.parametrize(("scheme", "host"), [("socks5", b"\x01\x7f\x00\x00\x01"), ("socks5h", b"\x03\x08far.test")])
def test_socks_is_told_the_address_or_the_name_as_its_url_says(site: Server, scheme: str, host: bytes) -> None:
    with socks_proxy() as (upstream, wanted):
        url = f"{scheme}://me:pass@127.0.0.1:{upstream.port}"
        names = {"far.test": ["127.0.0.1"]}
        answer = say(OPEN, lambda proxy: through_tunnel(proxy, f"far.test:{site.port}"), url, names)
    assert answer.endswith(b"hello /far")
    assert wanted == [b"\x01\x02me\x04pass", b"\x05\x01\x00" + host + site.port.to_bytes(2, "big")]


def test_with_a_proxy_in_between_every_address_of_a_name_must_be_allowed(site: Server) -> None:
    names = {"half.test": ["127.0.0.1", "127.0.0.2"]}
    with http_proxy() as (upstream, heads):
        url = f"http://127.0.0.1:{upstream.port}"
        answer = say(OPEN, lambda proxy: through_tunnel(proxy, f"half.test:{site.port}"), url, names)
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert heads == []


def test_a_proxy_that_cannot_be_used_is_a_failed_connection() -> None:
    with serving(lambda *_: response(b"", "407 Who Are You")) as upstream:
        url = f"http://127.0.0.1:{upstream.port}"
        data = b"CONNECT 127.0.0.1:80 HTTP/1.1\r\n\r\n"
        answer, door = say(OPEN, lambda proxy: once(proxy, data), url)
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert door.failures[Endpoint("127.0.0.1", 80)] == (Reason.CONNECT, "The proxy answered 407.")


def test_a_proxy_of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(SettingsError):
        UpstreamProxy.parse("ftp://host:21")
