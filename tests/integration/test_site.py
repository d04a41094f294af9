"""The site the other tests trust: what it serves is what its graph says, and its log tells the truth."""

import gzip
import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urldefrag, urljoin, urlsplit

import psutil
import pytest
from selectolax.lexbor import LexborHTMLParser

from tests.site import pages
from tests.site.client import Site
from tests.site.graph import FOLLOWED, READABLE, Kind, Spec, address, build, changes
from tests.site.log import LoggedRequest, politeness
from tests.site.oddities import SAMPLES
from tests.site.process import ROOT, site_process


class Reply:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()


def get(site: Site, path: str, host: int = 0, timeout: float = 5, **headers: str) -> Reply:
    connection = http.client.HTTPConnection(address(host), site.port, timeout=timeout)
    try:
        connection.request("GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()})
        return Reply(connection.getresponse())
    finally:
        connection.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=3, pages=60) as running:
        yield running


def walk(site: Site, hosts: int, max_depth: int = 99) -> dict[str, int]:
    """A plain crawler, written without the graph: URL to depth. It follows redirects at no cost."""
    allowed = {f"{address(host)}:{site.port}" for host in range(hosts)}
    depths: dict[str, int] = {}
    level = [site.url()]
    for depth in range(max_depth + 1):
        following: list[str] = []
        while level:
            url = level.pop()
            if url not in depths and urlsplit(url).netloc in allowed:
                depths[url] = depth
                redirected, linked = outgoing(site, url)
                level += redirected
                following += linked
        level = following
    return depths


def outgoing(site: Site, url: str) -> tuple[list[str], list[str]]:
    parts = urlsplit(url)
    if parts.path.startswith("/private/"):
        return [], []
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    connection.request("GET", parts.path)
    reply = Reply(connection.getresponse())
    connection.close()
    if reply.status == 301:
        return [normal(url, reply.headers["Location"])], []
    if reply.status != 200 or "html" not in reply.headers["Content-Type"]:
        return [], []
    tree = LexborHTMLParser(reply.body)
    if tree.css_first("meta[name=robots][content=nofollow]"):
        return [], []
    base = tree.css_first("base")
    start = (base.attributes["href"] or "") if base else url
    return [], [normal(start, node.attributes["href"] or "") for node in tree.css("a[href]")]


def normal(base: str, href: str) -> str:
    parts = urlsplit(urldefrag(urljoin(base, href)).url)
    path = parts.path.lower().rstrip("/") or "/"
    return f"{parts.scheme}://{parts.netloc}{path}"


@pytest.mark.parametrize("hosts", [1, 4])
def test_a_walk_over_the_links_finds_exactly_the_expected_urls_and_depths(tmp_path: Path, hosts: int) -> None:
    with Site(tmp_path, hosts=4, pages=300, odd=0.3) as site:
        expected = site.expected(hosts=frozenset(range(hosts)))
        assert walk(site, hosts) == {url: found.depth for url, found in expected.items()}
    kinds = {found.page.kind for found in expected.values()}
    assert kinds == set(Kind) if hosts == 4 else Kind.HTML in kinds


def test_expected_urls_stop_at_the_greatest_depth(tmp_path: Path) -> None:
    with Site(tmp_path, pages=60) as site:
        within = site.expected(max_depth=2)
        assert walk(site, 1, max_depth=2) == {url: found.depth for url, found in within.items()}
        assert len(within) < len(site.expected())


def test_every_page_has_the_status_title_and_text_the_graph_tells(tmp_path: Path) -> None:
    with Site(tmp_path, pages=150, odd=0.5) as site:
        for found in site.expected().values():
            reply = get(site, found.page.path)
            assert reply.status == found.status
            if found.page.kind in READABLE:
                tree = LexborHTMLParser(reply.body)
                shown = [node.text() for node in tree.css("h1, p")]
                assert shown == [found.page.title, *pages.paragraphs(site.graph, found.page)]


