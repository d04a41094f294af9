"""Names that cannot be found and servers that cannot be trusted: told by their URLs, felt by nobody else (F12, F13)."""

import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from crawler.domain import retries
from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.certificates import DAY, Authority
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.odd_names import look_names_up, watch_dials
from tests.integration.raw_server import Request, Server, response, serving, serving_connections
from tests.site.client import Site

CONNECT_SECONDS = 0.7


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 2, "lease_seconds": 20}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is tried again soon: how long the waits are is another test's matter."""
    monkeypatch.setattr(retries, "FIRST_RETRY_SECONDS", 0.05)


class Names:
    """A resolver with a failure for each name."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.released = threading.Event()

    def __call__(self, name: str) -> list[str]:
        self.asked.append(name)
        match name:
            case "missing.test" | "missing2.test":
                raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
            case "broken.test" | "circle.test":  # SERVFAIL; a circle of CNAMEs is one to whoever asks
                raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
            case "hung.test":
                self.released.wait(30)
                return ["127.0.0.1"]
            case "many.test":
                return [f"127.7.{n // 250}.{n % 250 + 1}" for n in range(1000)]
            case "empty.test":
                return []
            case _:
                return ["127.0.0.1"]


@pytest.mark.slow
def test_names_that_cannot_be_found_fail_alone_after_a_few_tries(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled, names = watch_dials(monkeypatch), Names()
    look_names_up(crawler, names, connect_seconds=CONNECT_SECONDS)
    bad = ["missing.test", "broken.test", "circle.test", "hung.test", "empty.test", "many.test"]
    links = [f"http://{name}:{site.port}/{page_number}" for name in bad for page_number in (1, 2)]
    lay(site, {"/": [*links, "/good/1"], "/good/1": ["/good/2"], "/good/2": ["/good/3"], "/good/3": []})
    began = time.monotonic()
    crawl = crawler.crawl(f"http://good.test:{site.port}/", allowed_hosts=[f"{name}:{site.port}" for name in bad])
    names.released.set()
    rows = crawler.ledger(crawl)
    ends = {name: {rows[f"http://{name}:{site.port}/{n}"]["reason"] for n in (1, 2)} for name in bad}
    assert ends == {name: {"connect" if name == "many.test" else "dns"} for name in bad}
    failed = [row for row in rows.values() if row["fetch_state"] == "failed"]
    assert len(failed) == len(links)
    assert all(row["error_message"] for row in failed)
    assert crawl.status is CrawlStatus.COMPLETED
    assert rows[f"http://good.test:{site.port}/good/3"]["fetch_state"] == "done"
    assert all(names.asked.count(name) <= 4 for name in bad), "bounded tries"
    assert 0 < len([address for address in dialled if address.startswith("127.7.")]) <= 4 * 8
    last, hung = (
        rows[f"http://{path}"]["fetched_at"] for path in (f"good.test:{site.port}/good/3", f"hung.test:{site.port}/1")
    )
    assert last < hung, "nobody waited for it"
    assert time.monotonic() - began < 20


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.create(tmp_path_factory.mktemp("authority"))


def hello(_: socket.socket, request: Request) -> bytes:
    return response(b"", "404 Not Found") if request.path == "/robots.txt" else response(page().encode())


def outdated(authority: Authority) -> ssl.SSLContext:
    context = authority.context("outdated.test")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


def hang(connection: socket.socket) -> None:
    connection.recv(65536)
    time.sleep(3)


def plain(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(response())


def flawed_servers(authority: Authority) -> dict[str, Callable[[], AbstractContextManager[Server]]]:
    """By name, a server nobody should believe."""
    contexts = {
        "expired.test": authority.context("expired.test", valid=(-3 * DAY, -DAY)),
        "early.test": authority.context("early.test", valid=(DAY, 3 * DAY)),
        "wrong.test": authority.context("other.test"),
        "self-signed.test": authority.context("self-signed.test", self_signed=True),
        "outdated.test": outdated(authority),
    }
    servers: dict[str, Callable[[], AbstractContextManager[Server]]] = {
        name: lambda context=context: serving(hello, tls=context)  # type: ignore[misc]
        for name, context in contexts.items()
    }
    return {**servers, "hung.test": lambda: serving_connections(hang), "plain.test": lambda: serving_connections(plain)}


def test_servers_that_cannot_be_trusted_fail_as_tls_and_are_not_asked_without_it(
    crawler: Engine, authority: Authority, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        flawed = {name: stack.enter_context(start()) for name, start in flawed_servers(authority).items()}
        links = [f"https://{name}:{server.port}/secret" for name, server in flawed.items()]
        home = response(page(*links, "/good").encode())

        def honest(stream: socket.socket, request: Request) -> bytes:
            return home if request.path == "/" else hello(stream, request)

        good = stack.enter_context(serving(honest, tls=authority.context("good.test")))
        look_names_up(crawler, lambda _: ["127.0.0.1"], connect_seconds=CONNECT_SECONDS, ca_bundle=authority.bundle)
        hosts = [f"{name}:{server.port}" for name, server in flawed.items()]
        crawl = crawler.crawl(good.url("/", "good.test"), allowed_hosts=hosts, use_sitemaps=False)
    rows = crawler.ledger(crawl)
    assert crawl.status is CrawlStatus.COMPLETED
    assert {link: (rows[link]["fetch_state"], rows[link]["reason"]) for link in links} == dict.fromkeys(
        links, ("failed", "tls")
    )
    assert all(rows[link]["error_message"] for link in links)
    assert rows[good.url("/good", "good.test")]["fetch_state"] == "done"
    assert [name for name, server in flawed.items() if server.requests] == []
    assert {name: server.connections for name, server in flawed.items()} == dict.fromkeys(flawed, 1)
