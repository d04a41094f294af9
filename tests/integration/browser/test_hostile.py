"""Pages that want to hold, crash or fill the browser. Each fails alone, in time, and leaves nothing behind."""

import asyncio
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from crawler.adapters.browser import egress_proxy, lifetime, screenshot, tab_pool
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.adapters.browser.options import Wear
from crawler.adapters.browser.visit import Visit
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderRequest
from tests.integration.bombs import GIGABYTE, nothing_packed
from tests.integration.browser.driving import (
    answering,
    asked,
    browser_fetcher,
    fetch,
    fetch_all,
    living,
    pages,
    until,
)
from tests.integration.browser.sockets import upgraded
from tests.integration.raw_server import Request, response

pytestmark = pytest.mark.slow

DEADLINE = 12.0
LATE = 60.0
"""The deadline, closing the tab, and a very busy machine."""
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def hurried(chromium: Path, crawl4ai: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserFetcher]:
    wear = Wear(tab_bytes=300 * MEGABYTE)
    data_dir = tmp_path_factory.mktemp("data")
    with browser_fetcher(chromium, data_dir, timeout_seconds=DEADLINE, wear=wear) as fetcher:
        with pages({"/": "<p>warm</p>"}) as site:
            assert fetch(fetcher, site.url()).failure is None
        yield fetcher


WAIT = "{{ const asked = new XMLHttpRequest(); asked.open('GET', '/{}', false); asked.send() }}"
"""The tab stands still until there is an answer, and costs nothing."""
HANGS = {
    "/loop": "<p>x</p><script>while (true) {}</script>",
    "/alerts": f"<p>x</p><script>while (true) {{ alert('again'); {WAIT.format('soon')} }}</script>",
    "/leaving": f"<p>x</p><script>onbeforeunload = e => e.preventDefault(); {WAIT.format('never')}</script>",
}


def test_pages_that_hang_are_timeouts_and_their_neighbours_are_done(hurried: BrowserFetcher) -> None:
    """All at once: one tab is left for the neighbours."""
    pids, over = hurried.stats.pids, threading.Event()

    def respond(_: object, request: Request) -> bytes:
        over.wait({"/never": LATE, "/soon": 0.1}.get(request.path, 0))
        return response(HANGS.get(request.path, "<p>neighbour</p>").encode())

    with answering(respond) as site:
        results = fetch_all(hurried, [FetchRequest(site.url(path)) for path in (*HANGS, *["/n"] * 4)], LATE)
        over.set()
    hung = [result for result in results if result.url != site.url("/n")]
    assert [result.failure for result in hung] == [Reason.TIMEOUT] * 3
    assert all(result.sent_at > 0 for result in hung)
    assert [result.failure for result in results if result.url == site.url("/n")] == [None] * 4
    assert _back_to_baseline(hurried, pids)


FLOOD = """<p>x</p><script>const made = URL.createObjectURL(new Blob(["0"]));
  (function flood() { for (let i = 0; i < 50; i++) new Worker(made).terminate(); setTimeout(flood, 0); })()</script>"""
"""Each worker is told to the browser's main process and to the driver, which all tabs share."""


def test_a_page_that_keeps_the_browser_busy_is_shown_in_one_of_its_own_and_so_are_its_neighbours(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifetime, "ANSWER_SECONDS", 3.0)
    slow = "<p id=x>x</p><script>setTimeout(() => x.textContent = 'neighbour', 2500)</script>"
    with (
        browser_fetcher(chromium, tmp_path, timeout_seconds=25) as fetcher,
        pages({"/": FLOOD}) as site,
        pages({"/": slow, "/warm": "<p>warm</p>"}) as other,
    ):
        assert fetch(fetcher, other.url("/warm")).failure is None
        shared = fetcher.stats.pids
        for _ in range(2):
            fetcher.submit(RenderRequest(site.url()))
        until(lambda: asked(site), LATE)
        results = fetch_all(fetcher, [RenderRequest(other.url())], LATE)
        neighbour = next(result for result in results if result.url == other.url())
        assert (neighbour.failure, b"neighbour" in neighbour.body) == (None, True)
        assert not set(shared) & set(fetcher.stats.pids)