def test_the_same_seed_makes_the_same_graph_and_another_seed_another() -> None:
    spec = Spec(seed=7, hosts=3, pages=200, odd=0.2, version=3)
    assert build(spec).pages == build(spec).pages
    assert build(spec).pages != build(Spec(seed=8, hosts=3, pages=200, odd=0.2, version=3)).pages


def test_sitemaps_name_also_the_pages_nothing_links_to(tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=40, orphans=4, sitemap=True) as site:
        assert site.url("/sitemap.xml", 1) in get(site, "/robots.txt", 1).body.decode()
        assert b"/sitemap-pages.xml.gz" in get(site, "/sitemap.xml", 1).body
        listed = gzip.decompress(get(site, "/sitemap-pages.xml.gz", 1).body).decode()
        orphan = site.graph.pages[41]
        assert site.graph.url(orphan, site.port) in listed
        without, found = site.expected(start=1), site.expected(start=1, sitemaps_of=frozenset({1}))
        assert site.graph.url(orphan, site.port) not in without
        assert found[site.graph.url(orphan, site.port)].depth == 1
        assert max(e.depth for e in found.values()) == 1 < max(e.depth for e in without.values())


def test_a_new_version_changes_adds_and_removes_exactly_what_changes_tells(tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=100) as site:
        before = site.graph
        first = {page.number: get(site, page.path, page.host).body for page in before.pages}
        site.set_version(2)
        told = changes(before, site.graph)
        second = {page.number: get(site, page.path, page.host) for page in site.graph.pages}
    assert min(map(len, (told.added, told.removed, told.changed))) > 0
    assert told.added == second.keys() - first.keys()
    assert told.removed == {number for number, reply in second.items() if reply.status == 404}
    same = first.keys() - told.removed
    assert told.changed == {number for number in same if first[number] != second[number].body}


def test_unchanged_pages_answer_304_and_changed_ones_do_not(site: Site) -> None:
    reply = get(site, "/")
    tag, modified = reply.headers["ETag"], reply.headers["Last-Modified"]
    again = get(site, "/", If_None_Match=tag)
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", tag)
    assert get(site, "/", If_Modified_Since=modified).status == 304
    assert get(site, "/", If_None_Match='"other"', If_Modified_Since=modified).status == 200
    site.edit("/", append="Something new.")
    assert get(site, "/", If_None_Match=tag).status == 200
    assert get(site, "/", If_Modified_Since=modified).status == 200


def test_an_edit_holds_until_it_is_taken_back(site: Site) -> None:
    original = get(site, "/").body
    site.edit("/", append="Something new.")
    assert b"<p>Something new.</p>" in get(site, "/").body
    site.edit("/", html="<title>Other</title>")
    assert get(site, "/").body == b"<title>Other</title>"
    site.remove("/", status=410)
    assert get(site, "/").status == 410
    site.restore("/")
    assert get(site, "/").body == original


def test_a_fault_hits_only_its_path_host_and_times(site: Site) -> None:
    site.set_fault("/*", host=1, times=2, status=503, retry_after=7)
    assert get(site, "/", 0).status == 200
    hit = get(site, "/", 1)
    assert (hit.status, hit.headers["Retry-After"]) == (503, "7")
    assert [get(site, "/", 1).status for _ in range(2)] == [503, 200]


def test_a_fault_may_hit_each_nth_request_until_it_is_mended(site: Site) -> None:
    number = site.set_fault(every=3, status=500)
    assert [get(site, "/").status for _ in range(6)] == [200, 200, 500, 200, 200, 500]
    site.mend(number)
    assert {get(site, "/").status for _ in range(6)} == {200}


def test_robots_can_be_replaced_per_host_with_any_status(site: Site) -> None:
    site.set_robots("User-agent: *\nDisallow: /\n", host=1)
    site.set_robots(host=2, status=503)
    assert b"Disallow: /private/" in get(site, "/robots.txt", 0).body
    assert get(site, "/robots.txt", 1).body == b"User-agent: *\nDisallow: /\n"
    assert get(site, "/robots.txt", 2).status == 503


