"""Whole crawls in two lanes, with a real Chromium: light first, a browser where the page needs it."""

import threading
from itertools import pairwise
from pathlib import Path

import pytest

from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.crawls.crawl import SMALL_SITE, CrawlStatus
from crawler.domain.crawls.frontier import Lane
from tests.integration.browser.driving import pages
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving

TEXT = "<p>" + "All that a reader could want to know, and a little more. " * 12 + "</p>"
SCRIPT = "<script>window.untouched = true</script>"
LATE_SECONDS = 0.25
"""So much later than it comes a busy server may note a request."""


def light(*links: str, title: str = "light") -> str:
    """A page whose text the server sends."""
    anchors = "".join(f"<a href='{link}'>{link}</a> " for link in links)
    return f"<html><head><title>{title}</title></head><body>{TEXT}{TEXT}{anchors}{SCRIPT}</body></html>"


def shell(*links: str, title: str = "rendered", text: str = TEXT) -> str:
    """A page that only a browser fills."""
    anchors = "".join(f"<a href='{link}'>{link}</a>" for link in links)
    fill = f"document.title = '{title}'; document.getElementById('root').innerHTML = `{text}{anchors}`"
    return f"<html><head><title>empty</title></head><body><div id=root></div><script>{fill}</script></body></html>"


def test_a_site_whose_server_sends_its_text_is_never_rendered(two_lanes: TwoLanes) -> None:
    with pages({"/": light("/a", "/b"), "/a": light(), "/b": light()}) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert (crawl.pages_crawled, crawl.lightweight, crawl.rendered) == (3, 3, 0)
    assert crawl.rendering == {"render": False}
    assert "browser" not in vars(two_lanes.tools.engine), "no browser was even thought of"


def test_a_homepage_that_is_an_empty_shell_renders_the_whole_crawl_and_is_remembered(two_lanes: TwoLanes) -> None:
    content = {"/": shell("/a", "/b"), "/a": shell("/c", title="a"), "/b": shell(title="b"), "/c": light(title="c")}
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"))
        titles = {row["url"].rpartition("/")[2]: row["title"] for row in two_lanes.rows("SELECT * FROM crawled_pages")}
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 4, 4)
    assert titles == {"": "rendered", "a": "a", "b": "b", "c": "c"}
    assert crawl.rendering is not None
    assert (crawl.rendering["signal"], crawl.rendering["limit"]) == ("short_text", 200)
    (project,) = two_lanes.rows("SELECT learned FROM projects WHERE id = :id", id=crawl.project_id)
    assert project["learned"]["rendering"] == crawl.rendering
    lanes = two_lanes.rows("SELECT lane, kind FROM request_log WHERE crawl_id = :id", id=crawl.id)
    assert sum(row["lane"] == "http" and row["kind"] == "p" for row in lanes) == 1, "the homepage, once"


@pytest.mark.slow
def test_an_empty_shell_on_a_light_site_is_rendered_by_itself_and_says_why(two_lanes: TwoLanes) -> None:
    content = {"/": light("/a", "/app"), "/a": light(), "/app": shell("/deep", title="app"), "/deep": light()}
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert two_lanes.methods(crawl) == {
        "/": "lightweight", "/a": "lightweight", "/app": "crawl4ai", "/deep": "lightweight",
    }  # fmt: skip
    assert (crawl.lightweight, crawl.rendered) == (3, 1)
    record = two_lanes.paths(crawl)["/app"]["rendering"]
    assert (record["signal"], record["compared"]["agrees"]) == ("short_text", False)


@pytest.mark.slow
def test_a_short_page_that_says_the_same_in_a_browser_is_soon_left_to_the_light_lane(two_lanes: TwoLanes) -> None:
    """Every one is compared; after five of a kind that agreed, the others are spared."""
    tags = [f"/tag/{n}" for n in range(6)]
    content = {"/": light(*tags)} | {tag: f"<body><p>nothing under {tag}</p>{SCRIPT}</body>" for tag in tags}
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"), max_concurrent=1)
        again = two_lanes.again(crawl, seconds=90)
    assert (crawl.pages_crawled, again.pages_crawled, again.rendered) == (7, 7, 0)
    assert crawl.rendered >= 5


