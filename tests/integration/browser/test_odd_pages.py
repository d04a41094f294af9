"""Pages that are no page of a textbook: dialogs, strange letters, navigations to nowhere, things that never end."""

import gzip
import time

import pytest

from crawler.domain.reasons import Reason
from tests.integration.browser.driving import BrowserFetcher, answering, asked, fetch, pages
from tests.integration.raw_server import Request, response

DIALOGS = {
    "alert": "alert('hello')",
    "confirm": "confirm('sure?')",
    "prompt": "prompt('who?')",
    "print": "print()",
    "question before leaving": "addEventListener('beforeunload', e => { e.preventDefault(); e.returnValue = 'stay' })",
    "permission": "Notification.requestPermission(); navigator.geolocation.getCurrentPosition(() => {})",
    "full screen": "document.documentElement.requestFullscreen().catch(() => {})",
}


@pytest.mark.parametrize("script", DIALOGS.values(), ids=DIALOGS.keys())
def test_a_dialog_does_not_hold_the_page(browser: BrowserFetcher, script: str) -> None:
    html = f"<body><p>before</p><script>{script}</script><p id=after></p><script>after.append('after')</script></body>"
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert result.failure is None
    assert b"after</p>" in result.body


NOWHERE = {
    "data": "location = 'data:text/html,<p>elsewhere</p>'",
    "mail": "location = 'mailto:somebody@example.test'",
    "a program": "location = 'intent://scan/#Intent;scheme=x;end'",
    "script": "location = 'javascript:void 0'",
    "a file": "location = 'file:///etc/passwd'",
    "the browser": "location = 'chrome://version'",
    "back": "history.back()",
    "far back": "history.pushState({}, '', '?step'); history.go(-5); history.back(); history.back()",
}


@pytest.mark.parametrize("script", NOWHERE.values(), ids=NOWHERE.keys())
def test_a_page_that_leads_to_no_web_address_stays_the_page(browser: BrowserFetcher, script: str) -> None:
    with pages({"/": f"<body><p>the page</p><script>{script}</script></body>"}) as site:
        result = fetch(browser, site.url())
    assert (result.failure, result.status, result.location) == (None, 200, "")
    assert b"<p>the page</p>" in result.body
    assert b"root:" not in result.body


def test_a_document_that_a_page_makes_of_its_own_is_the_page(browser: BrowserFetcher) -> None:
    blob = "location = URL.createObjectURL(new Blob(['<p>made here</p>'], {type: 'text/html'}))"
    written = "document.open(); document.write('<p>made here</p>'); document.close()"
    with pages(
        {"/blob": f"<script>{blob}</script>", "/written": f"<script>onload = () => {{ {written} }}</script>"}
    ) as site:
        for path in ("/blob", "/written"):
            result = fetch(browser, site.url(path))
            assert (result.failure, result.status, result.location) == (None, 200, "")
            assert b"<p>made here</p>" in result.body


@pytest.mark.parametrize(
    ("charset", "head"),
    [
        ("windows-1251", "Content-Type: text/html; charset=windows-1251"),
        ("shift_jis", "Content-Type: text/html"),
        ("utf-16-le", "Content-Type: text/html; charset=utf-16le"),
    ],
)
def test_any_letters_come_as_utf_8(browser: BrowserFetcher, charset: str, head: str) -> None:
    text = "Привет, мир"
    html = f"<meta charset={charset}><body><p>{text}</p></body>".encode(charset)
    with pages({"/": response(html, "200 OK", head)}) as site:
        result = fetch(browser, site.url())
    assert text in result.body.decode()
    assert result.content_type == "text/html; charset=utf-8"


def test_half_a_letter_does_not_break_the_page(browser: BrowserFetcher) -> None:
    with pages({"/": r"<body><p>whole</p><script>document.body.append('\ud800')</script></body>"}) as site:
        assert b"<p>whole</p>" in fetch(browser, site.url()).body


def test_text_in_shadow_roots_is_part_of_the_page(browser: BrowserFetcher) -> None:
    html = """<body><my-card>light</my-card><script>customElements.define('my-card', class extends HTMLElement {
      constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow</p><a href=/s>s</a>'; }
    })</script></body>"""
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert b"<p>in the shadow</p>" in result.body
    assert b'<a href="/s">' in result.body


def test_a_hidden_body_is_a_page_and_nothing_is_said_about_it(
    browser: BrowserFetcher, capfd: pytest.CaptureFixture[str]
) -> None:
    with pages({"/": "<body style='display: none'><p>cloaked</p></body>"}) as site:
        assert b"<p>cloaked</p>" in fetch(browser, site.url()).body
    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_script_that_never_comes_does_not_hold_what_is_there(browser: BrowserFetcher) -> None:
    def respond(stream: object, request: Request) -> bytes | None:
        if request.path == "/never.js":
            time.sleep(60)
            return None
        return response(b"<body><p>above</p><script src=/never.js></script><p>below</p></body>")

    with answering(respond) as site:
        result = fetch(browser, site.url())
    assert result.failure is None
    assert b"<p>above</p>" in result.body


def test_a_document_without_end_is_a_timeout(browser: BrowserFetcher) -> None:
    def drip(stream: object, request: Request) -> None:
        stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<body><p>first</p>")  # type: ignore[attr-defined]
        while True:
            stream.sendall(b"<p>more</p>")  # type: ignore[attr-defined]
            time.sleep(0.1)

    with answering(drip) as site:
        result = fetch(browser, site.url())
    assert result.failure is Reason.TIMEOUT
    assert (result.status, result.body) == (200, b"")


def test_a_small_answer_that_unpacks_to_a_huge_one_is_not_kept(browser: BrowserFetcher) -> None:
    bomb = response(gzip.compress(b"<body>" + b"x" * 2_000_000), "200 OK", "Content-Encoding: gzip")
    with pages({"/": bomb, "/n": "<p>next</p>"}) as site:
        result = fetch(browser, site.url(), max_body_bytes=200_000)
        assert (result.failure, result.truncated, len(result.body)) == (Reason.TOO_LARGE, True, 200_000)
        assert fetch(browser, site.url("/n")).failure is None


def test_other_pages_are_not_asked_for_ahead_of_anybodys_wish(browser: BrowserFetcher) -> None:
    html = """<head><link rel=prefetch href=/prefetched><link rel=dns-prefetch href=//elsewhere.test></head>
      <body><p>x</p><a id=a href=#x ping=/ping></a><script>
      window.open('/opened'); navigator.sendBeacon('/beacon', 'x'); a.click();
      Object.assign(document.createElement('a'), {href: '/linked', target: '_blank'}).click();
      document.body.append('done')</script></body>"""
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert b"done" in result.body
    assert asked(site) == ["/"]
