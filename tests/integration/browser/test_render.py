"""What comes back from a page that a browser has shown."""

import socket
import threading
import time
from pathlib import Path

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.reasons import Reason
from crawler.domain.rendering.rendered_page import RenderedPage
from tests.integration.browser.driving import (
    VISIT_SECONDS,
    answering,
    asked,
    browser_fetcher,
    fetch,
    fetch_all,
    pages,
)
from tests.integration.certificates import Authority
from tests.integration.raw_server import Request, response, serving

pytestmark = pytest.mark.slow

APP = """<!doctype html><html lang=en><head><title>shell</title></head><body><div id=root></div><script>
fetch('/api').then(r => r.json()).then(data => {
  document.title = data.title;
  root.innerHTML = '<h1>' + data.title + '</h1><p>' + data.text + '</p><a href="/next?page=2">next</a>';
});</script></body></html>"""
API = response(
    b'{"title": "Built", "text": "by scripts \xc3\xa9\xe2\x82\xac"}', "200 OK", "Content-Type: application/json"
)


def test_a_page_built_by_scripts_comes_as_it_stands_afterwards(browser: BrowserFetcher) -> None:
    with pages({"/": APP, "/api": API}) as site:
        before = time.time()
        result = fetch(browser, site.url())
        told = [row for row in browser.sent() if row[0] is result.request]
    html = result.body.decode()
    assert result.failure is None
    assert result.status == 200
    assert result.url == site.url()
    assert result.content_type == "text/html; charset=utf-8"
    assert "<h1>Built</h1><p>by scripts é€</p>" in html
    assert '<a href="/next?page=2">' in html
    assert "<title>Built</title>" in html
    assert result.address == "127.0.0.1"
    assert before <= result.sent_at <= result.head_at <= time.time()
    assert 0 < result.elapsed_seconds < VISIT_SECONDS
    assert told == [(result.request, result.sent_at)]


def test_an_empty_page_is_given_time_to_fill_itself(browser: BrowserFetcher) -> None:
    late = "<body><script>setTimeout(() => document.body.innerHTML = '<p>late</p>', 1500)</script></body>"
    with pages({"/": late}) as site:
        assert b"<p>late</p>" in fetch(browser, site.url()).body


def test_a_page_that_never_rests_is_taken_as_it_is(browser: BrowserFetcher) -> None:
    clock = "<body><p id=c>tick</p><script>setInterval(() => c.textContent = 'tick ' + Date.now(), 20)</script></body>"
    with pages({"/": clock}) as site:
        result = fetch(browser, site.url())
    assert result.failure is None
    assert b"tick " in result.body


def test_a_request_that_never_ends_does_not_hold_the_page_for_ever(browser: BrowserFetcher) -> None:
    def respond(stream: object, request: object) -> bytes | None:
        if request.path == "/poll":  # type: ignore[attr-defined]
            time.sleep(30)
            return None
        return response(b"<body><p>here</p><script>fetch('/poll')</script></body>")

    with answering(respond) as site:
        result = fetch(browser, site.url())
    assert result.failure is None
    assert b"<p>here</p>" in result.body


def test_the_answers_own_status_and_headers_are_reported(browser: BrowserFetcher) -> None:
    statuses = {
        "/404": "404 Not Found",
        "/410": "410 Gone",
        "/500": "500 Oh",
        "/429": "429 Slow Down",
        "/403": "403 No",
    }
    answers = {path: response(b"<p>no</p>", status, "Retry-After: 7") for path, status in statuses.items()}
    with pages(answers) as site:
        results = fetch_all(browser, [FetchRequest(site.url(path)) for path in statuses])
    assert {r.url.rpartition("/")[2]: r.status for r in results} == {p[1:]: int(p[1:]) for p in statuses}
    assert {r.headers["retry-after"] for r in results} == {"7"}
    assert {r.failure for r in results} == {None}


def test_a_refusal_without_a_word_is_the_sites_answer_and_no_fault_of_the_connection(browser: BrowserFetcher) -> None:
    with pages({"/": response(b"", "403 No", "Retry-After: 7")}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.failure, result.body) == (403, None, b"")
    assert result.headers["retry-after"] == "7"


