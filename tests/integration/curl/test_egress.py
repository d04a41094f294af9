"""The light fetcher under the egress rule: what may not be dialled is not dialled."""

import socket
import threading
import time
from types import SimpleNamespace

import pycurl
import pytest

from crawler.adapters.curl import name_lookup
from crawler.adapters.curl import transfer as curl_transfer
from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.curl.handle import TransferOptions
from crawler.adapters.curl.transfer import Meter, Transfer
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import EgressRule, target_of
from crawler.domain.reasons import Reason
from tests.integration.certificates import Authority
from tests.integration.loopback_fetcher import fetch, fetch_all, loopback_fetcher
from tests.integration.raw_server import Request, Respond, Server, response, serving

PUBLIC = "93.184.216.34"
"""Never dialled in these tests: only judged, or asked of a proxy that answers by itself."""


def hello(_stream: socket.socket, request: Request) -> bytes:
    return response(f"<p>{request.path}</p>".encode())


@pytest.fixture
def dials(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Every socket the fetcher opens is counted, so that "no connect was made" is seen, not inferred."""
    opened: list[tuple[object, ...]] = []

    def counting(family: int, kind: int, protocol: int) -> socket.socket:
        opened.append((family, kind, protocol))
        return socket.socket(family, kind, protocol)

    monkeypatch.setattr(curl_transfer, "socket", counting)
    return opened


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "017700000001", "0", "[::ffff:7f00:1]", "[::1]", "①②⑦.⓪.⓪.①",
     "127。0。0。1", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::1]", "[fec0::1]", "168.63.129.16", "100.100.100.200",
     "169.254.169.254", "[fe80::1%25lo]", "[fe80::1%lo]"],
)  # fmt: skip
def test_no_spelling_of_an_inner_address_is_dialled(host: str, dials: list[object]) -> None:
    fetcher = CurlFetcher(user_agent="t", egress=EgressRule())
    try:
        result = fetch(fetcher, f"http://{host}:80/")
    finally:
        fetcher.close()
    assert result.failure is Reason.EGRESS
    assert (result.status, result.sent_at, dials) == (0, 0, [])


@pytest.mark.parametrize(
    "url",
    ["http://169.254.169.254:8888\\@example.com/", "http://a@b@c/", "http://u:secret@example.com/", "http://a\tb/",
     "http://a\nb/", "http://a b/", "http://%31%32%37.0.0.1/", "http:///x", "http://", "file:///etc/passwd",
     "ftp://127.0.0.1/", "gopher://127.0.0.1/", "unix:/run/x", "//127.0.0.1/", "http://example.com:99999/",
     "http://example.com:0/", "HTTP://example.com/", "http://[::1/", "http://example.com:80:80/"],
)  # fmt: skip
def test_a_url_that_is_not_plainly_a_web_address_is_refused_without_a_lookup(url: str) -> None:
    asked: list[str] = []

    def lookup(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    with loopback_fetcher(lookup=lookup) as fetcher:
        result = fetch(fetcher, url)
    assert result.failure is Reason.EGRESS
    assert "secret" not in result.error
    assert asked == []


def test_a_name_with_inner_addresses_only_is_refused(dials: list[object]) -> None:
    with loopback_fetcher("127.0.0.9/32", resolve={"in.test": ["10.0.0.1", "::1", "127.0.0.1"]}) as fetcher:
        result = fetch(fetcher, "http://in.test/")
    assert result.failure is Reason.EGRESS
    assert dials == []


def test_of_mixed_addresses_only_the_allowed_one_is_dialled(dials: list[object]) -> None:
    with serving(hello, host="127.0.0.1") as victim, serving(hello, host="127.0.0.2", port=victim.port) as good:
        names = {"mixed.test": ["127.0.0.1", "10.0.0.1", "127.0.0.2", "::1"]}
        with loopback_fetcher("127.0.0.2/32", resolve=names) as fetcher:
            result = fetch(fetcher, good.url("/", "mixed.test"))
    assert (result.status, result.address) == (200, "127.0.0.2")
    assert (victim.connections, good.connections, len(dials)) == (0, 1, 1)


def test_mixed_addresses_whose_allowed_one_is_down_are_a_connect_failure_not_a_way_in() -> None:
    with serving(hello, host="127.0.0.1") as victim:
        names = {"mixed.test": ["127.0.0.2", "127.0.0.1"]}
        with loopback_fetcher("127.0.0.2/32", resolve=names) as fetcher:
            result = fetch(fetcher, victim.url("/", "mixed.test"))
    assert result.failure is Reason.CONNECT
    assert victim.connections == 0


def test_a_name_that_rebinds_to_an_inner_address_never_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lookup, "KEEP_SECONDS", 0.0)  # like a DNS answer with TTL 0
    answers = iter((["127.0.0.2"], ["127.0.0.1"], ["127.0.0.1"]))

    def close(stream: socket.socket, request: Request) -> None:
        stream.sendall(response(b"<p>hi</p>", "200 OK", "Connection: close"))

    with (
        serving(hello, host="127.0.0.1") as victim,
        serving(close, host="127.0.0.2", port=victim.port) as good,
        loopback_fetcher("127.0.0.2/32", lookup=lambda _host: next(answers)) as fetcher,
    ):
        first = fetch(fetcher, good.url("/", "rebind.test"))
        second = fetch(fetcher, good.url("/", "rebind.test"))
    assert (first.status, first.address) == (200, "127.0.0.2")
    assert second.failure is Reason.EGRESS
    assert (victim.connections, good.connections) == (0, 1)


def test_every_hop_of_a_followed_redirect_is_judged() -> None:
    with serving(hello, host="127.0.0.1") as victim:
        targets = {"/direct": victim.url("/"), "/named": victim.url("/", "in.test")}

        def redirect(_stream: socket.socket, request: Request) -> bytes:
            return response(b"", "302 Found", f"Location: {targets[request.path]}")

        names = {"in.test": ["127.0.0.1"], "out.test": ["127.0.0.2"]}
        with (
            serving(redirect, host="127.0.0.2") as server,
            loopback_fetcher("127.0.0.2/32", resolve=names) as fetcher,
        ):
            results = [fetch(fetcher, server.url(p, "out.test"), max_redirects=5) for p in targets]
    assert [r.failure for r in results] == [Reason.EGRESS] * 2
    assert len(server.requests) == 2
    assert victim.connections == 0


def test_an_endpoint_opens_one_port_of_one_host_only() -> None:
    names = {"open.test": ["127.0.0.1"], "shut.test": ["127.0.0.1"]}
    with (
        serving(hello) as server,
        serving(hello) as other,
        loopback_fetcher(f"open.test:{server.port}", resolve=names) as fetcher,
    ):
        assert fetch(fetcher, server.url("/", "OPEN.test")).status == 200
        assert fetch(fetcher, server.url("/", "shut.test")).failure is Reason.EGRESS
        assert fetch(fetcher, server.url("/")).failure is Reason.EGRESS
        assert fetch(fetcher, other.url("/", "open.test")).failure is Reason.EGRESS
    assert (server.connections, other.connections) == (1, 0)


@pytest.mark.parametrize(
    ("family", "address"),
    [(socket.AF_INET6, ("fe80::1", 80, 0, 2)), (socket.AF_INET6, ("::1", 80, 0, 0)), (socket.AF_UNIX, b"/run/x")],
)
def test_links_and_unix_sockets_are_never_dialled_whatever_is_open(family: int, address: object) -> None:
    rule = EgressRule.parse(("fe80::/10", "127.0.0.0/8"))
    options = TransferOptions("t", rule, 1000, 1000, 1000, proxy="", certificates="")
    transfer = Transfer(options, Meter(1000), lambda _moment: None)
    transfer.target = target_of("http://example.test/")
    assert transfer._open_socket(0, SimpleNamespace(family=family, addr=address)) == pycurl.SOCKET_BAD


# names


def test_a_name_without_address_is_a_dns_failure() -> None:
    def unknown(_host: str) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with loopback_fetcher(lookup=unknown) as fetcher:
        result = fetch(fetcher, "http://nx.test/")
    assert (result.failure, result.error) == (Reason.DNS, "Name or service not known")


def test_a_lookup_without_result_is_a_dns_failure() -> None:
    with loopback_fetcher(lookup=lambda _host: []) as fetcher:
        assert fetch(fetcher, "http://empty.test/").failure is Reason.DNS


def test_the_system_resolver_says_no_to_a_name_that_cannot_exist() -> None:
    with loopback_fetcher() as fetcher:
        assert fetch(fetcher, f"http://{'a' * 64}.invalid/").failure is Reason.DNS


@pytest.mark.slow
def test_thirty_hung_names_do_not_hold_up_another_host_and_end_at_their_deadline() -> None:
    released = threading.Event()

    def lookup(host: str) -> list[str]:
        if host.startswith("hung"):
            released.wait(60)
        return ["127.0.0.1"]

    with serving(hello) as server, loopback_fetcher(lookup=lookup, connect_seconds=3) as fetcher:
        for number in range(30):
            fetcher.submit(FetchRequest(f"http://hung{number}.test/"))
        begun = time.monotonic()
        fetcher.submit(FetchRequest(server.url("/", "good.test")))
        (first,) = fetcher.poll(5)
        assert first.status == 200
        assert time.monotonic() - begun < 2.9
        rest = fetch_all(fetcher, [])
        assert {r.failure for r in rest} == {Reason.DNS}
        assert len(rest) == 30
        assert time.monotonic() - begun < 30
        released.set()


def test_an_answer_that_nobody_waits_for_any_more_does_not_keep_the_fetcher_awake() -> None:
    released = threading.Event()

    def lookup(_host: str) -> list[str]:
        released.wait(10)
        return ["127.0.0.1"]

    with serving(hello) as server, loopback_fetcher(lookup=lookup, connect_seconds=0.2) as fetcher:
        assert fetch(fetcher, server.url("/", "late.test")).failure is Reason.DNS
        released.set()
        begun = time.process_time()
        assert fetcher.poll(0.5) == []
        assert time.process_time() - begun < 0.2
        assert fetch(fetcher, server.url("/", "late.test")).status == 200


def test_a_name_is_looked_up_once_for_all_who_ask_and_only_pinned_addresses_are_dialled() -> None:
    asked: list[str] = []

    def lookup(host: str) -> list[str]:
        asked.append(host)
        time.sleep(0.05)
        return ["127.0.0.3"]

    with serving(hello, host="127.0.0.3") as server, loopback_fetcher(lookup=lookup) as fetcher:
        results = fetch_all(fetcher, [FetchRequest(server.url(f"/{n}", "one.test")) for n in range(40)])
        results += fetch_all(fetcher, [FetchRequest(server.url(f"/{n}", "one.test")) for n in range(40)])
    assert [(r.status, r.address) for r in results] == [(200, "127.0.0.3")] * 80
    assert asked == ["one.test"]


def test_a_thousand_addresses_are_not_all_tried(dials: list[object]) -> None:
    many = [f"127.7.{n // 250}.{n % 250 + 1}" for n in range(1000)]
    with loopback_fetcher(resolve={"many.test": many}) as fetcher:
        result = fetch(fetcher, "http://many.test:9/")
    assert result.failure is Reason.CONNECT
    assert 0 < len(dials) <= name_lookup.MAX_ADDRESSES


# a proxy


def answering_proxy(_stream: socket.socket, request: Request) -> bytes:
    return response(f"<p>{request.line}</p>".encode())


def proxy_url(server: Server) -> str:
    return f"http://user:hunter2@127.0.0.1:{server.port}"


@pytest.mark.parametrize("url", ["http://in.test/", "http://mixed.test/", "http://10.0.0.1/", "https://in.test/"])
def test_a_proxy_is_not_asked_for_what_may_not_be_reached(url: str) -> None:
    names = {"in.test": ["10.0.0.1"], "mixed.test": [PUBLIC, "10.0.0.1"]}
    with (
        serving(answering_proxy) as proxy,
        loopback_fetcher("203.0.113.1", proxy=proxy_url(proxy), resolve=names) as fetcher,
    ):
        result = fetch(fetcher, url)
    assert result.failure is Reason.EGRESS
    assert proxy.connections == 0


def test_a_proxy_is_asked_for_public_targets_although_it_lives_on_an_inner_address() -> None:
    with serving(answering_proxy) as proxy:
        names = {"out.test": [PUBLIC]}
        with loopback_fetcher("203.0.113.1", proxy=proxy_url(proxy), resolve=names) as fetcher:
            results = [fetch(fetcher, "http://out.test/a"), fetch(fetcher, f"http://{PUBLIC}/b")]
    assert [r.status for r in results] == [200, 200]
    assert [r.line for r in proxy.requests] == [
        "GET http://out.test/a HTTP/1.1",
        f"GET http://{PUBLIC}/b HTTP/1.1",
    ]
    assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_refuses_the_login_is_no_answer_of_the_site(scheme: str) -> None:
    refusal = response(b"", "407 Proxy Authentication Required", 'Proxy-Authenticate: Basic realm="x"')
    with (
        serving(lambda _stream, _request: refusal) as proxy,
        loopback_fetcher(proxy=proxy_url(proxy), resolve={"out.test": [PUBLIC]}) as fetcher,
    ):
        result = fetch(fetcher, f"{scheme}://out.test/")
    assert result.failure is Reason.CONNECT
    assert result.error


def test_a_proxy_that_never_opens_the_tunnel_is_no_fault_of_the_sites_tls() -> None:
    with (
        serving(lambda _stream, _request: time.sleep(2)) as proxy,
        loopback_fetcher(proxy=proxy_url(proxy), resolve={"out.test": [PUBLIC]}, timeout_seconds=0.5) as fetcher,
    ):
        assert fetch(fetcher, "https://out.test/").failure is Reason.TIMEOUT


def test_a_proxy_that_is_down_is_a_connect_failure_without_its_password() -> None:
    with serving(answering_proxy) as proxy:
        url = proxy_url(proxy)
    with loopback_fetcher(proxy=url, resolve={"out.test": [PUBLIC]}) as fetcher:
        result = fetch(fetcher, "http://out.test/")
    assert result.failure is Reason.CONNECT
    assert "hunter2" not in result.error


def tunnel_to(origin: Server) -> Respond:
    def tunnel(stream: socket.socket, _: Request) -> None:
        with socket.create_connection(("127.0.0.1", origin.port)) as upstream:
            stream.sendall(b"HTTP/1.1 200 Connection established\r\nContent-Type: text/plain\r\n\r\n")
            back = threading.Thread(target=_pump, args=(upstream, stream), daemon=True)
            back.start()
            _pump(stream, upstream)

    return tunnel


def test_what_a_site_answers_through_a_tunnel_is_not_taken_for_the_proxys(authority: Authority) -> None:
    refusal = response(b"", "407 Proxy Authentication Required")
    with (
        serving(lambda _stream, _request: refusal, tls=authority.context("out.test")) as origin,
        serving(tunnel_to(origin)) as proxy,
        loopback_fetcher(proxy=proxy_url(proxy), resolve={"out.test": [PUBLIC]}, ca_bundle=authority.bundle) as fetcher,
    ):
        result = fetch(fetcher, "https://out.test/")
    assert (result.status, result.failure) == (407, None)


def test_the_answer_to_connect_is_not_taken_for_the_answer_of_the_page(authority: Authority) -> None:
    with serving(hello, tls=authority.context("out.test")) as origin:
        names = {"out.test": [PUBLIC]}
        with (
            serving(tunnel_to(origin)) as proxy,
            loopback_fetcher(proxy=proxy_url(proxy), resolve=names, ca_bundle=authority.bundle) as fetcher,
        ):
            results = [fetch(fetcher, f"https://out.test/{n}") for n in range(2)]
    assert [(r.status, r.content_type[:9], r.body) for r in results] == [
        (200, "text/html", b"<p>/0</p>"),
        (200, "text/html", b"<p>/1</p>"),
    ]
    assert [r.line for r in proxy.requests] == ["CONNECT out.test:443 HTTP/1.1"]


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        return


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


def test_a_connection_opened_for_one_request_is_closed_to_another() -> None:
    """Kept connections are shared; the permission they were opened under is not."""
    with serving(hello) as server, loopback_fetcher("127.0.0.1:1") as fetcher:
        port = int(server.url().rpartition(":")[2].strip("/"))
        assert fetch(fetcher, server.url("/a"), opened=("127.0.0.1", port)).body == b"<p>/a</p>"
        refused = fetch(fetcher, server.url("/b"))
        assert (refused.failure, refused.status, refused.sent_at) == (Reason.EGRESS, 0, 0)
        assert [request.path for request in server.requests] == ["/a"]
