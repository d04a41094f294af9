"""Pages that are no page of a textbook: dialogs, strange letters, navigations to nowhere, things that never end."""

import gzip
import time

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.pages.nodes import parse
from crawler.domain.reasons import Reason
from tests.integration.browser.driving import answering, asked, fetch, pages
from tests.integration.raw_server import Request, response

pytestmark = pytest.mark.slow

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


GIVEN_BACK = {
    "a task": "console.createTask('mount').run(() => after.append('after'))",
    "a console": "console.context('app').log('mount'); after.append('after')",
    "nothing": "if (console.log('mount') === undefined) after.append('after')",
}


@pytest.mark.parametrize("script", GIVEN_BACK.values(), ids=GIVEN_BACK.keys())
def test_what_a_console_gives_back_is_there_for_the_page(browser: BrowserFetcher, script: str) -> None:
    html = f"<body><p id=after></p><script type=module>{script}</script></body>"
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert b"after</p>" in result.body


NOWHERE = {
    "data": "location = 'data:text/html,<p>elsewhere</p>'",
    "mail": "location = 'mailto:somebody@example.test'",
    "a program": "location = 'intent://scan/#Intent;scheme=x;end'",
    "script": "location = 'javascript:void 0'",
    "a file": "location = 'file:///etc/passwd'",
    "the browser": "location = 'chrome://version'",
    "nothing": "location = 'about:blank'",
    "nothing, later": "setTimeout(() => location.replace('about:blank'), 200)",
    "nothing, by a link": "Object.assign(document.createElement('a'), {href: 'about:blank'}).click()",
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


def test_text_in_a_closed_shadow_root_is_part_of_the_page(browser: BrowserFetcher) -> None:
    html = """<body><my-price></my-price><script>customElements.define('my-price', class extends HTMLElement {
      #root = this.attachShadow({mode: 'closed'});
      connectedCallback() { this.#root.innerHTML = `<p>${7 * 17} crowns</p>`; }
    });
    try { document.body.attachShadow({mode: 'odd'}); } catch (error) { document.title = error.name; }
    </script></body>"""
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert b"<p>119 crowns</p>" in result.body
    assert b"<title>TypeError</title>" in result.body, "what the browser refuses is refused"


def test_text_beside_a_shadow_root_stays_text(browser: BrowserFetcher) -> None:
    """Where a page explains markup, its text must not become markup: what follows would be lost."""
    html = """<body><my-card><i>in &amp; out</i></my-card><p>Write &lt;script&gt; or &lt;!-- here</p><p>the rest</p>
      <pre>&lt;b&gt;</pre><p title="&lt;i&gt; &quot;a&quot;">5 &lt; 6</p><script>customElements.define('my-card',
      class extends HTMLElement { constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML =
        '<style>p { color: red }</style><p>a &lt;b&gt;</p><slot>none</slot><slot name=more>fallback &lt;i&gt;</slot>';
      } }); if (1 < 2 && 3 > 2) document.title = 'a < b';</script></body>"""
    with pages({"/": html}) as site:
        body = fetch(browser, site.url()).body.decode()
    said = parse(body.encode()).body
    assert said is not None
    words = " ".join(said.text(separator=" ").split())
    assert words.startswith("a <b> in & out fallback <i> Write <script> or <!-- here the rest <b> 5 < 6")
    assert "1 < 2 && 3 > 2" in body
    assert body.count("color: red") == 1, "in the script alone"
    assert "<title>a &lt; b</title>" in body


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


def test_a_small_answer_that_unpacks_to_a_huge_one_is_not_kept(browser: BrowserFetcher) -> None:
    bomb = response(gzip.compress(b"<body>" + b"x" * 2_000_000), "200 OK", "Content-Encoding: gzip")
    with pages({"/": bomb, "/n": "<p>next</p>"}) as site:
        result = fetch(browser, site.url(), max_body_bytes=200_000)
        assert (result.failure, result.truncated, len(result.body)) == (Reason.TOO_LARGE, True, 200_000)
        assert fetch(browser, site.url("/n")).failure is None


def test_a_page_that_puts_nothing_in_its_place_is_not_kept_as_an_empty_one(browser: BrowserFetcher) -> None:
    """However it got there: past our own script it must not come either."""
    html = "<body><p>x</p><script>open('about:blank', '_self')</script></body>"
    with pages({"/": html}) as site:
        result = fetch(browser, site.url())
    assert b"<p>x</p>" in result.body or result.failure is Reason.PROTOCOL


AHEAD = {
    "hints": """<link rel=prefetch href=/a><link rel=dns-prefetch href=//b.test><link rel=prerender href=/c>
      <link rel=next href=/d><link rel=preload as=fetch href=/e><link rel=prefetch as=document href=/f>""",
    "rules": """<script type=speculationrules>{
      "prefetch": [{"urls": ["/g"], "eagerness": "immediate"}, {"where": {"href_matches": "/*"}, "eagerness": "eager"}],
      "prerender": [{"urls": ["/h"], "eagerness": "immediate"}]}</script>""",
    "rules by a script": """<script>
      const rules = t => Object.assign(document.createElement('script'), {type: 'speculationrules', textContent: t});
      document.head.append(rules('{"prefetch": [{"urls": ["/s"], "eagerness": "immediate"}]}'));
      const box = document.createElement('div');
      box.append(rules('{"prerender": [{"urls": ["/t"], "eagerness": "immediate"}]}'));
      document.body.append(box)</script>""",
    "scripts": """<script>
      window.open('/i'); navigator.sendBeacon('/j', 'x'); a.click();
      Object.assign(document.createElement('a'), {href: '/k', target: '_blank'}).click();
      new Image().src = '/l'; for (let i = 0; i < 50; i++) window.open('/m' + i, 'w' + i)</script>""",
}


@pytest.mark.parametrize("more", AHEAD.values(), ids=AHEAD.keys())
def test_other_pages_are_not_asked_for_ahead_of_anybodys_wish(browser: BrowserFetcher, more: str) -> None:
    html = f"""<body><p>x</p><a id=a href=#x ping=/ping>1</a><a href=/n>n</a>{more}
      <script>setTimeout(() => document.body.append('done'), 700)</script></body>"""
    by_header = response(html.encode(), "200 OK", "Link: </o>; rel=prefetch, </p>; rel=prerender",
                         'Speculation-Rules: "/q"')  # fmt: skip
    rules = response(b'{"prefetch": [{"urls": ["/r"], "eagerness": "immediate"}]}', "200 OK",
                     "Content-Type: application/speculationrules+json")  # fmt: skip
    with pages({"/": html, "/headed": by_header, "/q": rules}) as site:
        results = [fetch(browser, site.url(path)) for path in ("/", "/headed")]
        assert [path for path in asked(site) if path != "/e"] == ["/", "/headed"], "/e is a part of the page"
    assert all(b"done" in result.body for result in results)


def test_a_connection_is_not_made_ahead_either(browser: BrowserFetcher) -> None:
    with pages({}) as other:
        hint = f"<link rel=preconnect href='{other.url()}'><link rel=preconnect href='https://127.0.0.1:{other.port}'>"
        with pages({"/": f"<head>{hint}</head><body><p>x</p></body>"}) as site:
            fetch(browser, site.url())
        assert other.connections == 0
