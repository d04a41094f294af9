"""A site is typed without its scheme: https first, http where nobody speaks TLS."""

import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.adapters.curl import first_contact
from crawler.config import Settings
from crawler.entrypoints.cli.input import typed_site
from crawler.errors import InvalidUrl
from tests.integration.certificates import Authority

HOST = "127.0.0.1"


@contextmanager
def server(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Takes connections and says what a plain web server says to what it does not understand."""
    with socket.create_server((HOST, 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                try:
                    with context.wrap_socket(taken, server_side=True) if context else taken as connection:
                        connection.settimeout(5)
                        connection.recv(1000)
                        connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                except OSError:
                    continue

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def test_a_server_speaks_tls_or_plain_http_or_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_contact, "PATIENCE_SECONDS", 10.0)
    known = Authority.create(tmp_path).context("another.example")
    with server(known) as secure, server() as plain:
        assert first_contact.speaks_tls(HOST, secure), "a wrong certificate is no reason to go without"
        assert not first_contact.speaks_tls(HOST, plain)
        assert first_contact.takes_connections(HOST, plain)
    assert not first_contact.takes_connections(HOST, plain)
    assert not first_contact.speaks_tls("no such host", 443)


@pytest.mark.parametrize(
    ("typed", "tls", "connects", "meant"),
    [
        ("example.org", True, True, "https://example.org/"),
        ("example.org/a?b", False, True, "http://example.org/a?b"),
        ("example.org:8080", False, True, "http://example.org:8080/"),
        ("example.org", False, False, "https://example.org/"),
        ("http://example.org", True, True, "http://example.org/"),
        ("https://example.org", False, True, "https://example.org/"),
        ("localhost:8000", False, False, "http://localhost:8000/"),
    ],
)
def test_https_comes_first_and_http_where_it_is_all_there_is(
    monkeypatch: pytest.MonkeyPatch, typed: str, tls: bool, connects: bool, meant: str
) -> None:
    monkeypatch.setattr(typed_site, "speaks_tls", lambda _host, _port: tls)
    monkeypatch.setattr(typed_site, "takes_connections", lambda _host, _port: connects)
    assert typed_site.typed_site(typed, by_proxy=False).href == meant


def test_what_a_proxy_reaches_is_not_tried_from_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed_site, "speaks_tls", lambda _host, _port: pytest.fail("it was tried"))
    assert typed_site.typed_site("example.org", by_proxy=True).scheme == "https"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("nonsense", "write one such as example.org, or http://nonsense for a machine of that name."),
        ("", "No address was given"),
        ("8089", "is a number without a host"),
        ("exa mple", "has a blank"),
        ("me@example.org", "looks like a mail address"),
    ],
)
def test_a_word_is_no_address(typed: str, told: str) -> None:
    with pytest.raises(InvalidUrl, match=re.escape(told)):
        typed_site.typed_site(typed, by_proxy=False)


def test_a_lookup_that_takes_long_or_comes_after_many_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    answered = threading.Event()
    monkeypatch.setattr(first_contact, "is_unknown", lambda _: answered.wait(30))
    monkeypatch.setattr(first_contact, "_places", threading.BoundedSemaphore(1))
    assert not first_contact.is_unknown_soon("slow.example", 0.01)
    assert not first_contact.is_unknown_soon("next.example", 30), "the only place is taken, and nobody waits for it"
    answered.set()
    for _ in range(200):
        if first_contact.is_unknown_soon("known.example", 5):
            return
        time.sleep(0.01)
    pytest.fail("the place was not given back")


@pytest.mark.parametrize("typed", ["http://127.0.0.1:9/#/prices", "http://127.0.0.1:9/#!a"])
def test_a_view_behind_a_hash_is_no_site(typed: str) -> None:
    """The page before it was crawled in its place, and nobody was told."""
    with pytest.raises(InvalidUrl, match="no page of its own"):
        typed_site.typed_site(typed, by_proxy=False)
    with pytest.raises(InvalidUrl, match="no page of its own"):
        typed_site.typed_address(typed, Settings())
