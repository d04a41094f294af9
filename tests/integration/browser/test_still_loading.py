"""Whole crawls of a site whose server sends ample text, and signs in the place of lists that only scripts fill."""

import json

import pytest

from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.rendering.url_shapes import is_sampled
from tests.integration.browser.test_two_passes import SCRIPT
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving

FILL = """<script>fetch('/offers.html').then(answer => answer.text())
  .then(html => document.getElementById('offers').innerHTML = html)</script>"""
NONE_TRIED = {"compare_one_in": 1_000_000}
NOTES = [f"/notes/{n}" for n in range(8)]


class Shop:
    """The homepage and a page have a list by script; notes have a spinner that never shows anything."""

    def __init__(self) -> None:
        self.offers = ["Anna, a yawl, 900", "Berta, a ketch, 700"]
        self.signs = {"/": "<img src='/ajax-loader.gif' alt=''>", "/offers": "<ul aria-busy=true></ul>"}
        self.has_signs = True

    def respond(self, _: object, request: Request) -> bytes:
        path = request.path
        if path == "/offers.html":
            return response("".join(f"<li>{offer}</li>" for offer in self.offers).encode())
        if path in self.signs:
            sign = self.signs[path] if self.has_signs else ""
            return response(self._page(path, f"<h2>Offers</h2><div id=offers>{sign}</div>{FILL}"))
        if path in NOTES:
            return response(self._page(path, "<div class=theme-spinner></div>" + SCRIPT))
        return response(b"", "404 Not Found")

    def _page(self, path: str, part: str) -> bytes:
        links = "".join(f"<a href='{link}'>{link}</a> " for link in ("/", "/offers", *NOTES)) if path == "/" else ""
        own = "".join(f"<p>Line {n} of {path}: all that a reader could want to know of boats.</p>" for n in range(40))
        return f"<html><title>{path}</title><body><h1>{path}</h1>{own}{links}{part}{own}</body></html>".encode()


@pytest.mark.slow
def test_lists_in_place_of_a_sign_are_watched_and_a_spinner_that_shows_nothing_soon_costs_nothing(
    two_lanes: TwoLanes,
) -> None:
    shop = Shop()
    with serving(shop.respond) as site:
        first = two_lanes.crawl(site.url("/"), max_concurrent=1, render_rule=NONE_TRIED)
        rows = two_lanes.paths(first)
        told = two_lanes.tools.crawls.explain_url(first.id, site.url("/"))
        shop.offers[1] = "Berta, a ketch, 650"
        second = two_lanes.again(first, seconds=90)
        third = two_lanes.again(first, seconds=90)
    assert first.rendering == {"render": False}, "the homepage speaks for itself alone"
    assert [rows[path]["rendering"]["signal"] for path in ("/", "/offers", "/notes/0")] == ["still_loading"] * 3
    assert rows["/"]["rendering"]["compared"]["agrees"] is False, "a list is a small share of the page"
    assert "still to come (ajax-loader.gif)" in str(told.rendering)
    summary = second.change_summary or {}
    assert sorted(summary["changed_page_urls"]) == [site.url("/"), site.url("/offers")]
    assert 5 <= first.rendered - 2 < len(NOTES)
    assert (second.rendered, third.rendered) == (2, 2)
    assert (third.change_summary or {})["summary"]["changed_pages"] == 0


PLACES = (
    "<p>Price: <i class=spinner id=price></i></p>",
    "<p>Price: <b id=price></b></p>",
    pytest.param("<boat-price id=price></boat-price>", marks=pytest.mark.long),
)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_a_price_of_one_word_is_watched_on_all_pages_of_its_kind(two_lanes: TwoLanes, place: str) -> None:
    """One word in the place of a sign is what was to come."""
    prices, is_down = {f"/{n}": f"€{n}99" for n in range(1, 4)}, True

    def respond(_: object, request: Request) -> bytes:
        path = request.path
        if path.startswith("/price"):
            found = prices[path.removeprefix("/price")]
            return response(b"", "503 Busy") if is_down else response(found.encode())
        own = "".join(f"<p>Line {n} of {path}: all that a reader could want to know of boats.</p>" for n in range(40))
        links = "".join(f"<a href='{link}'>{link}</a> " for link in prices) if path == "/" else ""
        fill = f"""<script>const place = document.getElementById('price');
          fetch('/price{path}').then(answer => answer.text())
            .then(price => {{ if (price) place.outerHTML = '<b>' + price + '</b>' }})</script>"""
        part = "" if path == "/" else place + fill
        return response(f"<title>{path}</title><main><h1>{path}</h1>{own}{links}{part}{own}</main>".encode())

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), use_sitemaps=False, render_rule={**NONE_TRIED, "agreeing_needed": 2})
        is_down = False
        crawl = two_lanes.again(crawl, seconds=120)
        assert (crawl.rendered, crawl.rendering) == (3, {"render": False}), "without data nothing was learned"
        prices["/3"] = "€650"
        crawl = two_lanes.again(crawl, seconds=120)
    assert (crawl.change_summary or {})["changed_page_urls"] == [site.url("/3")]


