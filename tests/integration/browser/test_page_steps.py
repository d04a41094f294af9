"""Steps before a page is read: clicks, waits and scrolls that a project declares."""

import re

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.crawls.page_steps import page_steps
from crawler.domain.reasons import Reason
from tests.integration.browser.driving import asked, fetch, pages
from tests.integration.browser.test_more_content import ADD, SCROLLED
from tests.integration.browser.two_lanes import TwoLanes

LIST = f"""<body><dialog open id=ask>Biscuits? <button class=yes onclick="ask.remove()">Yes</button></dialog>
<ul id=list></ul><p><a class=next href=/elsewhere onclick="add(); event.preventDefault()">Further</a></p>
<section id=late></section><script>{ADD} setInterval(() => {{ if (shown > 20) late.className = 'here' }})</script>"""


@pytest.mark.slow
def test_steps_are_taken_before_the_page_is_read(browser: BrowserFetcher) -> None:
    steps = page_steps(["click .yes", "click a.next up to 2 times", "wait for #late.here", "click .none if there"])
    shown = LIST.replace("<section id=late>", "<section id=late style='height: 9px'>")
    with pages({"/": shown}) as site:
        result = fetch(browser, site.url("/"), steps=steps)
    assert (result.status, result.failure) == (200, None)
    assert b"Biscuits" not in result.body
    assert len(re.findall(rb">Rope \d+<", result.body)) == 30


@pytest.mark.slow
def test_a_step_scrolls_as_often_as_it_says_and_no_further_than_the_page_grows(browser: BrowserFetcher) -> None:
    with pages({"/": SCROLLED, "/short": SCROLLED.replace("< 90", "< 20")}) as site:
        shown = [
            len(re.findall(rb">Rope \d+<", fetch(browser, site.url(path), steps=page_steps([line])).body))
            for path, line in (("/", "scroll up to 2 times"), ("/short", "scroll up to 9 times"))
        ]
    assert shown == [30, 20]


@pytest.mark.slow
def test_a_page_on_which_a_step_cannot_be_taken_is_not_read(browser: BrowserFetcher) -> None:
    with pages({"/": LIST}) as site:
        result = fetch(browser, site.url("/"), steps=page_steps(["click .yes", "wait for .never"]))
    assert (result.failure, result.unready, result.body) == (Reason.TIMEOUT, True, b"")
    assert result.error == "Step 2 (wait for .never): nothing it names was there in time."


@pytest.mark.slow
def test_a_step_leaves_the_page_where_it_is(browser: BrowserFetcher) -> None:
    with pages({"/": "<body><p>Here.</p><a id=off href=/elsewhere>Off</a>", "/elsewhere": "<p>There.</p>"}) as site:
        result = fetch(browser, site.url("/"), steps=page_steps(["click #off"]))
        assert asked(site) == ["/"]
    assert (result.status, result.location) == (200, "")
    assert b"Here." in result.body


@pytest.mark.slow
def test_steps_of_some_pages_are_taken_on_those(two_lanes: TwoLanes) -> None:
    button = "<p id=told>Closed.</p><button onclick=\"told.textContent = 'Opened.'\">Open</button>"
    words = "<p>All that one could want to know about this place, and what is sold there.</p>" * 20
    home = f"<a href=/a>A</a><a href=/b>B</a>{button}{words}"
    with pages({"/": home, "/a": button + words, "/b": button + words}) as site:
        crawl = two_lanes.crawl(
            site.url("/"), page_steps=["at /a$ click button"], delay_seconds=0, respect_robots_txt=False
        )
    assert two_lanes.methods(crawl) == {"/": "lightweight", "/a": "crawl4ai", "/b": "lightweight"}
    rows = two_lanes.rows("SELECT url, content_text FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
    opened = {row["url"].rsplit("/", 1)[1] for row in rows if "Opened." in row["content_text"]}
    assert opened == {"a"}
