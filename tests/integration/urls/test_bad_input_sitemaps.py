"""Sitemaps as attackers write them: each is cut at a limit, and the pages are crawled all the same (B15)."""

import gzip
import socket
import time
from collections.abc import Iterable, Mapping
from functools import partial

import pytest

from crawler.domain.urls.sitemaps import MAX_URLS, parse_sitemap
from crawler.handlers.engine import crawl_context, read_sitemap
from crawler.handlers.pages import bounded_reading
from tests.integration.bombs import bomb
from tests.integration.footprint import MEGABYTE, footprint
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Respond, Server, response, serving

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"


def urlset(urls: Iterable[str], doctype: str = "") -> bytes:
    inside = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'{doctype}<urlset xmlns="{NAMESPACE}">{inside}</urlset>'.encode()


def index(urls: Iterable[str]) -> bytes:
    inside = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<sitemapindex xmlns="{NAMESPACE}">{inside}</sitemapindex>'.encode()


def site_with(sitemaps: Mapping[str, bytes]) -> Respond:
    """A homepage, a good page, pages below /listed, and these sitemaps, which robots.txt names in this order."""
    robots = "\n".join(f"Sitemap: {path}" for path in sitemaps).encode()
    pages = {"/robots.txt": robots, "/": page("/good").encode(), "/good": page().encode(), **sitemaps}

    def respond(_: socket.socket, request: Request) -> bytes:
        body = page().encode() if request.path.startswith("/listed/") else pages.get(request.path)
        if body is None:
            return response(b"", "404 Not Found")
        kind = "application/xml" if request.path in sitemaps else "text/html"
        return response(body, "200 OK", f"Content-Type: {kind}")

    return respond


def sitemap_requests(server: Server) -> list[str]:
    return [request.path for request in server.requests if request.path.endswith(".xml")]


@pytest.mark.slow
def test_hostile_sitemaps_cost_no_memory_and_the_good_one_among_them_counts(crawler: Engine) -> None:
    laughs = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 11))
    sitemaps = {
        "/laughs.xml": urlset(["&e10;"], f'<!DOCTYPE urlset [<!ENTITY e0 "/listed/laughs">{laughs}]>'),
        "/entity.xml": urlset(["/listed/&f;"], '<!DOCTYPE urlset [<!ENTITY f SYSTEM "file:///etc/passwd">]>'),
        "/outside.xml": urlset(["/listed/dtd"], '<!DOCTYPE urlset SYSTEM "http://10.0.0.1/x.dtd">'),
        "/bomb.xml": bomb("gzip"),
        "/comment.xml": gzip.compress(b"<urlset><!--" + b"x" * 60 * MEGABYTE + b"-->"),
        "/late.xml": gzip.compress(
            urlset([]).replace(b"></", b">" + b" " * 60 * MEGABYTE + b"<url><loc>/listed/late</loc></url></")
        ),
        "/nested.xml": b"<urlset>" + b"<url>" * 100_000,
        "/cycle.xml": index(["/cycle.xml", "/cycle.xml?again", "/good.xml"]),
        "/broken.xml": b"<urlset><url><loc>/listed/broken</loc></url><url><loc>",
        "/web-page.xml": page("/listed/link").encode(),
        "/inner.xml": urlset(["http://10.0.0.1/", "file:///etc/passwd", "http://u:p@127.0.0.1/", "x" * 100_000]),
        "/good.xml": urlset(["/listed/good"]),
    }
    with serving(site_with({})) as server:
        crawler.crawl(server.url())  # whatever a first crawl loads is loaded
    with footprint() as seen, serving(site_with(sitemaps)) as server:
        crawl = crawler.crawl(server.url())
    ends = crawler.ends(crawl)
    assert ends.pop("/listed/broken", "done") == "done", "what came before the damage may count"
    assert ends == {"/": "done", "/good": "done", "/listed/good": "done"}
    asked = sitemap_requests(server)
    assert len(asked) == len(set(asked)), "no sitemap is read twice"
    assert seen.grown < 120 * MEGABYTE