@pytest.mark.slow
def test_a_page_to_which_something_came_is_rendered_though_nothing_comes_to_others(two_lanes: TwoLanes) -> None:
    """As of a blog in which readers wrote below one article alone."""
    comments = {f"/{n}": "<li>Anna: A good boat.</li>" if n == 1 else "" for n in range(1, 6)}

    def respond(_: object, request: Request) -> bytes:
        path = request.path
        if path.startswith("/comments"):
            return response(comments[path.removeprefix("/comments")].encode())
        own = "".join(f"<p>Line {n} of {path}: all that a reader could want to know of boats.</p>" for n in range(40))
        links = "".join(f"<a href='{link}'>{link}</a> " for link in comments) if path == "/" else ""
        fill = f"""<ul id=talk></ul><script>fetch('/comments{path}').then(answer => answer.text())
          .then(lines => {{ document.getElementById('talk').innerHTML = lines }})</script>"""
        part = "" if path == "/" else fill
        return response(f"<title>{path}</title><main><h1>{path}</h1>{own}{links}{part}{own}</main>".encode())

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), max_concurrent=1, use_sitemaps=False, render_rule=NONE_TRIED)
        for _ in range(2):
            _teach_that_nothing_comes(two_lanes, crawl)
            crawl = two_lanes.again(crawl, seconds=120)
            assert (crawl.change_summary or {})["summary"]["changed_pages"] == 0
        _teach_that_nothing_comes(two_lanes, crawl)
        comments["/1"] = "<li>Anna: A bad boat.</li>"
        crawl = two_lanes.again(crawl, seconds=120)
    assert crawl.rendered == 1
    assert (crawl.change_summary or {})["changed_page_urls"] == [site.url("/1")]


def _teach_that_nothing_comes(two_lanes: TwoLanes, crawl: CrawlJob) -> None:
    """As a hundred further pages of the kind would."""
    (known,) = two_lanes.rows("SELECT learned -> 'shapes' AS of FROM projects WHERE id = :id", id=crawl.project_id)
    shapes = json.dumps({"shapes": {key: [100, 1] for key in known["of"]}})
    teach = "UPDATE projects SET learned = learned || CAST(:shapes AS jsonb) WHERE id = :id RETURNING id"
    two_lanes.rows(teach, shapes=shapes, id=crawl.project_id)


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_some_pages_show_whether_something_comes_by_now(two_lanes: TwoLanes) -> None:
    shop = Shop()
    with serving(shop.respond) as site:
        crawl = two_lanes.crawl(site.url("/"), max_concurrent=1, render_rule={"compare_one_in": 2})
        for _ in range(2):
            _teach_that_nothing_comes(two_lanes, crawl)
            crawl = two_lanes.again(crawl, seconds=120)
    pages = two_lanes.rows("SELECT * FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
    notes = {page["normalized_url"]: page["crawl_method"] for page in pages if "/notes/" in page["url"]}
    assert len(notes) == len(NOTES)
    assert notes == {key: "crawl4ai" if is_sampled(key, 2) else "lightweight" for key in notes}


@pytest.mark.slow
def test_a_known_page_that_is_rendered_from_now_on_hides_no_edit(two_lanes: TwoLanes) -> None:
    """As after an upgrade: the crawl that changes the lane compares what the server sends, the next what is shown."""
    shop = Shop()
    shop.has_signs = False
    with serving(shop.respond) as site:
        first = two_lanes.crawl(site.url("/"), max_concurrent=1)
        assert two_lanes.methods(first)["/offers"] == "lightweight"
        shop.has_signs = True
        second = two_lanes.again(first, seconds=90)
        shop.offers[0] = "Anna, a yawl, 850"
        third = two_lanes.again(first, seconds=90)
    assert two_lanes.methods(third)["/offers"] == two_lanes.methods(third)["/"] == "crawl4ai"
    assert (second.change_summary or {})["summary"]["changed_pages"] == 0
    assert (second.change_summary or {})["not_compared"] == 0
    assert sorted((third.change_summary or {})["changed_page_urls"]) == [site.url("/"), site.url("/offers")]


def test_without_a_browser_such_a_page_is_stored_as_it_is_sent_and_says_so(two_lanes: TwoLanes) -> None:
    two_lanes.tools.redis.flushdb()
    two_lanes.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
    shop = Shop()
    with serving(shop.respond) as site:
        crawl = Engine(two_lanes.tools).crawl(site.url("/"), render="auto")
    rows = two_lanes.paths(crawl)
    assert rows["/offers"]["reason"] == rows["/"]["reason"] == "render_unavailable"
    assert "shell" not in rows["/offers"]["rendering"], "what it says is compared"
    assert crawl.rendering == {"render": False}


@pytest.mark.slow
def test_a_homepage_that_fails_in_the_browser_alone_ends_no_rendering(two_lanes: TwoLanes) -> None:
    shop = Shop()

    def respond(server: object, request: Request) -> bytes:
        real = "sec-fetch-mode" in {name.lower() for name in request.headers}
        return response(b"no", "403 Forbidden") if real and request.path == "/" else shop.respond(server, request)

    with serving(respond) as site:
        crawl = two_lanes.crawl(site.url("/"), max_concurrent=1)
    assert crawl.rendering == {"render": False}
    assert two_lanes.paths(crawl)["/"]["reason"] == "render_failed"
    assert two_lanes.methods(crawl)["/offers"] == "crawl4ai"


@pytest.mark.slow
def test_pages_that_were_not_modified_are_looked_at_once_after_an_upgrade(two_lanes: TwoLanes) -> None:
    """What an older version stored light may have had a sign that nobody looked for."""
    shop = Shop()

    def respond(server: object, request: Request) -> bytes:
        if request.path != "/offers":
            return shop.respond(server, request)
        if "if-none-match" in {name.lower() for name in request.headers}:
            return response(b"", "304 Not Modified")
        return response(shop.respond(server, request).partition(b"\r\n\r\n")[2], "200 OK", 'ETag: "1"')

    with serving(respond) as site:
        first = two_lanes.crawl(site.url("/"), render="never")
        two_lanes.change(first, render="auto")
        second = two_lanes.again(first, seconds=90)
    assert two_lanes.methods(second)["/offers"] == "crawl4ai"
    assert (second.change_summary or {})["not_compared"] == 0
