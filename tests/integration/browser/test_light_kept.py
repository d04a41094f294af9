"""A page that can be had without a browser is not lost because the browser cannot show it."""

import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.browser.driving import asked
from tests.integration.browser.test_two_passes import LATE_SECONDS, TEXT, light, shell
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, Respond, response, serving

pytestmark = pytest.mark.slow

HANG = "<body><p>short</p><a href=/a>a</a><script>while (true) {}</script></body>"


def is_browser(request: Request) -> bool:
    return "sec-fetch-mode" in {name.lower() for name in request.headers}


def site_with(content: dict[str, str], wall: Callable[[Request], bytes | None]) -> Respond:
    """The wall stands before browsers only."""

    def respond(_: object, request: Request) -> bytes:
        found = content.get(request.path)
        if found is None:
            return response(b"", "404 Not Found")
        blocked = wall(request) if is_browser(request) else None
        return blocked or response(found.encode())

    return respond


WALLS = {
    "403": response(b"<p>no robots</p>", "403 Forbidden"),
    "500": response(b"oops", "500 Internal Server Error"),
    "404": response(b"", "404 Not Found"),
}


@pytest.mark.parametrize("status", WALLS)
def test_a_homepage_the_browser_is_kept_from_is_stored_light_and_the_crawl_goes_on_so(
    two_lanes: TwoLanes, status: str
) -> None:
    content = {"/": shell() + "<a href=/a>a</a><a href=/b>b</a>", "/a": light(), "/b": shell(title="b")}
    with serving(site_with(content, lambda _: WALLS[status])) as site:
        crawl = two_lanes.crawl(site.url("/"))
        assert sum(is_browser(request) for request in site.requests) == 1, "the rest did not try"
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 3, 0)
    rows = two_lanes.paths(crawl)
    assert {path: row["reason"] for path, row in rows.items()} == dict.fromkeys(("/", "/a", "/b"), "render_failed")
    record = rows["/"]["rendering"]
    assert (record["render"], record["signal"], record["measured"]) == (False, "render_failed", status)
    assert crawl.rendering is not None
    assert (crawl.rendering["signal"], crawl.rendering["failed"]) == ("short_text", status)
    told = [str(two_lanes.tools.crawls.explain_url(crawl.id, site.url(path))) for path in ("/", "/b")]
    assert f"without a browser, as the browser was answered {status}" in told[0]
    assert f"without a browser, which was answered {status} on the homepage" in told[1]


def test_a_shell_on_a_light_site_the_browser_is_kept_from_is_stored_light(two_lanes: TwoLanes) -> None:
    content = {"/": light("/app", "/a"), "/app": shell("/deep", title="app"), "/a": light()}
    with serving(site_with(content, lambda _: WALLS["500"])) as site:
        crawl = two_lanes.crawl(site.url("/"))
    rows = two_lanes.paths(crawl)
    assert {path: (row["fetch_state"], row["reason"]) for path, row in rows.items()} == {
        "/": ("done", None), "/app": ("done", "render_failed"), "/a": ("done", None),
    }  # fmt: skip
    assert two_lanes.page(crawl, "/app")["title"] == "empty"
    assert crawl.rendered == 0


def test_a_page_of_a_rendered_site_that_refuses_the_browser_is_asked_for_without(two_lanes: TwoLanes) -> None:
    content = {"/": shell("/a", "/gone", "/b"), "/a": light(title="a"), "/b": shell()}
    with serving(site_with(content, lambda r: WALLS["403"] if r.path == "/a" else None)) as site:
        crawl = two_lanes.crawl(site.url("/"), render_rule={"compare_one_in": 10**6})
    ends = {path: (row["fetch_state"], row["reason"]) for path, row in two_lanes.paths(crawl).items()}
    assert ends == {
        "/": ("done", None), "/a": ("done", "render_failed"), "/b": ("done", None), "/gone": ("skipped", "not_found"),
    }  # fmt: skip
    assert asked(site).count("/gone") == 1, "what is not there is not asked for twice"


def test_what_is_refused_both_ways_is_refused_and_asked_for_once_each_way(two_lanes: TwoLanes) -> None:
    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        return response(shell("/no").encode()) if request.path == "/" else response(b"", "403 Forbidden")

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), render_rule={"compare_one_in": 10**6})
        homepage = two_lanes.crawl(site.url("/no"))
    assert two_lanes.ends(crawl) == {"/": "done", "/no": "forbidden"}
    assert homepage.status is CrawlStatus.FAILED
    assert asked(site).count("/no") == 4