def test_the_next_visit_knows_nothing_of_the_last(browser: BrowserFetcher) -> None:
    counting = """<body><script>
      const n = 1 + Number(localStorage.n || 0); localStorage.n = n; document.cookie = 'n=' + n + '; max-age=999';
      document.body.append('visit ' + n + ' ' + document.cookie)</script></body>"""
    with pages({"/": counting}) as site:
        for _ in range(2):
            assert b"visit 1 n=1" in fetch(browser, site.url()).body
        assert not any("cookie" in request.headers for request in site.requests)


def test_another_type_is_judged_before_its_body(browser: BrowserFetcher) -> None:
    with pages({"/a.pdf": response(b"%PDF-1.4", "200 OK", "Content-Type: application/pdf")}) as site:
        result = fetch(browser, site.url("/a.pdf"))
    assert result.failure is Reason.CONTENT_TYPE
    assert (result.status, result.content_type, result.body) == (200, "application/pdf", b"")


def test_a_text_that_was_asked_for_is_left_to_the_light_lane(browser: BrowserFetcher) -> None:
    """A browser would put it into a document of its own."""
    with pages({"/a.txt": response(b"plain <b>", "200 OK", "Content-Type: text/plain")}) as site:
        result = fetch(browser, site.url("/a.txt"), accept_types=("text/plain",))
    assert isinstance(result, RenderedPage)
    assert (result.is_file, result.content_type) == (True, "text/plain")


def test_html_meant_to_be_saved_is_shown_instead(browser: BrowserFetcher) -> None:
    saved = response(b"<p>attached</p>", "200 OK", "Content-Disposition: attachment; filename=a.html")
    with pages({"/": saved}) as site:
        assert b"attached" in fetch(browser, site.url()).body


def test_a_frameset_is_not_waited_for(browser: BrowserFetcher) -> None:
    with pages({"/": "<html><frameset cols=*><frame src=/f></frameset></html>", "/f": "<p>framed</p>"}) as site:
        result = fetch(browser, site.url())
    assert b"<frameset" in result.body


def test_a_document_that_grows_too_large_is_cut(browser: BrowserFetcher) -> None:
    growing = "<body><script>document.body.append('x'.repeat(300000))</script></body>"
    with pages({"/": growing, "/sent": "y" * 300_000}) as site:
        rendered = fetch(browser, site.url(), max_body_bytes=200_000)
        sent = fetch(browser, site.url("/sent"), max_body_bytes=200_000)
    assert (rendered.failure, rendered.truncated, len(rendered.body)) == (Reason.TOO_LARGE, True, 200_000)
    assert sent.failure is Reason.TOO_LARGE


def test_the_projects_headers_go_to_its_own_origin_only(browser: BrowserFetcher) -> None:
    with pages({"/x.js": response(b"", "200 OK", "Content-Type: text/javascript")}) as other:
        html = f"<body><p>hi</p><script src='{other.url('/x.js')}'></script><script src='/own.js'></script></body>"
        with pages({"/": html, "/own.js": response(b"", "200 OK", "Content-Type: text/javascript")}) as site:
            fetch(browser, site.url(), headers=(("X-Token", "s3cret"),), etag='"e"')
    assert [request.headers.get("x-token") for request in site.requests] == ["s3cret", "s3cret"]
    assert [request.headers.get("x-token") for request in other.requests] == [None]
    assert not any("if-none-match" in request.headers for request in site.requests)
    assert {request.headers["user-agent"] for request in (*site.requests, *other.requests)} == {
        "crawler-test/1 (+https://example.test/bot)"
    }


def test_a_strangers_frame_does_not_speak_with_the_projects_headers(browser: BrowserFetcher) -> None:
    framed = "<script>fetch('{}/from-frame', {{mode: 'no-cors', method: 'POST', body: 'x'}})</script>"
    with (
        answering(lambda *_: response(framed.format(site.url("")).encode())) as other,
        pages({"/": f"<body><p>hi</p><iframe src='{other.url()}'></iframe></body>"}) as site,
    ):
        fetch(browser, site.url(), headers=(("X-Token", "s3cret"),))
    assert {request.path: request.headers.get("x-token") for request in site.requests} == {
        "/": "s3cret",
        "/from-frame": None,
    }
    assert not any("x-token" in request.headers for request in other.requests)


