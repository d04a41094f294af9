"""A change of lane hides no edit, and is none: pages go from the browser to plain HTTP and back, edited or not.

Each page says more in a browser than its server sends, so the two ways never agree.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from crawler.adapters.browser.light_pages import LightPages
from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.frontier import Kind, Lane
from crawler.domain.urls.url import digest, parse
from tests.integration.browser.test_two_passes import SCRIPT, TEXT
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, response, serving

NONE_SAMPLED = {"compare_one_in": 10**6}
OLD, NEW, LATER = "The hall opens at nine.", "The hall opens at eleven.", "The hall opens at noon."


class Garden:
    """A site whose homepage decides the lane, with pages that can be edited."""

    def __init__(self) -> None:
        self.rendered = False
        self.text = {"/a": OLD, "/b": OLD}

    def page(self, path: str) -> str:
        if path == "/":
            return self._home()
        more = f"document.getElementById('more').innerHTML = '<p>Rated by the readers of {path}: very good.</p>'"
        body = f"{TEXT}<p>Page {path}</p><p class=hours>{self.text[path]}</p><div id=more></div>"
        return f"<html><head><title>{path}</title></head><body>{body}<script>{more}</script></body></html>"

    def _home(self) -> str:
        links = "".join(f"<a href={path}>{path}</a>" for path in self.text)
        if not self.rendered:
            return f"<html><body>{TEXT}{links}{SCRIPT}</body></html>"
        fill = f"document.getElementById('root').innerHTML = `{TEXT}{links}`"
        return f"<html><body><div id=root></div><script>{fill}</script></body></html>"

    def respond(self, _: object, request: Request) -> bytes:
        known = request.path == "/" or request.path in self.text
        return response(self.page(request.path).encode()) if known else response(b"", "404 Not Found")


@pytest.fixture
def garden() -> Garden:
    return Garden()


class Watch:
    """Crawls of the garden, one after the other."""

    def __init__(self, lanes: TwoLanes, garden: Garden, url: str) -> None:
        self._lanes = lanes
        self._garden = garden
        self._url = url
        self.last: CrawlJob | None = None

    def crawl(self, lane: str, *, has_browser: bool = True) -> dict[str, Any]:
        """The next crawl, by a homepage that asks for this lane (b or l); what it tells."""
        self._garden.rendered = lane == "b"
        state = WorkerState() if has_browser else WorkerState("none is here")
        self._lanes.tools.operating.live_workers.announce("renderer", ["render"], state)
        if self.last is None:
            self.last = self._lanes.crawl(self._url, render_rule=NONE_SAMPLED)
        else:
            self.last = self._lanes.again(self.last, seconds=90)
        return self.last.change_summary or {}

    def told(self, lane: str, *, has_browser: bool = True) -> tuple[list[str], list[str]]:
        """Paths of changed pages, and of those that were not compared; the homepage is another matter."""
        summary = self.crawl(lane, has_browser=has_browser)
        return _paths(summary["changed_page_urls"]), _paths(summary["not_compared_urls"])

    def ways_of_the_pair(self) -> list[str]:
        """How both versions of the only changed page were fetched, as the API shows them."""
        assert self.last is not None
        shown = self._lanes.tools.changes.describe(self.last, pages=True).changed_pages or ()
        (pair,) = [page for page in shown if not page.url.endswith("/")]
        ids = [pair.from_version, pair.to_version]
        rows = self._lanes.rows("SELECT id, crawl_method FROM page_versions WHERE id = ANY(:ids)", ids=ids)
        methods = {row["id"]: row["crawl_method"] for row in rows}
        return [methods[one] for one in ids]

    def end_last_early(self) -> None:
        """As if the last crawl had run out of time."""
        assert self.last is not None
        with self._lanes.tools.database.begin() as db:
            db.execute(text("UPDATE crawl_jobs SET end_reason = 'max_duration' WHERE id = :id"), {"id": self.last.id})

    def lines(self) -> set[tuple[str | None, str | None]]:
        """What went and came, in words."""
        assert self.last is not None
        texts = self._lanes.tools.changes.describe.with_texts(self.last).texts or ()
        return {(line.removed, line.added) for page in texts if not page.url.endswith("/") for line in page.lines}


def _paths(urls: Iterable[str]) -> list[str]:
    return sorted("/" + path for url in urls if (path := url.rpartition("/")[2]))


@pytest.fixture
def watch(two_lanes: TwoLanes, garden: Garden) -> Iterator[Watch]:
    with serving(garden.respond) as site:
        yield Watch(two_lanes, garden, site.url("/"))


QUIET: tuple[list[str], list[str]] = ([], [])


@pytest.mark.slow
def test_an_edit_is_told_by_the_crawl_that_changes_the_lane(watch: Watch, garden: Garden) -> None:
    watch.crawl("b")
    garden.text["/a"] = NEW
    assert watch.told("l") == (["/a"], [])
    assert watch.lines() == {(OLD, NEW)}
    assert len(set(watch.ways_of_the_pair())) == 1, "light with light, rendered with rendered"
    assert watch.told("l") == QUIET, "once"


@pytest.mark.slow
@pytest.mark.parametrize("lanes", ["blbll", pytest.param("lblbb", marks=pytest.mark.long)])
def test_each_edit_and_revert_is_told_once_by_whichever_crawl_and_a_change_of_lane_is_none(
    watch: Watch, garden: Garden, lanes: str
) -> None:
    garden.text["/c"] = OLD
    watch.crawl(lanes[0])
    garden.text["/a"] = NEW
    assert watch.told(lanes[1]) == (["/a"], []), "the edit; for the other pages a change of lane is no edit"
    assert watch.lines() == {(OLD, NEW)}
    assert len(set(watch.ways_of_the_pair())) == 1, "light with light, rendered with rendered"
    garden.text |= {"/a": OLD, "/b": NEW}
    assert watch.told(lanes[2]) == (["/a", "/b"], []), "the revert, and an edit as the site flips back"
    assert watch.lines() == {(NEW, OLD), (OLD, NEW)}
    garden.text["/c"] = NEW
    assert watch.told(lanes[3]) == (["/c"], []), "at the third flip, too"
    garden.text["/b"] = LATER
    assert watch.told(lanes[4]) == (["/b"], []), "in the lane as it stays; what was told before is not told again"
    assert watch.lines() == {(NEW, LATER)}


@pytest.mark.slow
def test_a_page_the_server_links_to_is_new_although_a_browser_found_it(watch: Watch, garden: Garden) -> None:
    """One that only scripts link to may have been there before."""
    watch.crawl("l")
    garden.text |= {"/a": f"{OLD} <a href=/c>More</a>", "/c": "Brand new.", "/d": "Only a script links to it."}
    found = watch.crawl("b")
    assert (_paths(found["new_page_urls"]), _paths(found["changed_page_urls"])) == (["/c"], ["/a"])


@pytest.mark.slow
def test_a_crawl_that_ended_early_in_another_lane_hides_no_edit(watch: Watch, garden: Garden) -> None:
    """Nothing is compared with it, although what it stored is newer."""
    watch.crawl("b")
    garden.text["/a"] = NEW
    watch.crawl("l")
    watch.end_last_early()
    assert watch.told("l") == (["/a"], [])
    assert watch.told("l") == QUIET


@pytest.mark.slow
@pytest.mark.parametrize("has_wall", [pytest.param(False, marks=pytest.mark.long), True])
def test_a_kind_of_page_that_is_left_to_the_light_lane_hides_no_edit(two_lanes: TwoLanes, has_wall: bool) -> None:
    """What a browser shows of these pages is almost what the server sends, so the browser is soon spared."""
    words = dict.fromkeys((f"/tag/{n}" for n in range(6)), OLD)
    add = "document.body.append('Printed')"
    walls: list[bytes] = []

    def respond(_: object, request: Request) -> bytes:
        if walls and request.path in (*words, "/"):
            return response(b"", "302 Found", "Location: /login")
        if request.path == "/login":
            return response(b"<html><title>Sign in</title><form><input name=u><input type=password></form></html>")
        if request.path == "/":
            links = "".join(f"<a href={path}>{path}</a>" for path in words)
            return response(f"<html><body>{TEXT}{TEXT}{links}{SCRIPT}</body></html>".encode())
        if request.path not in words:
            return response(b"", "404 Not Found")
        told = f"<p>Nothing is under {request.path} yet, but whoever waits long enough may find something.</p>"
        return response(f"<body>{told}<p>{words[request.path]}</p><script>{add}</script></body>".encode())

    with serving(respond) as site:
        first = two_lanes.crawl(site.url("/"), max_concurrent=1)
        assert first.rendered >= 5
        if has_wall:
            walls.append(b"")
            two_lanes.again(first, seconds=90)
            walls.clear()
        words["/tag/0"] = NEW
        told = [two_lanes.again(first, seconds=90) for _ in range(2)]
        lines = two_lanes.tools.changes.describe.with_texts(told[0]).texts or ()
    summaries = [crawl.change_summary or {} for crawl in told]
    assert [_paths(summary["changed_page_urls"]) for summary in summaries] == [["/0"], []]
    assert [_paths(summary["not_compared_urls"]) for summary in summaries] == [[], []]
    assert [(line.removed, line.added) for page in lines for line in page.lines] == [(OLD, NEW)]
    assert told[1].rendered == 0


@pytest.mark.slow
def test_edits_made_around_crawls_that_were_to_use_no_browser_are_told_once_each(
    two_lanes: TwoLanes, garden: Garden, watch: Watch
) -> None:
    """What the server sends of /a while `render` is `never` was never compared with what the browser showed before."""
    watch.crawl("b")
    assert watch.last is not None
    two_lanes.change(watch.last, render="never")
    garden.text["/a"] = NEW
    changed, otherwise = watch.told("b")
    assert (changed, otherwise) == ([], ["/a", "/b"])
    garden.text["/b"] = NEW
    assert watch.told("b") == (["/b"], [])
    assert watch.told("b") == QUIET
    two_lanes.change(watch.last, render="auto")
    assert watch.told("b") == (["/a"], []), "/b was told before"
    assert watch.lines() == {(OLD, NEW)}
    assert watch.told("b") == QUIET


@pytest.mark.slow
def test_an_app_is_not_unchanged_because_its_shell_is(two_lanes: TwoLanes) -> None:
    words = dict.fromkeys(("/a", "/b", "/c"), OLD)

    def respond(_: object, request: Request) -> bytes:
        links = "".join(f"<a href={path}>{path}</a>" for path in words)
        text = f"{TEXT}{links}<p>{words.get(request.path, 'Home')}</p>"
        fill = f"document.getElementById('root').innerHTML = `{text}`"
        return response(f"<html><body><div id=root></div><script>{fill}</script></body></html>".encode())

    with serving(respond) as site:
        last = two_lanes.crawl(site.url("/"), render_rule=NONE_SAMPLED)
        two_lanes.change(last, render="never")
        words["/a"] = NEW
        for _ in range(2):
            last = two_lanes.again(last, seconds=90)
            summary = last.change_summary or {}
            assert summary["summary"]["unchanged_pages"] == 0, "what a server sends of them says nothing"
            assert summary["coverage"]["sentence"]
        two_lanes.change(last, render="auto")
        words["/b"] = LATER
        summary = two_lanes.again(last, seconds=90).change_summary or {}
    assert _paths(summary["changed_page_urls"]) == ["/a", "/b"]


# ---- no browser for a while


@pytest.mark.slow
def test_an_edit_is_told_although_there_was_no_browser_when_the_lane_changed(watch: Watch, garden: Garden) -> None:
    watch.crawl("b")
    garden.text["/a"] = NEW
    changed, _ = watch.told("l", has_browser=False)
    assert changed == []
    assert watch.told("l") == (["/a"], [])
    assert [watch.told("l"), watch.told("l")] == [QUIET, QUIET]


@pytest.mark.slow
def test_edits_made_and_told_and_undone_without_a_browser_are_told_once_each(watch: Watch, garden: Garden) -> None:
    """Without one, the first edit of /a is known only to the browser's copies; the second was told by what the server
    sent. /c is edited and told, /d edited and untold; both are undone when there is a browser again."""
    out, welcome = "Dogs stay outside.", "Dogs are welcome."
    garden.text = dict.fromkeys(("/a", "/b"), f"{OLD}</p><p class=dogs>{out}") | dict.fromkeys(("/c", "/d"), OLD)
    watch.crawl("b")
    garden.text |= {"/a": f"{NEW}</p><p class=dogs>{out}", "/d": NEW}
    changed, _ = watch.told("b", has_browser=False)
    assert changed == []
    garden.text |= {"/a": f"{NEW}</p><p class=dogs>{welcome}", "/b": f"{OLD}</p><p class=dogs>{welcome}", "/c": NEW}
    assert watch.told("b", has_browser=False) == (["/a", "/b", "/c"], [])
    assert watch.lines() == {(out, welcome), (OLD, NEW)}
    garden.text |= {"/c": OLD, "/d": OLD}
    assert watch.told("b") == (["/a", "/c"], []), "what nobody told yet, and what was told and is undone"
    assert watch.lines() == {(OLD, NEW), (NEW, OLD)}
    assert watch.told("b") == QUIET


# ---- workers that die


@pytest.mark.slow
def test_a_worker_that_died_with_the_light_copy_in_hand_hides_no_edit(
    two_lanes: TwoLanes, garden: Garden, watch: Watch
) -> None:
    watch.crawl("l")
    assert watch.last is not None
    two_lanes.change(watch.last, render="always")
    garden.text |= {"/new": OLD}
    project = two_lanes.tools.store.get_project(watch.last.project_id)
    crawl = two_lanes.start(project, crawl_type=CrawlType.SCHEDULED)  # by hand it would read robots.txt first
    (pair,), _ = two_lanes.tools.frontier.due(Lane.BROWSER, 1)
    (lease,) = two_lanes.tools.frontier.claim(Lane.BROWSER, [pair], 1, 0.01)
    assert lease.kind is Kind.PAGE
    assert LightPages(two_lanes.tools.redis).begin(crawl.id, digest(parse(lease.url).href))
    time.sleep(0.05)  # longer than the lease: its worker counts as lost
    two_lanes.tools.crawls.reconcile()
    ended = two_lanes.run(crawl, seconds=90)
    assert ended.change_summary is not None
    assert ended.change_summary["changed_page_urls"] == [ended.seed_url], "its list of links grew"
    assert _paths(ended.change_summary["new_page_urls"]) == ["/new"]


@pytest.mark.slow
def test_pages_that_only_a_browser_can_show_are_not_unchanged_while_there_is_none(two_lanes: TwoLanes) -> None:
    words = dict.fromkeys(("/a", "/b", "/c"), OLD)

    def respond(_: object, request: Request) -> bytes:
        links = "".join(f"<a href={path}>{path}</a>" for path in words)
        text = f"{TEXT}{links}<p>{words.get(request.path, 'Home')}</p>"
        fill = f"document.getElementById('root').innerHTML = `{text}`"
        return response(f"<html><body><div id=root></div><script>{fill}</script></body></html>".encode())

    def announce(state: WorkerState) -> None:
        two_lanes.tools.operating.live_workers.announce("renderer", ["render"], state)

    with serving(respond) as site:
        last = two_lanes.crawl(site.url("/"), render_rule=NONE_SAMPLED)
        words["/a"] = NEW
        announce(WorkerState("none is here"))
        for _ in range(3):
            last = two_lanes.again(last, seconds=90)
            summary = last.change_summary or {}
            assert summary["summary"]["unchanged_pages"] == 0, "what a server sends of them says nothing"
            assert summary["coverage"]["code"] == "needs_browser"
            assert summary["coverage"]["expected"] == 4
        announce(WorkerState())
        summary = two_lanes.again(last, seconds=90).change_summary or {}
        assert _paths(summary["changed_page_urls"]) == ["/a"]
        assert not summary["coverage"]["failing"]
