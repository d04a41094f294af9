"""Which hosts a browser would send an origin's cookies to, although they are of another origin."""

import ssl

import pytest

from crawler.adapters.browser.credential_cookies import cookie_names, may_share_cookies
from crawler.adapters.browser.proxy_heads import offers_http2
from crawler.domain.hosts.egress import target_of


@pytest.mark.parametrize(
    ("url", "shares"),
    [
        ("https://shop.example.org/a", False),
        ("https://SHOP.example.org:443/a", False),
        ("http://shop.example.org/a", True),
        ("https://shop.example.org:8443/a", True),
        ("https://static.example.org/a", True),
        ("https://example.org/a", True),
        ("https://other.org/a", False),
        ("https://evilexample.org/a", False),
        ("data:text/plain,x", False),
    ],
)
def test_ports_schemes_and_hosts_of_the_domain_share_cookies(url: str, shares: bool) -> None:
    assert may_share_cookies(target_of("https://shop.example.org/"), url) is shares


def test_addresses_share_cookies_by_port_only() -> None:
    home = target_of("http://127.0.0.1:8080/")
    assert may_share_cookies(home, "http://127.0.0.1:9090/")
    assert not may_share_cookies(home, "http://127.0.1.1:8080/")


def test_names_are_those_of_the_cookie_header() -> None:
    assert cookie_names((("X-Key", "a=b"), ("cookie", "sid=4=2; lang=de;"))) == {"sid", "lang"}


def hello(*protocols: str) -> bytes:
    """What a client of TLS sends first."""
    context, sent = ssl.create_default_context(), ssl.MemoryBIO()
    context.set_alpn_protocols(protocols)
    client = context.wrap_bio(ssl.MemoryBIO(), sent, server_hostname="shop.example.org")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read()


def test_a_websocket_is_known_by_what_its_connection_offers() -> None:
    assert offers_http2(hello("h2", "http/1.1"))
    assert not offers_http2(hello("http/1.1"))
    assert not offers_http2(b"GET /?\x02h2\x08http/1.1 HTTP/1.1")