def test_an_unknown_fault_is_refused_with_its_name(site: Site) -> None:
    with pytest.raises(TypeError, match="explode"):
        site.set_fault("/", explode=True)


def test_slow_and_dripping_answers_take_their_time(site: Site) -> None:
    site.set_fault("/", delay=0.2)
    started = time.monotonic()
    get(site, "/")
    assert time.monotonic() - started >= 0.2
    site.mend()
    site.set_fault("/", drip=0.05, piece=500)
    started = time.monotonic()
    length = len(get(site, "/").body)
    assert time.monotonic() - started >= 0.05 * (length // 500)


def test_a_hanging_request_is_under_way_and_logged_when_its_client_gives_up(site: Site) -> None:
    site.set_fault("/", hang=True)
    with pytest.raises(TimeoutError):
        get(site, "/", timeout=0.2)
    logged = until_logged(site, 1)
    assert [(request.target, request.status) for request in logged] == [("/", 0)]
    with socket.create_connection((address(0), site.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: site.under_way() == [(address(0), "/")])


def test_a_reset_reaches_the_client_as_one(site: Site) -> None:
    with pytest.raises(ConnectionResetError):
        get(site, "/x/reset")


def test_a_cut_answer_promises_more_than_it_sends(site: Site) -> None:
    site.set_fault("/", cut=10)
    with pytest.raises(http.client.IncompleteRead) as caught:
        get(site, "/")
    assert len(caught.value.partial) == 10


def test_dropped_connections_end_at_once(site: Site) -> None:
    with socket.create_connection((address(0), site.port), timeout=5) as client:
        client.sendall(b"GET /x/hang HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: bool(site.under_way()))
        site.drop_connections()
        assert client.recv(100) == b""


def test_redirects_chain_loop_count_and_leave(site: Site) -> None:
    assert get(site, "/x/chain/2").headers["Location"] == "/x/chain/1"
    assert get(site, "/x/chain/0").status == 200
    assert get(site, "/x/loop/a").headers["Location"] == "/x/loop/b"
    assert get(site, "/x/loop/b").headers["Location"] == "/x/loop/a"
    assert get(site, "/x/counting/41").headers["Location"] == "/x/counting/42"
    away = get(site, "/x/to?status=308&url=http%3A%2F%2F127.0.0.9%2F")
    assert (away.status, away.headers["Location"]) == (308, "http://127.0.0.9/")


def test_a_bomb_is_small_on_the_wire_and_large_unpacked(site: Site) -> None:
    reply = get(site, "/x/bomb/20")
    assert len(reply.body) < 100_000
    assert len(gzip.decompress(reply.body)) == 20_000_000


def test_traps_always_have_another_link(site: Site) -> None:
    seen = set()
    url = site.url("/x/calendar/2026/12")
    for _ in range(14):
        seen.add(url)
        _, links = outgoing(site, url)
        url = links[0]
    assert len(seen) == 14
    assert b"sid=" in get(site, "/x/session").body
    assert get(site, "/x/session").body != get(site, "/x/session").body


def test_every_sample_of_the_odd_pages_is_answered(site: Site) -> None:
    overview = get(site, "/x").body.decode()
    for sample in SAMPLES:
        assert sample in overview
        assert get(site, sample).status not in {400, 404} or sample == "/x/status/404"
    assert get(site, "/x/nothing-of-that-name").status == 404
    assert get(site, "/x/status/word").status == 400


def test_the_declared_charset_can_be_wrong(site: Site) -> None:
    reply = get(site, "/x/charset/utf-8/latin-1")
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "Grüße".encode("latin-1") in reply.body


def test_one_connection_carries_pipelined_requests_in_order(site: Site) -> None:
    with socket.create_connection((address(0), site.port), timeout=5) as client:
        ask = "GET {} HTTP/1.1\r\nHost: x\r\nUser-Agent: pipes\r\n{}\r\n"
        client.sendall((ask.format("/x/slow/0.1", "") + ask.format("/", "Connection: close\r\n")).encode())
        with client.makefile("rb") as lines:
            text = lines.read()
    assert text.index(b"Odd on the wire") < text.index(b'rel="canonical"')
    first, second = until_logged(site, 2)
    assert (first.target, second.target) == ("/x/slow/0.1", "/")
    assert first.connection == second.connection
    assert first.user_agent == "pipes"


def test_the_log_measures_gaps_and_parallelism_for_each_host(site: Site) -> None:
    with ThreadPoolExecutor(4) as clients:
        list(clients.map(lambda _: get(site, "/x/slow/0.3", 0), range(4)))
    for _ in range(3):
        get(site, "/", 1)
        time.sleep(0.1)
    judged = site.politeness()
    assert judged[address(0)].requests == 4
    assert judged[address(0)].largest_parallel == 4
    assert judged[address(0)].smallest_gap < 0.1
    assert judged[address(1)].largest_parallel == 1
    assert 0.1 <= judged[address(1)].smallest_gap < 5


def test_requests_that_only_touch_are_not_parallel() -> None:
    def request(arrived: float, ended: float) -> LoggedRequest:
        return LoggedRequest(arrived, ended, "127.0.0.1", "GET", "/", 200, 1, "")

    judged = politeness([request(2.0, 3.0), request(0.0, 1.0), request(1.0, 2.5)])["127.0.0.1"]
    assert judged == (3, 1.0, 2, 2.0)
    assert judged.keeps(1.05)
    assert not judged.keeps(1.2), "so much cannot come from requests that were read late"
    assert politeness([request(0.0, 1.0), request(1.0, 2.0)])["127.0.0.1"].largest_parallel == 1


def test_a_stopped_site_refuses_connections_and_comes_back_on_its_port(site: Site) -> None:
    port = site.port
    site.stop()
    with pytest.raises(ConnectionRefusedError):
        get(site, "/")
    site.start()
    assert site.port == port
    assert get(site, "/").status == 200


def test_a_port_that_is_taken_is_an_error_at_start(site: Site, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="Address already in use"):
        Site(tmp_path, port=site.port).start()


@pytest.mark.slow
def test_the_site_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    program = (
        "import os, pathlib, sys; from tests.site.client import Site; from tests.site.process import site_process;"
        " Site(pathlib.Path(sys.argv[1]), pages=5).start(); print(site_process().pid, flush=True); os._exit(1)"
    )
    died = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    until(lambda: not psutil.pid_exists(int(died.stdout)))


def test_the_site_serves_thousands_of_pages_in_a_second_of_its_time(tmp_path: Path) -> None:
    """Else the site, not the crawler, would be measured. Its CPU time is far below the bound (15,000 pages)."""
    with Site(tmp_path, pages=300) as site:
        process = psutil.Process(site_process().pid)
        before = sum(process.cpu_times()[:2])
        paths = [page.path for page in site.graph.pages if page.kind in FOLLOWED] * 10
        ask = "".join(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths).encode()
        with socket.create_connection((address(0), site.port), timeout=20) as client:
            sender = threading.Thread(target=client.sendall, args=(ask,))
            sender.start()
            with client.makefile("rb") as answers:
                found = count_answers(answers, len(paths))
            sender.join()
        seconds = sum(process.cpu_times()[:2]) - before
    assert found == len(paths)
    assert seconds < found / 1000


def count_answers(stream: BinaryIO, wanted: int) -> int:
    found = 0
    while found < wanted:
        assert stream.readline() == b"HTTP/1.1 200 OK\r\n"
        headers = http.client.parse_headers(stream)
        length = int(headers["Content-Length"])
        assert len(stream.read(length)) == length
        found += 1
    return found


def until(condition: Callable[[], bool], seconds: float = 5) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "It did not happen in time."
        time.sleep(0.01)


def until_logged(site: Site, count: int) -> list[LoggedRequest]:
    until(lambda: len(site.requests()) >= count)
    return site.requests()