class TestHanging:
    @pytest.fixture
    def engine_settings(self, chromium: Path) -> dict[str, object]:
        return {"chromium": chromium, "render_timeout_seconds": 1, "shift_seconds": 20}  # nothing else is rendered

    def test_a_homepage_that_hangs_the_browser_is_stored_light(self, two_lanes: TwoLanes) -> None:
        with serving(site_with({"/": HANG, "/a": light()}, lambda _: None)) as site:
            crawl = two_lanes.crawl(site.url("/"), seconds=120)
        assert (crawl.status, crawl.pages_crawled) == (CrawlStatus.COMPLETED, 2)
        assert two_lanes.paths(crawl)["/"]["rendering"]["measured"] == "timeout"
        # On a busy machine its time may be over before it asks.
        assert 1 <= sum(is_browser(request) for request in site.requests if request.path == "/") <= 3


WIPES = {
    "the document": "document.open(); document.close()",
    "its body": "document.body.remove()",
    "everything": "document.documentElement.remove()",
}


def test_a_page_that_wipes_itself_in_the_browser_is_stored_as_the_server_sends_it(two_lanes: TwoLanes) -> None:
    def wiping(script: str) -> str:
        return f"<body>{TEXT}<a href=/b>b</a><a href=/c>c</a><script>onload = () => {{ {script} }}</script></body>"

    content = dict(zip(("/", "/b", "/c"), map(wiping, WIPES.values()), strict=True))
    with serving(site_with(content, lambda _: None)) as site:
        crawl = two_lanes.crawl(site.url("/"), render="always")
    rows = two_lanes.paths(crawl)
    for path, what in zip(content, WIPES, strict=True):
        row = rows[path]
        told = (row["fetch_state"], row["reason"], row["rendering"]["measured"])
        assert told == ("done", "render_failed", "empty"), what
        assert "All that a reader could want" in two_lanes.page(crawl, path)["content_text"], what


def test_an_empty_page_never_takes_the_place_of_one_with_content(two_lanes: TwoLanes) -> None:
    broken = threading.Event()

    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        return response((shell(text="") if broken.is_set() else shell()).encode())

    with serving(respond) as site:
        first = two_lanes.crawl(site.url("/"))
        broken.set()
        again = two_lanes.again(first, seconds=90)
    assert first.status is CrawlStatus.COMPLETED
    row = two_lanes.paths(again)["/"]
    assert (row["fetch_state"], row["reason"]) == ("failed", "protocol")
    assert "All that a reader could want" in two_lanes.page(again, "/")["content_text"]


def test_a_page_that_was_always_empty_does_not_fail_because_it_still_is(two_lanes: TwoLanes) -> None:
    content = {"/": shell("/empty"), "/empty": "<body><div></div></body>"}
    with serving(site_with(content, lambda _: None)) as site:
        first = two_lanes.crawl(site.url("/"), render="always")
        again = two_lanes.again(first, seconds=90)
    assert [two_lanes.paths(crawl)["/empty"]["fetch_state"] for crawl in (first, again)] == ["done", "done"]


def test_a_page_stored_light_after_a_failure_is_rendered_as_soon_as_it_can_be(two_lanes: TwoLanes) -> None:
    walled = threading.Event()
    walled.set()
    content = {"/": shell()}
    with serving(site_with(content, lambda _: WALLS["403"] if walled.is_set() else None)) as site:
        first = two_lanes.crawl(site.url("/"))
        walled.clear()
        again = two_lanes.again(first, seconds=90)
    assert (first.rendered, again.rendered) == (0, 1)
    assert two_lanes.page(again, "/")["title"] == "rendered"


def test_a_wall_that_wants_a_cookie_is_passed_in_turn_and_every_request_is_in_the_log(two_lanes: TwoLanes) -> None:
    challenge = b"<p>wait</p><script>document.cookie = 'passed=1'; location.reload()</script>"

    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        passed = "passed=1" in request.headers.get("cookie", "")
        return response(light().encode()) if passed else response(challenge, "403 Forbidden")

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), delay_seconds=0.6)
        at = sorted(request.at for request in site.requests)
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 1, 1)
    assert min(later - sooner for sooner, later in pairwise(at)) >= 0.6 - LATE_SECONDS
    logged = two_lanes.rows("SELECT kind FROM request_log WHERE crawl_id = :id", id=crawl.id)
    assert asked(site).count("/") == 3, "light, the challenge, the page"
    assert len(logged) == len(at)


def test_a_page_that_sets_another_cookie_each_time_is_not_visited_for_ever(two_lanes: TwoLanes) -> None:
    page = f"<body>{TEXT}<script>document.cookie = 'n=' + Math.random(); location.reload()</script></body>"
    with serving(site_with({"/": page}, lambda _: None)) as site:
        crawl = two_lanes.crawl(site.url("/"), render="always")
    assert (crawl.pages_crawled, crawl.rendered) == (1, 1)
    assert asked(site).count("/") == 3