@pytest.mark.slow
def test_of_one_sitemap_no_more_urls_count_than_the_protocol_allows(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_URLS == 50_000
    monkeypatch.setattr(read_sitemap, "parse_sitemap", partial(parse_sitemap, max_urls=500))
    sitemaps = {"/all.xml": gzip.compress(urlset(f"/listed/{n}" for n in range(100_000)))}
    with footprint() as seen, serving(site_with(sitemaps)) as server:
        crawl = crawler.crawl(server.url(), max_pages=3)
    assert (crawl.pages_crawled, crawl.total_discovered) == (3, 502)
    assert seen.grown < 60 * MEGABYTE


def test_all_sitemaps_of_a_crawl_together_name_no_more_than_a_limit(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of 500 times 50,000 URLs would fill Redis for a crawl of a few pages."""
    monkeypatch.setattr(crawl_context, "MAX_LISTED", 25)
    parts = {f"/part{n}.xml": urlset(f"/listed/{n}/{m}" for m in range(10)) for n in range(5)}
    with serving(site_with({"/index.xml": index(parts), **parts})) as server:
        crawl = crawler.crawl(server.url())
    listed = [path for path in crawler.ends(crawl) if path.startswith("/listed/")]
    assert len(listed) == 25
    assert crawler.ends(crawl)["/good"] == "done"


def test_indexes_of_indexes_are_not_read_without_end(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sitemaps are read before pages: a hundred thousand of them would be all a crawl ever does."""
    monkeypatch.setattr(crawl_context, "MAX_SITEMAPS", 12)

    def respond(stream: socket.socket, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"Sitemap: /0.xml", "200 OK", "Content-Type: text/plain")
        if request.path.endswith(".xml"):
            children = [f"{request.path.removesuffix('.xml')}-{n}.xml" for n in range(20)]
            return response(index(children), "200 OK", "Content-Type: application/xml")
        return response(page("/good").encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url())
    assert crawler.ends(crawl) == {"/": "done", "/good": "done"}
    assert len(sitemap_requests(server)) <= 1 + 12


@pytest.mark.slow
def test_of_a_sitemap_that_is_too_large_the_beginning_counts(crawler: Engine) -> None:
    before, late = (f"<url><loc>/listed/{name}</loc></url>".encode() for name in ("first", "late"))
    padding = b" " * (51 * MEGABYTE)
    long = urlset([]).replace(b"></", b">" + before + padding + late + b"</")
    with serving(site_with({"/long.xml": long})) as server:
        crawl = crawler.crawl(server.url())
    assert crawler.ends(crawl) == {"/": "done", "/good": "done", "/listed/first": "done"}


@pytest.mark.slow
def test_sitemaps_that_take_long_cost_themselves_and_say_so(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """All crawls share the process: a few kilobytes would hold it for seconds, a thousand times."""
    monkeypatch.setattr(bounded_reading, "PAGE_SECONDS", 0.1)
    sitemaps = {
        "/elements.xml": gzip.compress(urlset([])[:-9] + b"<a/>" * 1_900_000),
        "/lines.xml": gzip.compress(b"x\n" * 20_000_000),
        "/plain.xml": urlset([])[:-9] + b"<a/>" * 1_900_000,
        "/good.xml": gzip.compress(urlset(["/listed/good"])),
    }
    with serving(site_with(sitemaps)) as server:
        began = time.process_time()
        crawl = crawler.crawl(server.url())
        used = time.process_time() - began
    assert used < 3, "of this process"
    assert crawler.ends(crawl) == {"/": "done", "/good": "done", "/listed/good": "done"}
    assert [entry["error"] for entry in crawl.stats["damaged_sitemaps"]] == [read_sitemap.TOO_LONG] * 3