def test_images_and_fonts_are_loaded_for_a_picture_only(browser: BrowserFetcher) -> None:
    html = """<style>@font-face {font-family: f; src: url(/f.woff2)} p {font-family: f}</style>
      <body style="height: 3000px"><p>text</p><img src=/i.png></body>"""
    with pages({"/": html}) as site:
        plain = fetch(browser, site.url())
        assert asked(site) == ["/"]
        pictured = fetch(browser, site.url(), screenshot=True)
    assert {"/f.woff2", "/i.png"} <= set(asked(site))
    assert plain.screenshot is None
    assert pictured.screenshot is not None
    assert pictured.screenshot.image.startswith(b"\x89PNG")
    assert pictured.screenshot.thumbnail.startswith(b"\x89PNG")
    assert len(pictured.screenshot.thumbnail) < len(pictured.screenshot.image)
    assert pictured.screenshot.height >= 3000


def test_pages_are_shown_side_by_side_up_to_the_number_of_tabs(browser: BrowserFetcher) -> None:
    four, counting, now, most = threading.Barrier(4), threading.Lock(), 0, 0

    def respond(stream: object, request: Request) -> bytes:
        nonlocal now, most
        with counting:
            now, most = now + 1, max(most, now + 1)
        if request.path != "/4":
            four.wait(VISIT_SECONDS - 1)  # nobody is answered before the fourth has come
        with counting:
            now -= 1
        return response(b"<p>slow</p>")

    with answering(respond) as site:
        results = fetch_all(browser, [FetchRequest(site.url(f"/{n}")) for n in range(5)])
    assert [r.failure for r in results] == [None] * 5
    assert most == 4


def test_a_request_whose_turn_is_over_is_not_sent(browser: BrowserFetcher) -> None:
    with pages({"/": "<p>x</p>"}) as site:
        result = fetch(browser, site.url(), start_by=time.monotonic() - 1)
    assert result.failure is Reason.TIMEOUT
    assert result.sent_at == 0
    assert asked(site) == []


def test_what_was_abandoned_has_no_result(browser: BrowserFetcher) -> None:
    with pages({"/": "<p>x</p>"}) as site:
        for _ in range(6):
            browser.submit(FetchRequest(site.url()))
        browser.abandon()
        assert browser.active == 0
        assert browser.poll(1) == []
        assert fetch(browser, site.url()).failure is None


def test_why_nothing_came_is_told_in_the_light_lanes_words(browser: BrowserFetcher, tmp_path: Path) -> None:
    def hang_up(stream: object, request: object) -> None:
        return None

    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    certificate = Authority.create(tmp_path).context("localhost", self_signed=True)
    with answering(hang_up) as silent, serving(lambda *_: response(), tls=certificate) as secure:
        reasons = {
            "http://no-such-host.invalid/": Reason.DNS,
            f"http://127.0.0.1:{free}/": Reason.CONNECT,
            f"https://127.0.0.1:{free}/": Reason.CONNECT,
            silent.url(): Reason.CONNECT,
            secure.url(): Reason.TLS,
            "http://10.0.0.1/": Reason.EGRESS,
        }
        results = fetch_all(browser, [FetchRequest(url) for url in reasons])
    assert {result.url: result.failure for result in results} == reasons
    assert all(result.error for result in results)


def test_a_page_comes_over_tls(chromium: Path, crawl4ai: None, tmp_path: Path) -> None:
    """Chromium trusts its own authorities only; for the test it is told to trust anybody."""
    flags, names = ("--ignore-certificate-errors",), {"secure.test": ["127.0.0.1"]}
    certificate = Authority.create(tmp_path).context("secure.test")
    with (
        serving(lambda *_: response(b"<p>safe</p>"), tls=certificate) as site,
        browser_fetcher(chromium, tmp_path, flags=flags, resolve=names) as fetcher,
    ):
        result = fetch(fetcher, site.url("/a", host="secure.test"), headers=(("X-Token", "s3cret"),))
    assert b"<p>safe</p>" in result.body
    assert result.address == "127.0.0.1"
    assert 0 < result.sent_at <= result.head_at
    assert [request.headers["x-token"] for request in site.requests] == ["s3cret"]
