"""A page whose scripts did not get their data is not the page: it is not told as changed, nor again when it is back."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, Server, response, serving

pytestmark = pytest.mark.slow

SHELL = """<!doctype html><html><head><title>%s</title></head><body><h1>%s</h1>
<p>The shop of the old harbour sells lamps of all kinds</p><p>Open on all days but Sundays from nine to five</p>
<div id=list></div><script>
fetch('/api/me').catch(() => 0); fetch('/api/extra').catch(() => 0);
const json = {headers: {Accept: 'application/json'}};
fetch('/api%s', json).then(r => r.ok ? r.json() : {lines: ['Nothing to show.'], links: []}).then(data => {
  list.innerHTML = data.lines.map(line => '<p>' + line + '</p>').join('')
    + data.links.map(link => '<a href="' + link + '">' + link + '</a>').join('');
});</script></body></html>"""
SCRIPT = '<div id=talk></div><script src="/talk.js"></script>'
TALK = "talk.innerHTML = '<p>I bought this lamp and it gives much light in the evening.</p>'.repeat(5);"
ROUTER = SCRIPT.replace(" src", """ type=module onerror="history.replaceState(0, '', '/')" src""")
"""The way of applications in one page: where the script of a view does not come, they go back to the first page."""
NO_SUCH_FILE = "a page"
"""What many servers of applications send for every path that they do not know: the first page."""
JSON = "Content-Type: application/json"


class Shop:
    """Every page asks who is there, and is told that nobody is."""

    def __init__(self) -> None:
        self.trouble: str | None = None
        self.down = {"/api/a", "/api/b"}
        self.script = "200 OK"
        """How the script answers that writes what visitors say of the first lamp."""
        self.views = SCRIPT
        self.extra = "404 Not Found"
        self.lines = {name: [f"The {name} lamp number {n} of the old harbour" for n in range(9)] for name in "ab"}

    def __call__(self, _: object, request: Request) -> bytes | None:
        path = request.path
        if path == "/api/me":
            return response(b"{}", "401 Unauthorized", JSON)
        if path == "/api/extra":
            return response(b"{}", self.extra, JSON)
        if path.startswith("/api/"):
            return self._data(path)
        if path == "/talk.js":
            if self.script == NO_SUCH_FILE:
                return response(b"<!doctype html><title>home</title><div id=talk></div>", "200 OK")
            return response(TALK.encode(), self.script, "Content-Type: text/javascript")
        name = path.strip("/") or "home"
        if name not in ("home", "a", "b"):
            return response(b"", "404 Not Found")
        return response((SHELL % (name, name, path) + (self.views if name == "a" else "")).encode())

    def _data(self, path: str) -> bytes | None:
        if (trouble := self.trouble) and path in self.down:
            time.sleep(20 if trouble == "silent" else 0)
            if trouble == NO_SUCH_FILE:
                return response(b"<!doctype html><title>home</title><p>Being upgraded")
            return response(b"{}", trouble, JSON) if trouble[0].isdigit() else None
        all_lamps = [f"Lamp {n} of the shop is on its own page" for n in range(9)]
        lines = self.lines.get(path.removeprefix("/api/"), all_lamps)
        links = ["/a", "/b"] if path == "/api/" else []
        return response(json.dumps({"lines": lines, "links": links}).encode(), "200 OK", JSON)


@contextmanager
def shop() -> Iterator[tuple[Shop, Server]]:
    site = Shop()
    with serving(site) as server:
        yield site, server


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def changed(crawl: CrawlJob) -> list[str]:
    return sorted("/" + url.rpartition("/")[2] for url in told(crawl)["changed_page_urls"])


def crawl_text(two_lanes: TwoLanes, crawl: CrawlJob, path: str) -> str:
    rows = two_lanes.rows("SELECT url, content_text FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
    return next(str(row["content_text"]) for row in rows if row["url"].endswith(path))


@pytest.mark.parametrize(
    "trouble",
    [
        "503 Busy",
        NO_SUCH_FILE,
        pytest.param("closed", marks=pytest.mark.long),
        pytest.param("401 Unauthorized", marks=pytest.mark.long),
        pytest.param("silent", marks=pytest.mark.long),
    ],
)
def test_a_page_without_its_data_is_not_compared(two_lanes: TwoLanes, trouble: str) -> None:
    with shop() as (site, server):
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.trouble = trouble
        for _ in range(2):
            crawl = two_lanes.again(crawl, seconds=120)
            assert (changed(crawl), told(crawl)["summary"]["removed_pages"]) == ([], 0)
            assert (told(crawl)["coverage"]["expected"], told(crawl)["coverage"]["compared"]) == (3, 1)
            assert told(crawl)["coverage"]["sentence"]
        site.trouble = None
        site.lines["a"][3] = "The lamp number three was sold"
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"], "what was edited meanwhile is told"


def test_a_first_page_without_its_data_leads_where_it_led(two_lanes: TwoLanes) -> None:
    with shop() as (site, server):
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.trouble, site.down = "500 Oops", {"/api/"}
        site.lines["a"][3] = "The lamp number three was sold"
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"]
        assert told(crawl)["coverage"]["compared"] == 2


def test_what_never_answered_is_no_reason_not_to_compare(two_lanes: TwoLanes) -> None:
    with shop() as (site, server):
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.lines["a"] = ["All lamps are sold"]
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"]


def test_a_page_that_shows_as_much_without_some_data_is_compared(two_lanes: TwoLanes) -> None:
    with shop() as (site, server):
        site.extra = "200 OK"
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.extra = "500 Oops"
        site.lines["a"][3] = "The a lamp number three was sold to the harbour"
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"]


def test_a_few_words_that_did_not_come_are_no_edit_for_two_crawls(two_lanes: TwoLanes) -> None:
    """The talk below the lamps has less than a fifth of the words. Who knows whether it was edited?"""
    with shop() as (site, server):
        site.lines["a"] += [f"Words number {n} about the lamps of the old harbour and its light" for n in range(40)]
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.script = "503 Busy"
        for _ in range(2):
            crawl = two_lanes.again(crawl)
            assert (changed(crawl), told(crawl)["coverage"]["compared"]) == ([], 2)
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"], "it stays so, and is told"
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == []


def test_data_that_fails_once_is_asked_for_again(two_lanes: TwoLanes) -> None:
    """The first crawl is spared, too: what it misses would be told as new by the next."""
    with shop() as (site, _):
        failing = {"/api/a", "/api/b"}

        def respond(stream: object, request: Request) -> bytes | None:
            if request.path in failing:
                failing.discard(request.path)
                return response(b"{}", "502 Oops", JSON)
            return site(stream, request)

        with serving(respond) as flaky:
            crawl = two_lanes.crawl(flaky.url(), render="always", use_sitemaps=False)
            for _ in range(2):
                failing |= {"/api/a", "/api/b"}
                crawl = two_lanes.again(crawl)
                assert (changed(crawl), told(crawl)["coverage"]["compared"]) == ([], 3)
            assert "lamp number 3" in crawl_text(two_lanes, crawl, "/a")


@pytest.mark.parametrize("answer", ["503 Busy", NO_SUCH_FILE, pytest.param("404 Not Found", marks=pytest.mark.long)])
def test_a_page_without_its_script_is_not_compared(two_lanes: TwoLanes, answer: str) -> None:
    with shop() as (site, server):
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.script = answer
        crawl = two_lanes.again(crawl)
        assert (changed(crawl), told(crawl)["coverage"]["compared"]) == ([], 2)
        site.script = "200 OK"
        site.lines["a"][3] = "The lamp number three was sold"
        crawl = two_lanes.again(crawl)
        assert changed(crawl) == ["/a"]


def test_a_page_without_a_script_that_is_not_there_any_more_is_told_in_the_third_crawl(two_lanes: TwoLanes) -> None:
    with shop() as (site, server):
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.script = "404 Not Found"
        for expected in ([], [], ["/a"], []):
            crawl = two_lanes.again(crawl)
            assert changed(crawl) == expected


@pytest.mark.parametrize("answer", ["404 Not Found", NO_SUCH_FILE, pytest.param("500 Oops", marks=pytest.mark.long)])
def test_a_page_that_leads_elsewhere_for_want_of_its_script_has_not_moved(two_lanes: TwoLanes, answer: str) -> None:
    with shop() as (site, server):
        site.views = ROUTER
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.script = answer
        for _ in range(2):
            crawl = two_lanes.again(crawl)
            assert (changed(crawl), told(crawl)["summary"]["removed_pages"]) == ([], 0)
            assert told(crawl)["coverage"]["sentence"]
        site.script = "200 OK"
        site.lines["a"][3] = "The lamp number three was sold"
        crawl = two_lanes.again(crawl)
        assert (changed(crawl), told(crawl)["summary"]["new_pages"]) == (["/a"], 0), "what was edited meanwhile is told"


def test_a_page_that_goes_on_leading_elsewhere_without_its_script_is_told(two_lanes: TwoLanes) -> None:
    with shop() as (site, server):
        site.views = ROUTER
        crawl = two_lanes.crawl(server.url(), render="always", use_sitemaps=False)
        site.script = "404 Not Found"
        for expected in (0, 0, 1, 0):
            crawl = two_lanes.again(crawl)
            assert told(crawl)["summary"]["removed_pages"] == expected
