"""Exports over a real connection: a reader who goes away in the middle leaves nothing behind."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
import uvicorn

from crawler.domain import judging
from crawler.domain.api_keys import Scope
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.http import streaming
from tests.integration.api.conftest import Service
from tests.site.client import Site


@contextmanager
def served(app: object) -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))  # type: ignore[arg-type]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.mark.slow
def test_a_reader_who_goes_away_gives_the_connection_back(service: Service, site: Site) -> None:
    crawl = service.engine.crawl(site.url())
    with service.engine.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE crawled_pages SET content_text = repeat('word ', 200000)")
    pool = service.engine.tools.database.pool
    request = (
        f"GET /api/v1/crawl/{crawl.id}/export?format=jsonl HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {service.secret}\r\n\r\n"
    )
    with served(create_app(service.engine.tools)) as port:
        readers = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for reader in readers:
            reader.sendall(request.encode())
            assert reader.recv(1000).startswith(b"HTTP/1.1 200")
        assert pool.checkedout() == 3  # type: ignore[attr-defined]
        for reader in readers:
            reader.close()
        until = time.monotonic() + 20
        while pool.checkedout() and time.monotonic() < until:  # type: ignore[attr-defined]
            time.sleep(0.05)
        assert pool.checkedout() == 0  # type: ignore[attr-defined]


def test_one_caller_leaves_exports_to_others(service: Service, site: Site) -> None:
    crawl = service.engine.crawl(site.url())
    path = f"/crawl/{crawl.id}/export?format=jsonl"
    other = service.as_(Scope.READ)
    with ExitStack() as held:
        for _ in range(streaming.MOST_OF_ONE):
            held.enter_context(place_of(service))
        refused = service("GET", path)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "30")
        assert other("GET", path).status_code == 200
    assert service("GET", path).status_code == 200


def test_two_who_read_slowly_keep_nobody_out(service: Service, site: Site) -> None:
    crawl = service.engine.crawl(site.url())
    path = f"/crawl/{crawl.id}/export?format=jsonl"
    slow = [service.as_(Scope.READ) for _ in range(streaming.MOST_STREAMS // streaming.MOST_OF_ONE)]
    with ExitStack() as held:
        for one in slow:
            for _ in range(streaming.MOST_OF_ONE):
                held.enter_context(place_of(one))
        assert service("GET", path).status_code == 200
        assert slow[0]("GET", path).status_code == 503


@contextmanager
def place_of(service: Service) -> Iterator[None]:
    """A place of an export that this caller reads."""
    found = service.engine.tools.store.find_key(service.secret)
    assert found is not None
    token = judging.caller.set(found.id)
    try:
        with streaming._place():
            yield
    finally:
        judging.caller.reset(token)


@pytest.mark.slow
def test_a_reader_who_takes_nothing_is_given_up(service: Service, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "STALL_SECONDS", 0.5)
    crawl = service.engine.crawl(site.url())
    with service.engine.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE crawled_pages SET content_text = repeat('word ', 2000000)")
    pool = service.engine.tools.database.pool
    request = (
        f"GET /api/v1/crawl/{crawl.id}/export?format=jsonl HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {service.secret}\r\n\r\n"
    )
    with served(create_app(service.engine.tools)) as port, socket.create_connection(("127.0.0.1", port)) as reader:
        reader.sendall(request.encode())
        assert reader.recv(1000).startswith(b"HTTP/1.1 200")
        until = time.monotonic() + 20
        while (pool.checkedout() or streaming._held) and time.monotonic() < until:  # type: ignore[attr-defined]
            time.sleep(0.05)
        assert pool.checkedout() == 0  # type: ignore[attr-defined]
        assert not streaming._held
