"""Robots.txt and sitemaps as attackers write them: capped, refused, and the crawl goes on (B14, B15)."""

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.bombs import bomb
from tests.integration.footprint import MEGABYTE, footprint
from tests.integration.handmade import host_of, lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Server, response, serving
from tests.site.client import Site

TEXT = "Content-Type: text/plain"
XML = "Content-Type: application/xml"
RULES = b"User-agent: *\nDisallow: /secret\n"


@contextmanager
def site_with(path: str, answer: bytes | Callable[[socket.socket], None]) -> Iterator[Server]:
    """Three pages, one of them secret, and this answer at one path."""
    pages = {"/": page("/good", "/secret"), "/good": page(), "/secret": page()}

    def respond(stream: socket.socket, request: Request) -> bytes | None:
        if request.path == path:
            with suppress(OSError):
                stream.sendall(answer) if isinstance(answer, bytes) else answer(stream)
            return None
        found = pages.get(request.path)
        return response(found.encode()) if found else response(b"", "404 Not Found")

    with serving(respond) as server:
        yield server


def endless_rules(stream: socket.socket) -> None:
    """Our rules first, then 100 MB of other lines."""
    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + RULES)
    for _ in range(1600):
        stream.sendall(b"# and so on\n" * 5461)


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("answer", "secret"),
    [
        (endless_rules, "robots"),
        (response(RULES + b"\0" * 400_000, "200 OK", TEXT), "robots"),
        (response(b"User-agent: x\n" * 30_000 + RULES, "200 OK", TEXT), "robots"),
        (response(bomb("gzip"), "200 OK", TEXT, "Content-Encoding: gzip"), "done"),
        (response(b"<!doctype html><p>Disallow: /</p>\nUser-agent: *\nDisallow: /", "200 OK"), "done"),
        (response(b"", "302 Found", "Location: http://10.0.0.1/robots.txt"), "done"),
        (response(b"", "302 Found", "Location: file:///etc/passwd"), "done"),
        (response(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 200, "200 OK", "Content-Type: image/png"), "done"),
    ],
    ids=["100 MB", "nul", "many agents", "bomb", "html", "inner", "file", "picture"],
)
def test_a_hostile_robots_txt_costs_no_memory_and_no_page(
    crawler: Engine, answer: bytes | Callable[[socket.socket], None], secret: str
) -> None:
    with footprint() as seen, site_with("/robots.txt", answer) as server:
        crawl = crawler.crawl(server.url("/"))
    assert crawl.status is CrawlStatus.COMPLETED
    assert crawler.ends(crawl) == {"/": "done", "/good": "done", "/secret": secret}
    assert seen.grown < 60 * MEGABYTE


def test_a_crawl_delay_of_years_is_a_minute(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    site.set_robots("User-agent: *\nCrawl-delay: 1e9")
    crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.shift()
    assert crawler.tools.frontier.host(host_of(site)).robots_ms == 60_000