@pytest.mark.slow
def test_an_article_that_moves_into_a_script_is_rendered_and_watched_there(two_lanes: TwoLanes) -> None:
    """The site frames it with more text than any limit asks for, and an edit is then only seen in a browser."""
    article = "<p>" + "It takes nine knots and a steady hand to moor a dinghy here. " * 8 + "</p>"
    told = {"/live.txt": article}
    around = "".join(
        f"<p>Posted on {n} May by the harbour master, filed under knots of kind {n}.</p>" for n in range(6)
    )

    def post(body: str, n: int) -> str:
        return (
            f"<html><title>{n}</title><body><h1>Post {n}</h1>{body}{around.replace('May', f'May {n}')}{SCRIPT}</body>"
        )

    fill = "fetch('/live.txt').then(r => r.text()).then(t => document.getElementById('live').innerHTML = t)"
    moved = f"<div id=live></div><script>{fill}</script>"
    content = {"/": light("/1", "/2"), "/1": post(article, 1), "/2": post(article, 2)}

    def respond(_: object, request: Request) -> bytes:
        found = {**content, **told}.get(request.path)
        return response(found.encode()) if found else response(b"", "404 Not Found")

    with serving(respond) as site:
        first = two_lanes.crawl(site.url("/"))
        assert first.rendered == 0
        content["/1"] = post(moved, 1)
        second = two_lanes.again(first, seconds=90)
        told["/live.txt"] = article.replace("nine knots", "ten knots")
        third = two_lanes.again(first, seconds=90)
    assert second.rendered == 1
    assert two_lanes.paths(second)["/1"]["rendering"]["signal"] == "lost_text"
    assert (third.change_summary or {})["changed_page_urls"] == [site.url("/1")]


@pytest.mark.slow
def test_pages_of_a_rendered_site_that_need_it_no_longer_go_back_to_light_until_they_refuse(
    two_lanes: TwoLanes,
) -> None:
    """The homepage stays an empty shell; its items are sent by the server now, and at last to browsers only."""
    items = [f"/item/{n}" for n in range(6)]
    refusing = threading.Event()

    def respond(_: object, request: Request) -> bytes:
        real = "sec-fetch-mode" in {name.lower() for name in request.headers}
        if request.path == "/":
            return response(shell(*items).encode())
        if request.path not in items:
            return response(b"", "404 Not Found")
        return response(b"", "403 Forbidden") if refusing.is_set() and not real else response(light().encode())

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), render_rule={"compare_one_in": 1})
        two_lanes.change(crawl, render_rule={"compare_one_in": 10**6})
        again = two_lanes.again(crawl, seconds=90)
        signal = two_lanes.paths(again)["/item/1"]["rendering"]["signal"]
        refusing.set()
        refused = two_lanes.again(crawl, seconds=90)
    assert (crawl.pages_crawled, crawl.rendered) == (7, 7), (
        "each was fetched both ways, and what the browser made is kept"
    )
    assert (again.pages_crawled, again.rendered, again.lightweight, signal) == (7, 1, 6, "shape")
    assert again.change_summary is not None
    assert again.change_summary["summary"]["unchanged_pages"] == 7
    assert (refused.pages_crawled, refused.rendered) == (7, 7), "a kind of page that proved light is rendered after all"


@pytest.mark.slow
def test_a_homepage_that_refuses_the_light_fetch_is_tried_in_a_browser(two_lanes: TwoLanes) -> None:
    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        real = "sec-fetch-mode" in {name.lower() for name in request.headers}
        return response(light().encode()) if real else response(b"no robots", "403 Forbidden")

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 1, 1)
    assert crawl.rendering == {"render": True, "signal": "fetch_failed", "measured": 403}


@pytest.mark.slow
@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone"])
def test_a_homepage_that_is_gone_is_not_tried_in_a_browser(two_lanes: TwoLanes, status: str) -> None:
    with serving(lambda *_: response(b"", status)) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert crawl.status is CrawlStatus.FAILED
    assert "browser" not in vars(two_lanes.tools.engine)


@pytest.mark.slow
def test_what_is_rendered_again_and_did_not_change_is_unchanged(two_lanes: TwoLanes) -> None:
    with pages({"/": shell("/a"), "/a": shell(title="a")}) as site:
        first = two_lanes.crawl(site.url("/"))
        again = two_lanes.again(first, seconds=90)
    assert (again.pages_crawled, again.rendered) == (2, 2)
    assert again.change_summary is not None
    assert again.change_summary["summary"]["unchanged_pages"] == 2
    assert {row["reason"] for row in two_lanes.paths(again).values()} == {"unchanged"}


@pytest.mark.slow
def test_always_renders_everything_and_never_nothing(two_lanes: TwoLanes) -> None:
    with pages({"/": light("/a"), "/a": light()}) as site:
        always = two_lanes.crawl(site.url("/"), render="always")
    with pages({"/": shell("/a"), "/a": light()}) as site:
        never = two_lanes.crawl(site.url("/"), render="never")
    assert (always.rendered, never.rendered) == (2, 0)
    assert never.pages_crawled == 1