def test_files_that_keep_the_network_process_busy_hold_up_no_neighbour(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network process unpacks terabytes from which nothing comes; the browser itself still answers."""
    monkeypatch.setattr(lifetime, "ANSWER_SECONDS", 3.0)
    packed = response(nothing_packed(64 * GIGABYTE), "200 OK", "Content-Encoding: gzip, gzip, gzip")
    page = response(b"<p>x</p><script src=/packed></script>")
    with (
        browser_fetcher(chromium, tmp_path, timeout_seconds=25) as fetcher,
        answering(lambda _, request: packed if request.path == "/packed" else page) as site,
        pages({"/": "<p>neighbour</p>", "/warm": "<p>warm</p>"}) as other,
    ):
        assert fetch(fetcher, other.url("/warm")).failure is None
        shared = fetcher.stats.pids
        fetcher.submit(RenderRequest(site.url()))
        until(lambda: "/packed" in asked(site), LATE)
        results = fetch_all(fetcher, [RenderRequest(other.url())], LATE)
        assert {result.url: result.failure for result in results}[other.url()] is None
        assert not set(shared) & set(fetcher.stats.pids)


def test_a_host_whose_page_took_too_long_gets_browsers_of_its_own(hurried: BrowserFetcher) -> None:
    """All tabs of a browser share a process and a driver, which such a page may keep busy, too."""
    with pages({"/": HANGS["/loop"]}) as site:
        assert fetch(hurried, site.url()).failure is Reason.TIMEOUT
        shared = hurried.stats.pids
        hurried.submit(RenderRequest(site.url()))
        until(lambda: set(hurried.stats.pids) - set(shared), LATE)
        fetch_all(hurried, [], LATE)
        assert _back_to_baseline(hurried, shared)


def test_a_host_whose_page_had_to_give_way_gets_browsers_of_its_own_and_those_are_nice(
    hurried: BrowserFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tab_pool, "CALM_SECONDS", 1.0)
    with pages({"/": HANGS["/loop"]}) as site:
        hurried.submit(RenderRequest(site.url()))
        until(lambda: asked(site), LATE)
        shared = set(hurried.stats.pids)
        time.sleep(1.5)
        assert hurried.drop(lambda _: True) == 1
        hurried.submit(RenderRequest(site.url()))
        until(lambda: set(hurried.stats.pids) - shared, LATE)
        (own,) = set(hurried.stats.pids) - shared
        of_session = Path(f"/proc/{own}/autogroup")  # as root Chromium changes the number of its own process
        is_nice = of_session.exists() and of_session.read_text().endswith(f"nice {lifetime.ALONE_NICE}\n")
        assert is_nice or psutil.Process(own).nice() == lifetime.ALONE_NICE
        hurried.abandon()


def test_a_dropped_page_whose_tab_hardly_closes_holds_up_nobody(
    chromium: Path, crawl4ai: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its slot was given to somebody else."""
    closing, may_close = threading.Event(), threading.Event()
    close = Visit.close

    async def hardly(visit: Visit) -> None:
        if visit._request.url.endswith("/hangs"):
            closing.set()
            while not may_close.is_set():
                await asyncio.sleep(0.05)
        await close(visit)

    monkeypatch.setattr(Visit, "close", hardly)
    monkeypatch.setattr(tab_pool, "CLOSE_SECONDS", LATE)
    with (
        browser_fetcher(chromium, tmp_path, tabs=1) as fetcher,
        pages({"/hangs": HANGS["/loop"], "/": "<p>next</p>"}) as site,
    ):
        fetcher.submit(RenderRequest(site.url("/hangs")))
        until(lambda: "/hangs" in asked(site), LATE)
        assert fetcher.drop(lambda _: True) == 1
        assert fetch(fetcher, site.url()).failure is None
        assert closing.is_set()
        may_close.set()


def test_a_page_that_fills_the_memory_fails_alone(hurried: BrowserFetcher) -> None:
    hungry = """<p>x</p><script>const kept = [];
      setInterval(() => kept.push(new Uint8Array(50e6).fill(1)), 20)</script>"""
    with pages({"/": hungry, "/n": "<p>neighbour</p>"}) as site:
        results = fetch_all(hurried, [FetchRequest(site.url()), FetchRequest(site.url("/n"))])
        failures = {result.url: result.failure for result in results}
    assert failures[site.url("/n")] is None
    assert failures[site.url()] in {Reason.CONNECT, Reason.TIMEOUT, None}
    until(lambda: hurried.stats.memory_bytes < 400 * MEGABYTE)


def test_a_page_that_crashes_its_tab_fails_alone(hurried: BrowserFetcher) -> None:
    heap = "<p>x</p><script>let s = []; while (true) s.push(new Array(1e6).fill({}))</script>"
    with pages({"/": heap, "/n": "<p>neighbour</p>"}) as site:
        results = fetch_all(hurried, [FetchRequest(site.url()), FetchRequest(site.url("/n"))])
        failures = {result.url: result.failure for result in results}
    assert failures[site.url("/n")] is None
    assert failures[site.url()] in {Reason.CONNECT, Reason.TIMEOUT}


def test_a_document_of_many_megabytes_is_told_to_be_too_large(browser: BrowserFetcher) -> None:
    """Hidden: the browser itself takes long to lay out what is shown."""
    huge = """<p>x</p><div id=d hidden></div><script>const s = 'some words '.repeat(1e5);
      for (let i = 0; i < 100; i++) d.append(document.createElement('div'), s)</script>"""
    with pages({"/": huge}) as site:
        result = fetch(browser, site.url())
    assert (result.failure, result.truncated) == (Reason.TOO_LARGE, True)
    assert result.body.startswith(b"<html>")


def test_a_page_that_talks_without_end_is_shown(browser: BrowserFetcher) -> None:
    talking = "<p>x</p><script>for (let i = 0; i < 2e5; i++) console.log('x'.repeat(1000) + i)</script>"
    with pages({"/": talking}) as site:
        assert b"<p>x</p>" in fetch(browser, site.url()).body


def test_a_page_that_asks_for_very_much_is_kept_as_it_stands(
    browser: BrowserFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page could otherwise let us ask any site as often as we can."""
    monkeypatch.setattr(egress_proxy, "MAX_REQUESTS", 60)
    asking = """<p>x</p><script>(async () => { for (let i = 0; i < 400; i += 20)
      await Promise.allSettled(Array.from({length: 20}, (_, n) => fetch('/ask?' + (i + n)))); })()</script>"""
    with pages({"/": asking}) as site:
        result = fetch(browser, site.url())
        assert len(site.requests) == 60
    assert (result.failure, b"<p>x</p>" in result.body) == (None, True)


FLOODS = {
    "/hears": "for (let n = 0; n < 8; n++) new WebSocket(`ws://${location.host}/socket`)",
    "/follows": "new EventSource('/events')",
    "/reports": "const talk = () => { for (let n = 0; n < 200; n++) navigator.sendBeacon('/b', 'x'); setTimeout(talk) }"
    "; talk()",
    "/says": "const line = new WebSocket(`ws://${location.host}/quiet`);"
    "const talk = () => { for (let n = 0; n < 2000; n++) line.send('x'); setTimeout(talk) }; line.onopen = talk",
}


def flooding(stream: socket.socket, request: Request) -> bytes | None:
    if request.path in FLOODS:
        return response(f"<p>the words</p><script>{FLOODS[request.path]}</script>".encode())
    if request.path == "/events":
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
    elif request.path in ("/socket", "/quiet"):
        stream.sendall(upgraded(request))
    else:
        return response(b"<p>a neighbour</p>")
    with suppress(OSError):
        while request.path != "/quiet":
            stream.sendall((b"data: a\n\n" if request.path == "/events" else b"\x81\x01a") * 5000)
        while stream.recv(65536):
            pass
    return None


def test_pages_that_are_told_very_much_or_report_it_are_shown_and_no_browser_is_lost(
    chromium: Path, crawl4ai: None, tmp_path: Path
) -> None:
    with answering(flooding) as site, browser_fetcher(chromium, tmp_path, timeout_seconds=LATE) as fetcher:
        requests = [RenderRequest(site.url(path)) for path in ("/hears", "/follows", "/reports")]
        results = fetch_all(fetcher, requests, 2 * LATE)
        assert [result.failure for result in results] == [None, None, None]
        assert fetcher.stats.restarts == 0


def test_a_page_that_talks_without_end_fails_alone(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    with (
        browser_fetcher(chromium, tmp_path, "127.0.0.0/8") as fetcher,
        answering(flooding) as site,
        answering(flooding, host="127.0.0.9") as other,
    ):
        requests = [RenderRequest(url) for url in (site.url("/says"), other.url("/one"), other.url("/two"))]
        results = {result.url: result for result in fetch_all(fetcher, requests)}
    assert [results[request.url].failure for request in requests] == [Reason.TOO_LARGE, None, None]


def test_a_page_that_breaks_the_languages_own_parts_is_shown(browser: BrowserFetcher) -> None:
    breaking = (
        "Document.prototype.querySelector = () => null; Object.defineProperty(document, 'body', {get() { throw 1 }})",
        "Promise.prototype.then = () => {}; Map = Set = WeakMap = Proxy = Reflect = undefined",
        "JSON.stringify = () => { throw 1 }; Array.prototype.toJSON = () => 'x'; window.performance = null",
    )
    content = {f"/{n}": f"<p>whole</p><script>{script}</script>" for n, script in enumerate(breaking)}
    with pages(content) as site:
        results = fetch_all(browser, [FetchRequest(site.url(path)) for path in content])
    assert [(result.failure, result.error) for result in results] == [(None, "")] * 3
    assert all(b"<p>whole</p>" in result.body for result in results)


def test_a_thousand_windows_are_closed_again(hurried: BrowserFetcher) -> None:
    pids = hurried.stats.pids
    opening = "<p>x</p><script>for (let i = 0; i < 1000; i++) window.open('/w' + i)</script>"
    with pages({"/": opening, "/n": "<p>neighbour</p>"}) as site:
        (result,) = fetch_all(hurried, [FetchRequest(site.url())], LATE)
        assert result.failure in {None, Reason.TIMEOUT}
        assert fetch(hurried, site.url("/n")).failure is None
    assert _back_to_baseline(hurried, pids)


def test_a_file_is_not_saved(browser: BrowserFetcher, tmp_path_factory: pytest.TempPathFactory) -> None:
    size = 1_234_567
    saving = f"""<body><p>page</p><a id=a href=/file download>x</a><iframe src=/framed></iframe><script>a.click();
      const b = document.createElement('a'); b.href = URL.createObjectURL(new Blob(['x'.repeat({size})]));
      b.download = 'made'; b.click(); setTimeout(() => fetch('/look'), 500)</script></body>"""
    saved: list[Path] = []
    looked = threading.Event()

    def respond(stream: object, request: Request) -> bytes:
        if request.path == "/":
            return response(saving.encode())
        if request.path == "/look":  # the tab is still open: what it saved is deleted with it
            saved.extend(_files_of(size, tmp_path_factory.getbasetemp()))
            looked.set()
        return response(b"x" * size, "200 OK", "Content-Type: application/octet-stream")

    with answering(respond) as site:
        page, direct = fetch(browser, site.url()), fetch(browser, site.url("/file"))
        assert sorted(asked(site)) == ["/", "/file", "/framed", "/look"], "the file not by the page"
        assert looked.wait(LATE)
    assert b"<p>page</p>" in page.body
    assert direct.failure is Reason.CONTENT_TYPE
    assert saved == []


def _files_of(size: int, data: Path) -> list[Path]:
    """Files of this size wherever a browser might save one."""
    flat = [file for place in (Path.cwd(), Path.home() / "Downloads") if place.is_dir() for file in place.iterdir()]
    driver = Path(tempfile.gettempdir()).glob("playwright*")
    deep = [Path(folder, name) for place in (data, *driver) for folder, _, names in os.walk(place) for name in names]
    return [file for file in (*flat, *deep) if _size(file) == size]


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # a browser deletes its own files all the time
        return 0


def test_a_question_for_a_password_is_an_answer(browser: BrowserFetcher) -> None:
    with pages({"/": response(b"<p>who?</p>", "401 Unauthorized", 'WWW-Authenticate: Basic realm="x"')}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.failure) == (401, None)


def test_a_server_that_never_answers_and_a_document_without_end_are_timeouts(hurried: BrowserFetcher) -> None:
    def respond(stream: socket.socket, request: Request) -> None:
        if request.path == "/never":
            time.sleep(20)
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<body><p>first</p>")
        while True:
            stream.sendall(b"<p>more</p>")
            time.sleep(0.1)

    with answering(respond) as site:
        results = fetch_all(hurried, [FetchRequest(site.url("/never")), FetchRequest(site.url("/endless"))])
        never, endless = sorted(results, key=lambda result: result.url, reverse=True)
    assert (never.failure, never.status, never.head_at) == (Reason.TIMEOUT, 0, 0)
    assert never.sent_at > 0
    assert (endless.failure, endless.status, endless.body) == (Reason.TIMEOUT, 200, b"")


def _back_to_baseline(fetcher: BrowserFetcher, before: tuple[int, ...]) -> bool:
    """No process more than a browser without pages has."""
    most = 12
    until(lambda: all(len(living(pid)) <= most for pid in fetcher.stats.pids) and len(fetcher.stats.pids) <= 1)
    until(lambda: not any(living(pid) for pid in before if pid not in fetcher.stats.pids))
    return True


LARGE = "'x'.repeat(1e8)"
LIARS = {
    "/timers": f"<p>x</p><script>const length = {LARGE}; const filter = () => ({{length, filter}});"
    "Array.prototype.filter = filter</script>",
    "/size": "<p>x</p><script>for (const side of ['scrollWidth', 'scrollHeight'])"
    f"Object.defineProperty(document.documentElement, side, {{get: () => {LARGE}}})</script>",
}


def test_what_pages_say_of_themselves_is_never_large(browser: BrowserFetcher) -> None:
    with pages({"/": "<p>warm</p>", **LIARS}) as site:
        fetch(browser, site.url(), screenshot=True)
        for path in LIARS:
            before = time.process_time()
            found = fetch(browser, site.url(path), screenshot=True)
            assert time.process_time() - before < 1.5, path
            assert (found.failure, found.screenshot is not None) == (None, True), path


NOISE = """<body style="margin:0"><canvas width=1200 height=1000></canvas><script>
  const drawn = document.querySelector('canvas').getContext('2d'), some = drawn.createImageData(1200, 1000);
  for (let at = 0; at < some.data.length; at++) some.data[at] = at % 4 === 3 ? 255 : Math.random() * 256;
  drawn.putImageData(some, 0, 0);
</script>"""


def test_of_a_page_that_makes_a_huge_image_only_the_top_is_pictured(
    browser: BrowserFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screenshot, "MAX_BYTES", MEGABYTE)
    monkeypatch.setattr(screenshot, "PATIENCE_SECONDS", LATE)
    with pages({"/": NOISE}) as site:
        found = fetch(browser, site.url(), screenshot=True)
    assert found.screenshot is not None
    assert len(found.screenshot.image) <= MEGABYTE
    assert 100 < found.screenshot.height < 500, "as much as there is room for"
