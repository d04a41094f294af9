"""Lists that grow when one scrolls to their end or presses the button below them."""

import re

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from tests.integration.browser.driving import fetch, pages

ADD = """let shown = 0;
const item = () => `<article style="height: 300px">Rope ${++shown}</article>`;
const add = () => { for (let n = 0; n < 10; n++) list.insertAdjacentHTML('beforeend', item()); };
add();"""
GROW = "new IntersectionObserver(([seen]) => seen.isIntersecting && shown < 90 && setTimeout(add, 100)).observe(end)"
SCROLLED = f"<body><div id=list></div><div id=end>.</div><script>{ADD} {GROW}</script>"
PRESSED = f"""<body><header><button onclick="list.innerHTML = ''">Clear</button></header><div id=list></div>
<div class=below><button onclick="setTimeout(add, 100)">…</button></div>
<form><button type=button onclick="list.innerHTML = ''">Reset</button></form><script>{ADD}</script>"""
LEADS_AWAY = PRESSED.replace("setTimeout(add, 100)", "location.href = '/elsewhere'")
ANOTHER_VIEW = PRESSED.replace(
    "setTimeout(add, 100)", "history.pushState(0, '', '/cart'); document.body.innerHTML = 'Cart'"
)


def shown(browser: BrowserFetcher, html: str, scrolls: int) -> int:
    with pages({"/": html}) as site:
        result = fetch(browser, site.url("/"), scrolls=scrolls)
    assert (result.status, result.failure) == (200, None)
    return len(re.findall(rb">Rope \d+<", result.body))


@pytest.mark.slow
@pytest.mark.parametrize(
    "html", [pytest.param(SCROLLED, marks=pytest.mark.slow, id="scrolled"), pytest.param(PRESSED, id="pressed")]
)
def test_a_list_grows_as_often_as_was_asked_for(browser: BrowserFetcher, html: str) -> None:
    assert shown(browser, html, 0) == 10
    assert shown(browser, html, 2) == 30


@pytest.mark.slow
@pytest.mark.parametrize("html", [LEADS_AWAY, ANOTHER_VIEW], ids=["leads away", "another view"])
def test_a_button_that_shows_something_else_leaves_the_page_as_it_was(browser: BrowserFetcher, html: str) -> None:
    assert shown(browser, html, 3) == 10


@pytest.mark.slow
def test_a_list_without_end_ends_with_what_was_asked_for(browser: BrowserFetcher) -> None:
    assert 10 < shown(browser, SCROLLED.replace("shown < 90", "true"), 4) <= 60


@pytest.mark.slow
def test_a_browser_waits_once_more_as_long_as_was_asked_for(browser: BrowserFetcher) -> None:
    late = "<body><p>At once.</p><script>let n = 0; setInterval(() => { if (++n == 60) add() }, 100); </script>"
    late += "<div id=list></div><script>function add() { document.body.append('Rather' + ' late') }</script>"
    with pages({"/": late}) as site:
        assert b"Rather late" not in fetch(browser, site.url("/")).body
        assert b"Rather late" in fetch(browser, site.url("/"), wait_seconds=9.0).body