@pytest.mark.slow
def test_both_lanes_together_keep_a_hosts_gap(two_lanes: TwoLanes) -> None:
    content = {"/": light(*(f"/{n}" for n in range(6)))} | {f"/{n}": shell() if n % 2 else light() for n in range(6)}
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"), delay_seconds=0.6)
        asked = sorted(request.at for request in site.requests)
    assert (crawl.pages_crawled, crawl.rendered) == (7, 3)
    gaps = [later - sooner for sooner, later in pairwise(asked)]
    assert min(gaps) >= 0.6 - LATE_SECONDS
    assert sum(gaps) >= 0.6 * len(gaps) - LATE_SECONDS


@pytest.mark.slow
def test_robots_txt_and_scope_hold_for_rendered_links_too(two_lanes: TwoLanes) -> None:
    robots = response(b"User-agent: *\nDisallow: /private", "200 OK", "Content-Type: text/plain")
    html = {"/": shell("/private/x", "/open", "http://other.test/"), "/open": shell()}
    with pages({**html, "/robots.txt": robots}) as site:
        crawl = two_lanes.crawl(site.url("/"))
        paths = [request.path for request in site.requests]
    assert two_lanes.ends(crawl) == {"/": "done", "/open": "done", "/private/x": "robots"}
    assert "/private/x" not in paths


class TestHanging:
    @pytest.fixture
    def engine_settings(self, chromium: Path) -> dict[str, object]:
        return {"chromium": chromium, "render_timeout_seconds": 5, "shift_seconds": 20}

    @pytest.mark.slow
    def test_a_page_fails_after_three_attempts_and_its_neighbours_are_done(self, two_lanes: TwoLanes) -> None:
        """It waits for an answer and does nothing else meanwhile: no other test has to wait for its turn."""
        hang = "const asked = new XMLHttpRequest(); asked.open('GET', '/never', false); asked.send()"
        content = {"/": shell("/hang", "/good"), "/good": shell(), "/hang": f"<p>x</p><script>{hang}</script>"}
        over = threading.Event()

        def respond(_: object, request: Request) -> bytes:
            if request.path == "/never":
                over.wait(60)
            found = content.get(request.path)
            return response(found.encode()) if found else response(b"", "404 Not Found")

        with serving(respond) as site:
            # Whether it was read without a browser before decides what becomes of it: so it never is.
            crawl = two_lanes.crawl(site.url("/"), seconds=120, render="always")
            over.set()
        rows = two_lanes.paths(crawl)
        assert (rows["/hang"]["fetch_state"], rows["/hang"]["attempts"]) == ("failed", 3)
        assert rows["/good"]["fetch_state"] == "done"


@pytest.mark.slow
def test_a_screenshot_is_kept_with_the_version(two_lanes: TwoLanes) -> None:
    with pages({"/": light()}) as site:
        crawl = two_lanes.crawl(site.url("/"), screenshots=True)
    (shot,) = two_lanes.rows("SELECT s.* FROM screenshots s JOIN page_versions v ON v.id = s.version_id")
    assert crawl.rendered == 1
    assert bytes(shot["image"]).startswith(b"\x89PNG")
    assert bytes(shot["thumbnail"]).startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_small_project_has_pictures_of_pages_that_a_browser_shows_anyway(two_lanes: TwoLanes) -> None:
    pictures = """
        SELECT p.url FROM screenshots s JOIN page_versions v ON v.id = s.version_id
        JOIN crawled_pages p ON p.id = v.page_id WHERE p.project_id = :id
    """
    with pages({"/": light("/a"), "/a": shell()}) as site:
        crawl = two_lanes.crawl(site.url("/"), screenshots=None)
        large = two_lanes.crawl(site.url("/"), screenshots=None, max_pages=SMALL_SITE + 1)
        none = two_lanes.crawl(site.url("/"), screenshots=False)
    assert [(one.lightweight, one.rendered) for one in (crawl, large, none)] == [(1, 1)] * 3, "light pages stay light"
    assert [row["url"] for row in two_lanes.rows(pictures, id=crawl.project_id)] == [site.url("/a")]
    assert two_lanes.rows(pictures, id=large.project_id) == two_lanes.rows(pictures, id=none.project_id) == []


