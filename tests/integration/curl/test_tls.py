"""TLS and HTTP/2: verified always, never retried without."""

import socket
import ssl
import time
import warnings
from datetime import timedelta

import pytest

from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.reasons import Reason
from tests.integration.certificates import DAY, Authority
from tests.integration.h2_server import serving_h2, swelling_head
from tests.integration.loopback_fetcher import fetch, fetch_all, loopback_fetcher
from tests.integration.raw_server import Request, response, serving, serving_connections

NAMES = {"site.test": ["127.0.0.1"]}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


def hello(_stream: socket.socket, _request: Request) -> bytes:
    return response()


def _tls10(authority: Authority) -> ssl.SSLContext:
    context = authority.context("site.test")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = ssl.TLSVersion.TLSv1
        context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


def test_a_certificate_of_a_trusted_authority_for_the_right_host_is_accepted(authority: Authority) -> None:
    with (
        serving(hello, tls=authority.context("site.test")) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle) as fetcher,
    ):
        results = [fetch(fetcher, server.url("/", "site.test")) for _ in range(3)]
    assert [(r.status, r.failure) for r in results] == [(200, None)] * 3
    assert server.connections == 1


@pytest.mark.parametrize("flaw", ["expired", "not yet valid", "wrong host", "self-signed", "TLS 1.0"])
def test_a_flawed_certificate_is_a_tls_failure_and_no_request_is_sent(authority: Authority, flaw: str) -> None:
    context = {
        "expired": lambda: authority.context("site.test", valid=(-3 * DAY, -DAY)),
        "not yet valid": lambda: authority.context("site.test", valid=(DAY, 3 * DAY)),
        "wrong host": lambda: authority.context("other.test"),
        "self-signed": lambda: authority.context("site.test", self_signed=True),
        "TLS 1.0": lambda: _tls10(authority),
    }[flaw]()
    with (
        serving(hello, tls=context) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle) as fetcher,
    ):
        result = fetch(fetcher, server.url("/", "site.test"))
    assert (result.failure, result.status, result.sent_at) == (Reason.TLS, 0, 0)
    assert result.error
    assert server.requests == []
    assert server.connections == 1, "a failed handshake must not be tried again"


def test_the_authority_of_the_tests_is_not_trusted_without_being_named(authority: Authority) -> None:
    with serving(hello, tls=authority.context("site.test")) as server, loopback_fetcher(resolve=NAMES) as fetcher:
        assert fetch(fetcher, server.url("/", "site.test")).failure is Reason.TLS


def test_a_bundle_that_does_not_exist_fails_closed(authority: Authority) -> None:
    missing = authority.directory / "missing.pem"
    with (
        serving(hello, tls=authority.context("site.test")) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=missing) as fetcher,
    ):
        assert fetch(fetcher, server.url("/", "site.test")).failure is Reason.TLS


def test_a_handshake_that_hangs_is_a_tls_failure_at_the_connect_deadline(authority: Authority) -> None:
    with (
        serving_connections(lambda connection: time.sleep(3)) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle, connect_seconds=0.5) as fetcher,
    ):
        result = fetch(fetcher, f"https://site.test:{server.port}/")
    assert result.failure is Reason.TLS
    assert 0.4 < result.elapsed_seconds < 2


def test_a_port_that_speaks_plain_http_is_a_tls_failure() -> None:
    def plain(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(response())

    with serving_connections(plain) as server, loopback_fetcher(resolve=NAMES) as fetcher:
        result = fetch(fetcher, f"https://site.test:{server.port}/")
    assert result.failure is Reason.TLS


def test_the_sent_time_comes_after_the_handshake(authority: Authority) -> None:
    context = authority.context("site.test")

    def slow_handshake(connection: socket.socket) -> None:
        time.sleep(0.4)
        with context.wrap_socket(connection, server_side=True) as stream:
            stream.recv(65536)
            stream.sendall(response())
            stream.recv(1)

    with (
        serving_connections(slow_handshake) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle) as fetcher,
    ):
        submitted = time.time()
        result = fetch(fetcher, f"https://site.test:{server.port}/")
    assert result.status == 200
    assert result.sent_at >= submitted + 0.39


def test_http2_requests_share_one_connection(authority: Authority) -> None:
    with (
        serving_h2(authority.context("site.test"), together=6) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle) as fetcher,
    ):
        requests = [FetchRequest(server.url(f"/{n}", "site.test")) for n in range(6)]
        results = fetch_all(fetcher, requests)
        moments = fetcher.sent()
    assert [(r.status, r.http_version, r.body) for r in results] == [(200, "2", b"<p>two</p>")] * 6
    assert {r.content_type for r in results} == {"text/html"}
    assert server.connections == 1
    assert len(moments) == 6


def test_a_head_beyond_the_limit_ends_its_connection_before_the_rest_is_unpacked(authority: Authority) -> None:
    # 147 KB that unpack to half a gigabyte, for each of forty requests: libcurl would take ten seconds over them.
    with (
        serving_h2(authority.context("site.test"), together=40, head=swelling_head()) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle, timeout_seconds=30) as fetcher,
    ):
        begun = time.process_time()
        results = fetch_all(
            fetcher, [FetchRequest(server.url(f"/{n}", "site.test"), once=True) for n in range(40)], seconds=60
        )
        spent = time.process_time() - begun
    assert {(r.status, r.failure) for r in results} <= {(0, Reason.PROTOCOL), (0, Reason.CONNECT)}
    assert Reason.PROTOCOL in {r.failure for r in results}
    assert spent < 2


def test_a_certificate_valid_for_seconds_is_judged_by_the_clock(authority: Authority) -> None:
    context = authority.context("site.test", valid=(-DAY, timedelta(seconds=-1)))
    with (
        serving(hello, tls=context) as server,
        loopback_fetcher(resolve=NAMES, ca_bundle=authority.bundle) as fetcher,
    ):
        assert fetch(fetcher, server.url("/", "site.test")).failure is Reason.TLS
