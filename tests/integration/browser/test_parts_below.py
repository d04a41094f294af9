"""Parts that load when they come into view, far below what is seen of the page."""

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from tests.integration.browser.driving import asked, fetch, pages
from tests.integration.raw_server import response

pytestmark = pytest.mark.slow

TALL = "<p style='height: 900px'>Words</p>" * 4
WATCH = """<script>new IntersectionObserver(async ([seen], watch) => {
  if (!seen.isIntersecting) return;
  %s
  const part = seen.target;
  part.innerHTML = await (await fetch('/words')).text();
  part.className = '';
}).observe(document.getElementById('part'))</script>"""
ONCE, WORDS = WATCH % "watch.disconnect();", response(b"<p>the words</p>")


@pytest.mark.parametrize(
    "part",
    ["<div id=part class=skeleton></div>", "<section id=part aria-busy=true>Loading…</section>",
     "<boat-talk id=part></boat-talk>",
     """<boat-talk data='{"boat": 4}' style='display: contents'><p id=part>Talk</p></boat-talk>""",
     "<div id=part hx-get=/words></div>"],
)  # fmt: skip
def test_a_part_that_waits_to_be_seen_is_shown(browser: BrowserFetcher, part: str) -> None:
    with pages({"/": f"<body>{TALL}<h2>Talk</h2>{part}{TALL}{ONCE}</body>", "/words": WORDS}) as site:
        result = fetch(browser, site.url())
    assert b"<p>the words</p>" in result.body


def test_a_part_that_is_slow_to_begin_is_waited_for(browser: BrowserFetcher) -> None:
    """As any part is on a busy machine. Nothing tells that it has begun."""
    slow = WATCH % "watch.disconnect(); await new Promise(done => { setInterval(done, 1800) });"
    with pages({"/": f"<body>{TALL}<boat-talk id=part></boat-talk>{TALL}{slow}</body>", "/words": WORDS}) as site:
        assert b"<p>the words</p>" in fetch(browser, site.url()).body


def test_one_in_a_box_that_scrolls_is_shown(browser: BrowserFetcher) -> None:
    page = f"<body><main style='height: 100vh; overflow: auto'>{TALL}<i id=part class=spinner></i></main>{ONCE}</body>"
    with pages({"/": page, "/words": WORDS}) as site:
        assert b"<p>the words</p>" in fetch(browser, site.url()).body


def test_the_end_of_a_list_is_not_a_part(browser: BrowserFetcher) -> None:
    """It grows as often as was asked for, and so it is the same each time."""
    rows = "<article style='height: 500px'>Rope</article>" * 5
    page = f"<body><div>{rows}</div><div id=part class=spinner></div>{WATCH % ''}</body>"
    with pages({"/": page, "/words": WORDS}) as site:
        assert b"<p>the words</p>" not in fetch(browser, site.url()).body
        assert "/words" not in asked(site)