class TestWithoutABrowser:
    """Pages stay as the server sends them, and say so."""

    @pytest.fixture
    def nobody(self, two_lanes: TwoLanes) -> Engine:
        two_lanes.tools.redis.flushdb()
        two_lanes.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
        return Engine(two_lanes.tools)

    def test_pages_that_need_one_are_stored_light_with_a_note(self, nobody: Engine) -> None:
        with pages({"/": shell() + "<a href=/a>a</a>", "/a": light()}) as site:
            crawl = nobody.crawl(site.url("/"), render="auto")
        rows = nobody.paths(crawl)
        assert {path: row["reason"] for path, row in rows.items()} == dict.fromkeys(("/", "/a"), "render_unavailable")
        assert crawl.rendering is not None
        assert crawl.rendering["unavailable"] is True

    @pytest.mark.slow
    def test_always_does_without_it_too(self, nobody: Engine) -> None:
        with pages({"/": light()}) as site:
            crawl = nobody.start(nobody.project(site.url("/")), config={"render": "always", "delay_seconds": 0})
            nobody.tools.crawls.reconcile()
            crawl = nobody.run(crawl)
        assert nobody.paths(crawl)["/"]["reason"] == "render_unavailable"

    @pytest.mark.slow
    def test_what_was_stored_without_one_is_rendered_as_soon_as_there_is_one(
        self, nobody: Engine, two_lanes: TwoLanes
    ) -> None:
        """Although the server says that nothing was modified."""

        def respond(_: object, request: Request) -> bytes:
            if "if-none-match" in {name.lower() for name in request.headers}:
                return response(b"", "304 Not Modified")
            return response(shell().encode(), "200 OK", 'ETag: "1"')

        with serving(respond) as site:
            first = nobody.crawl(site.url("/"), render="auto")
            two_lanes.tools.operating.live_workers.announce("renderer", ["render"])
            again = two_lanes.again(first, seconds=90)
        assert (first.rendered, again.rendered) == (0, 1)
        assert two_lanes.page(again, "/")["title"] == "rendered"
        assert again.change_summary is not None
        assert (again.change_summary["summary"]["changed_pages"], again.change_summary["not_compared"]) == (0, 0), (
            "what the server sends is the same"
        )


@pytest.mark.slow
def test_a_crawl_goes_on_light_when_its_renderer_goes_away(two_lanes: TwoLanes) -> None:
    gone = threading.Event()

    class Leaving(TwoLanes):
        def shift(self) -> None:
            Engine.shift(self)
            if not gone.is_set():
                gone.set()
                self.tools.redis.delete("cr:lane:b")
                self.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
            self.tools.crawls.reconcile()

    with pages({"/": shell() + "<a href=/a>a</a>", "/a": light()}) as site:
        crawl = Leaving(two_lanes.tools).crawl(site.url("/"))
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 2, 0)


@pytest.mark.slow
def test_a_page_that_goes_on_inside_its_hosts_gap_leaves_a_hint_for_the_moment_it_may(two_lanes: TwoLanes) -> None:
    """Nobody is in the other lane to see it: without the hint it would wait for the reconciler."""
    with pages({"/": shell()}) as site:
        crawl = two_lanes.start(
            two_lanes.project(site.url("/"), render="auto", screenshots=False, delay_seconds=3, use_sitemaps=False)
        )
        while two_lanes.tools.store.get_crawl(crawl.id).rendering is None:
            Engine.shift(two_lanes)
        sent = two_lanes.sent
    hints = [what for kind, what in sent if kind == "fetch"]
    assert any(lane is Lane.BROWSER and 0 < seconds <= 3 for lane, seconds in hints)


@pytest.mark.slow
def test_what_waits_in_the_light_lane_for_a_host_the_browser_held_is_hinted_at_when_the_browser_is_done(
    two_lanes: TwoLanes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A light shift that looked while the browser had the host's turn expects it back half a minute later."""
    tools, hinted = two_lanes.tools, []
    monkeypatch.setattr(tools.frontier, "acquire_hint", lambda *_: True)
    with pages({"/": shell("/a"), "/a": shell(title="a")}) as site:
        monkeypatch.setattr(tools.hints, "fetch", lambda lane, _=0: hinted.append((lane, len(site.requests))))
        crawl = two_lanes.start(two_lanes.project(site.url("/"), render="auto", screenshots=False, delay_seconds=0.3))
        while tools.store.get_crawl(crawl.id).rendering is None:
            Engine.shift(two_lanes)
        while tools.store.get_crawl(crawl.id).pages_crawled < 2:
            tools.engine.browser_shift(Lane.BROWSER, "b")
        assert (Lane.HTTP, len(site.requests)) in hinted, "the sitemap can be had, now that the last page is shown"
