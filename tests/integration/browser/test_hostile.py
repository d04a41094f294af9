"""Pages that want to hold, crash or fill the browser. Each fails alone, in time, and leaves nothing behind."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.adapters.browser_options import Wear
from crawler.domain.fetching import FetchRequest
from crawler.domain.reasons import Reason
from tests.integration.browser.driving import (
    BrowserFetcher,
    answering,
    asked,
    browser_fetcher,
    fetch,
    fetch_all,
    living,
    pages,
    until,
)
from tests.integration.raw_server import Request, response

DEADLINE = 6.0
LATE = 30.0
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


HANGS = {
    "endless loop": "<p>x</p><script>while (true) {}</script>",
    "alerts for ever": "<p>x</p><script>while (true) alert('again')</script>",
    "dialog while leaving": "<p>x</p><script>onbeforeunload = e => e.preventDefault(); while (true) {}</script>",
}


@pytest.mark.parametrize("html", HANGS.values(), ids=HANGS.keys())
def test_a_page_that_hangs_is_a_timeout_and_its_neighbours_are_done(hurried: BrowserFetcher, html: str) -> None:
    pids = hurried.stats.pids
    with pages({"/": html, "/n": "<p>neighbour</p>"}) as site:
        begun = time.monotonic()
        requests = [FetchRequest(site.url()), *(FetchRequest(site.url("/n")) for _ in range(6))]
        results = fetch_all(hurried, requests)
        took = time.monotonic() - begun
        by_path = {result.url: result for result in results}
    assert by_path[site.url()].failure is Reason.TIMEOUT
    assert by_path[site.url()].sent_at > 0
    assert [r.failure for r in results if r.url != site.url()] == [None] * 6
    assert took < LATE
    assert _back_to_baseline(hurried, pids)


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


def test_a_thousand_windows_are_closed_again(hurried: BrowserFetcher) -> None:
    pids = hurried.stats.pids
    opening = "<p>x</p><script>for (let i = 0; i < 1000; i++) window.open('/w' + i)</script>"
    with pages({"/": opening, "/n": "<p>neighbour</p>"}) as site:
        begun = time.monotonic()
        result = fetch(hurried, site.url())
        assert time.monotonic() - begun < LATE
        assert result.failure in {None, Reason.TIMEOUT}
        assert fetch(hurried, site.url("/n")).failure is None
    assert _back_to_baseline(hurried, pids)


def test_a_file_is_not_saved(hurried: BrowserFetcher) -> None:
    size = 1_234_567
    places = (Path.cwd(), Path.home() / "Downloads", Path(tempfile.gettempdir()))
    saving = f"""<body><p>page</p><a id=a href=/file download>x</a><iframe src=/framed></iframe><script>a.click();
      const b = document.createElement('a'); b.href = URL.createObjectURL(new Blob(['x'.repeat({size})]));
      b.download = 'made'; b.click(); setTimeout(() => fetch('/look'), 500)</script></body>"""
    saved: list[Path] = []

    def respond(stream: object, request: Request) -> bytes:
        if request.path == "/":
            return response(saving.encode())
        if request.path == "/look":
            saved.extend(f for place in places for f in place.rglob("*") if f.is_file() and f.stat().st_size == size)
        return response(b"x" * size, "200 OK", "Content-Type: application/octet-stream")

    with answering(respond) as site:
        page, direct = fetch(hurried, site.url()), fetch(hurried, site.url("/file"))
        assert sorted(asked(site)) == ["/", "/file", "/framed", "/look"], "the file not by the page"
    assert b"<p>page</p>" in page.body
    assert direct.failure is Reason.CONTENT_TYPE
    assert saved == []


def test_a_question_for_a_password_is_an_answer(hurried: BrowserFetcher) -> None:
    with pages({"/": response(b"<p>who?</p>", "401 Unauthorized", 'WWW-Authenticate: Basic realm="x"')}) as site:
        result = fetch(hurried, site.url())
    assert (result.status, result.failure) == (401, None)


def test_a_server_that_never_answers_is_a_timeout(hurried: BrowserFetcher) -> None:
    def respond(stream: object, request: object) -> None:
        time.sleep(20)

    with answering(respond) as site:
        result = fetch(hurried, site.url())
    assert result.failure is Reason.TIMEOUT
    assert result.sent_at > 0
    assert result.head_at == 0


def _back_to_baseline(fetcher: BrowserFetcher, before: tuple[int, ...]) -> bool:
    """No process more than a browser without pages has."""
    most = 12
    until(lambda: all(len(living(pid)) <= most for pid in fetcher.stats.pids) and len(fetcher.stats.pids) <= 1, 15)
    until(lambda: not any(living(pid) for pid in before if pid not in fetcher.stats.pids))
    return True
