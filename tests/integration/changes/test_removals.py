"""Removed is verified, moved is told as one."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, EndReason
from tests.integration.defects import sitemap
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 1}


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def classes(crawl: CrawlJob, site: Site) -> dict[str, str]:
    """Path → class."""
    return {one["url"].removeprefix(site.url("")): one["class"] for one in told(crawl)["removals"]}


def unlink(site: Site, *paths: str) -> None:
    """The homepage no longer links to these; what they answer stays."""
    lay(site, {"/": [path for path in ("/kept", "/a") if path not in paths]})


def first_crawl(crawler: Engine, site: Site, **config: Any) -> CrawlJob:
    lay(site, {"/": ["/kept", "/a"], "/kept": [], "/a": page(title="About us")})
    return crawler.crawl(site.url(), **config)


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_nothing_links_to_any_more_and_that_is_gone_is_removed(crawler: Engine, site: Site, status: int) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    site.remove("/a", status=status)
    second = crawler.again(first)
    assert told(second)["removed_page_urls"] == [site.url("/a")]
    assert told(second)["summary"]["removed_pages"] == 1
    assert classes(second, site) == {"/a": "gone"}
    assert second.end_reason is EndReason.EXHAUSTED


def test_a_page_nothing_links_to_any_more_but_that_answers_is_a_page_as_before(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    second = crawler.again(first)
    assert told(second)["summary"]["removed_pages"] == 0
    assert classes(second, site) == {}
    assert told(second)["not_compared_urls"] == []
    assert (told(second)["summary"]["unchanged_pages"], second.pages_crawled) == (2, 3)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "fault",
    [
        {"status": 401},
        {"status": 403},
        {"status": 429},
        {"status": 503},
        {"status": 500},
        {"hang": "head"},
        {"redirect": "javascript:void(0)"},
    ],
    ids=str,
)
def test_a_missing_page_nobody_could_look_at_is_blocked_not_removed(
    crawler: Engine, site: Site, fault: dict[str, Any]
) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    site.set_fault("/a", **fault)
    second = crawler.again(first)
    assert classes(second, site) == {"/a": "blocked"}
    assert told(second)["summary"]["removed_pages"] == 0
    assert second.end_reason is EndReason.EXHAUSTED


def test_a_missing_page_that_robots_forbids_is_blocked_and_not_asked_for(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    site.set_robots("User-agent: *\nDisallow: /a\n")
    crawler.tools.engine.robots_and_backoff.forget_robots(f"127.0.0.1:{site.port}")
    before = len(asked(site))
    second = crawler.again(first)
    assert classes(second, site) == {"/a": "blocked"}
    assert "/a" not in asked(site)[before:]


def test_a_missing_page_that_the_rules_now_leave_out_is_excluded_without_a_request(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    site.remove("/a")
    before = len(asked(site))
    project = crawler.tools.store.get_project(first.project_id)
    config = {"delay_seconds": 0, "exclude_patterns": ["/a"]}
    second = crawler.run(crawler.start(project, config=config))
    assert classes(second, site) == {"/a": "excluded"}
    assert "/a" not in asked(site)[before:]


def test_a_page_that_the_rules_now_leave_out_is_excluded_also_when_it_is_linked(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"delay_seconds": 0, "exclude_patterns": ["/a"]}))
    assert classes(second, site) == {"/a": "excluded"}
    assert told(second)["summary"]["removed_pages"] == 0


def second_with_room_for_two(crawler: Engine, first: CrawlJob) -> CrawlJob:
    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"delay_seconds": 0, "max_pages": 2, "max_concurrent": 1}))
    assert second.end_reason is EndReason.MAX_PAGES
    return second


def test_a_crawl_that_stopped_at_max_pages_does_not_ask_for_pages_that_are_linked(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/kept", "/new", "/a"], "/new": []})
    site.remove("/a")
    before = len(asked(site))
    second = second_with_room_for_two(crawler, first)
    assert classes(second, site) == {"/a": "not_reached"}
    assert "/a" not in asked(site)[before:]
    (kept,) = crawler.rows("SELECT state, outcome, http_status FROM crawl_probes")
    assert (kept["state"], kept["outcome"], kept["http_status"]) == ("done", "not_reached", None), "for the next crawl"


def test_a_crawl_that_stopped_at_max_pages_asks_for_pages_that_nothing_links_to(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/kept", "/new"], "/new": []})
    site.remove("/a")
    assert classes(second_with_room_for_two(crawler, first), site) == {"/a": "gone"}


def test_a_crawl_to_which_nothing_is_missing_makes_no_request_more(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    before = len(asked(site))
    second = crawler.again(first)
    assert len(asked(site)) == 2 * before
    assert told(second)["removals"] == []
    assert crawler.rows("SELECT * FROM crawl_probes") == []


# ---- moved


def test_a_page_that_redirects_to_a_new_one_moved(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/kept", "/b"], "/b": page(title="Another text")})
    site.set_fault("/a", redirect="/b")
    summary = told(crawler.again(first))
    edits = [{"removed": "About us", "added": "Another text"}]
    assert summary["moved"] == [{"from": site.url("/a"), "to": site.url("/b"), "edits": edits}]
    assert summary["moved_pages"] == 1
    assert summary["summary"] == {"new_pages": 0, "removed_pages": 0, "changed_pages": 1, "unchanged_pages": 1}
    assert summary["removals"] == []


def test_a_page_that_redirects_to_a_new_one_moved_also_when_it_is_still_linked(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/b": page(title="Another text")})
    site.set_fault("/a", redirect="/b")
    before = len(asked(site))
    summary = told(crawler.again(first))
    edits = [{"removed": "About us", "added": "Another text"}]
    assert summary["moved"] == [{"from": site.url("/a"), "to": site.url("/b"), "edits": edits}]
    assert asked(site)[before:].count("/a") == 1, "the crawl met it: nobody has to ask again"


def test_a_page_that_redirects_to_one_that_was_there_is_removed_and_says_where_it_leads(
    crawler: Engine, site: Site
) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    site.set_fault("/a", redirect="/kept")
    summary = told(crawler.again(first))
    assert summary["removals"] == [{"url": site.url("/a"), "class": "moved", "target": site.url("/kept")}]
    assert summary["removed_page_urls"] == [site.url("/a")]
    assert summary["moved"] == []


@pytest.mark.slow
def test_a_redirect_to_a_page_that_is_gone_is_gone(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/kept", "/b"]})
    site.remove("/b")
    site.set_fault("/a", redirect="/b")
    assert classes(crawler.again(first), site) == {"/a": "gone"}


def test_a_page_that_is_gone_and_a_new_one_with_its_words_are_one_move(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    lay(site, {"/": ["/kept", "/about"], "/about": page(title="About us")})
    site.remove("/a")
    summary = told(crawler.again(first))
    assert summary["moved"] == [{"from": site.url("/a"), "to": site.url("/about")}]
    assert summary["summary"]["new_pages"] == summary["summary"]["removed_pages"] == 0


@pytest.mark.slow
def test_pages_that_say_the_same_are_not_paired(crawler: Engine, site: Site) -> None:
    empty = page(title="Empty")
    lay(site, {"/": ["/a", "/b"], "/a": empty, "/b": empty})
    first = crawler.crawl(site.url())
    lay(site, {"/": ["/c", "/d"], "/c": empty, "/d": empty})
    site.remove("/a")
    site.remove("/b")
    summary = told(crawler.again(first))
    assert summary["moved"] == []
    assert summary["summary"]["new_pages"] == summary["summary"]["removed_pages"] == 2


# ---- over several crawls


@pytest.mark.slow
def test_a_removal_that_one_crawl_could_not_verify_is_told_by_the_next(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    fault = site.set_fault("/a", status=500)
    second = crawler.again(first)
    assert told(second)["removed_page_urls"] == []
    site.mend(fault)
    site.remove("/a")
    third = crawler.again(second)
    assert third.compared_to == second.id
    assert told(third)["removed_page_urls"] == [site.url("/a")]
    assert told(crawler.again(third))["removed_page_urls"] == [], "once"


@pytest.mark.slow
def test_a_page_that_can_never_be_looked_at_is_given_up_after_three_crawls(crawler: Engine, site: Site) -> None:
    crawl = first_crawl(crawler, site)
    unlink(site, "/a")
    site.set_fault("/a", status=403)
    before = len(asked(site))
    for _ in range(5):
        crawl = crawler.again(crawl)
    assert asked(site)[before:].count("/a") == 3


@pytest.mark.slow
def test_a_page_that_was_unlinked_for_a_while_is_not_new_when_it_is_linked_again(crawler: Engine, site: Site) -> None:
    first = first_crawl(crawler, site)
    unlink(site, "/a")
    second = crawler.again(first)
    lay(site, {"/": ["/kept", "/a"]})
    third = crawler.again(second)
    assert told(third)["new_page_urls"] == []
    assert told(third)["summary"]["unchanged_pages"] == 2


# ---- unlinked first, gone later


def removed_in(crawl: CrawlJob) -> list[str]:
    found = told(crawl)["removed_page_urls"]
    assert isinstance(found, list)
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("way", ["unlinked", "left the sitemap"])
def test_a_page_that_was_only_unlinked_is_told_as_removed_once_when_it_is_gone(
    crawler: Engine, site: Site, way: str
) -> None:
    lay(site, {"/": ["/kept", *(["/a"] if way == "unlinked" else [])], "/kept": [], "/a": page(title="About us")})
    if way != "unlinked":
        sitemap(site, "/a")
    crawl = crawler.crawl(site.url())
    assert "/a" in crawler.paths(crawl)
    lay(site, {"/": ["/kept"]})
    if way != "unlinked":
        site.mend()
        sitemap(site, "/kept")
    for _ in range(3):
        crawl = crawler.again(crawl)
        assert removed_in(crawl) == [], "it answers"
        assert told(crawl)["new_page_urls"] == []
    site.remove("/a")
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == [site.url("/a")]
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == [], "once"


# ---- answers 200 and says that it is gone


GONE = {
    "/title": page(title="Page not found", body="<p>Sorry, it does not exist any more. Use the search.</p>"),
    "/number": page(title="Acme", body="<h1>404</h1><p>Nothing here.</p>"),
    "/error": page(title="Error 404 | Acme", body="<p>Nothing here.</p>"),
    "/german": page(title="Acme", body="<h1>Seite nicht gefunden</h1>"),
}
STANDING = {
    "/codes": page(title="404 Not Found | Status codes", body="<p>A word about status codes.</p>" * 60),
    "/car": page(title="Peugeot 404", body="<h1>The Peugeot 404</h1><p>A car.</p>"),
    "/keys": page(title="Lost keys", body="<h1>Lost keys</h1><p>The owner was not found.</p>"),
}


@pytest.mark.slow
def test_an_unlinked_page_whose_heading_says_not_found_is_gone_whatever_its_status(crawler: Engine, site: Site) -> None:
    kept = [f"/kept/{n}" for n in range(12)]
    lay(site, {"/": [*kept, *GONE, *STANDING], **dict.fromkeys(kept, ())})
    lay(site, {path: page(title=f"About {path}", body=f"<p>All of {path}</p>") for path in (*GONE, *STANDING)})
    first = crawler.crawl(site.url())
    lay(site, {"/": kept, **GONE, **STANDING})
    second = crawler.again(first)
    assert classes(second, site) == dict.fromkeys(GONE, "gone")
    assert sorted(removed_in(second)) == sorted(map(site.url, GONE))
    assert removed_in(crawler.again(second)) == []


@pytest.mark.slow
def test_the_end_of_a_page_is_told_once_though_it_is_said_in_two_ways(crawler: Engine, site: Site) -> None:
    """It is linked all the time, and answers 200 before it answers 404."""
    kept = [f"/kept/{n}" for n in range(4)]
    lay(site, {"/": [*kept, "/title", "/other"], **dict.fromkeys(kept, ())})
    lay(site, {path: page(title=f"About {path}", body=f"<p>All of {path}</p>") for path in ("/title", "/other")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/title": GONE["/title"]})
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == [site.url("/title")]
    site.remove("/title")
    site.remove("/other")
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == [site.url("/other")]
    assert told(crawl)["not_compared_urls"] == []


@pytest.mark.slow
def test_a_page_that_is_gone_after_an_error_of_the_whole_site_is_removed(crawler: Engine, site: Site) -> None:
    """The error said of every page that it is gone, and nothing was told as removed then."""
    paths = [f"/p{n}" for n in range(6)]
    pages = {path: page(title=f"About {path}", body=f"<p>All of {path}</p>") for path in paths}
    lay(site, {"/": paths, **pages})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, dict.fromkeys(paths, GONE["/title"]))
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == []
    lay(site, pages)
    site.remove("/p3")
    assert removed_in(crawler.again(crawl)) == [site.url("/p3")]


# ---- back after it said that it was gone

STORY = page(
    title="The old harbour | Acme",
    body="".join(f"<p>The {n} boat of the old harbour was built and sold in spring.</p>" for n in "abcdef"),
)
SIGNS_LIKE_WALLS = {
    "nothing but a title": page(title="404 | Acme"),
    "an error": page(title="Not found | Acme", body="<h1>404</h1><p>Something went wrong.</p>"),
    "a refresh": page(
        title="Acme", head='<meta http-equiv="refresh" content="0; url=/kept/0">', body="<p>Redirecting…</p>"
    ),
}


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("sign", SIGNS_LIKE_WALLS)
def test_that_a_page_is_back_is_told_if_its_end_was(crawler: Engine, site: Site, sign: str) -> None:
    """What said so looks like a wall; but nobody was told that the page could not be seen."""
    kept = [f"/kept/{n}" for n in range(4)]
    lay(site, {"/": [*kept, "/a"], "/a": STORY, **dict.fromkeys(kept, ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for run in range(2):
        lay(site, {"/a": SIGNS_LIKE_WALLS[sign]})
        crawl = crawler.again(crawl)
        assert removed_in(crawl) == [site.url("/a")]
        crawl = crawler.again(crawl)
        assert removed_in(crawl) == []
        lay(site, {"/a": STORY})
        crawl = crawler.again(crawl)
        assert told(crawl)["changed_page_urls"] == [site.url("/a")], f"run {run}"
        crawl = crawler.again(crawl)
        assert told(crawl)["changed_page_urls"] == []


@pytest.mark.slow
def test_that_many_pages_are_back_is_told(crawler: Engine, site: Site) -> None:
    """They said one and the same in place of a third of the site, and how to sign in."""
    gone, kept = [f"/gone/{n}" for n in range(10)], [f"/kept/{n}" for n in range(16)]
    texts = {path: STORY.replace("old harbour", f"harbour of {path}") for path in [*gone, *kept]}
    lay(site, {"/": [*gone, *kept], **texts})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, dict.fromkeys(gone, page(title="Page not found", body="<p>Search, or log in to see more.</p>")))
    crawl = crawler.again(crawl)
    assert removed_in(crawl) == sorted(map(site.url, gone))
    lay(site, texts)
    crawl = crawler.again(crawl)
    assert told(crawl)["changed_page_urls"] == sorted(map(site.url, gone))


@pytest.mark.slow
def test_that_pages_are_back_is_told_if_a_redirect_for_the_time_being_was_told_as_their_end(
    crawler: Engine, site: Site
) -> None:
    """They led to one place in two crawls in a row, and do no more."""
    paths, kept = [f"/p{n}" for n in range(3)], [f"/kept/{n}" for n in range(6)]
    lay(site, {"/": [*paths, *kept, "/shop"], "/shop": [], **dict.fromkeys([*paths, *kept], ())})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for runs in (1, 2, 3):
        faults = [site.set_fault(path, redirect="/shop", status=302) for path in paths]
        ends = []
        for _ in range(runs):
            crawl = crawler.again(crawl)
            ends += removed_in(crawl)
        assert ends == ([] if runs == 1 else list(map(site.url, paths)))
        for fault in faults:
            site.mend(fault)
        crawl = crawler.again(crawl)
        assert told(crawl)["new_page_urls"] == ends, f"after {runs} crawls"
        assert told(crawl)["changed_page_urls"] == []


# ---- where a barrier leads is no page of the site


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("target", ["/login?next={}", "/maintenance"])
def test_where_a_barrier_leads_is_neither_new_when_it_comes_nor_removed_when_it_goes(
    crawler: Engine, site: Site, target: str, linked: bool
) -> None:
    paths = [f"/p{n}" for n in range(5)]
    lay(site, {"/": ["/kept", *paths], "/kept": [], **{path: [] for path in paths}})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    behind = paths if linked else paths[:3]
    places = {target.format(path) for path in behind}
    faults = [site.set_fault(path, redirect=target.format(path), status=302) for path in behind]
    lay(site, {place.partition("?")[0]: page(title="Sign in") for place in places})
    if not linked:
        lay(site, {"/": ["/kept", *paths[3:]]})
    for _ in range(2 if "login" in target else 1):  # one that stands longer gives pages up
        crawl = crawler.again(crawl)
        assert (told(crawl)["new_page_urls"], removed_in(crawl)) == ([], [])
    for fault in faults:
        site.mend(fault)
    for place in places:
        site.remove(place.partition("?")[0])
    lay(site, {"/": ["/kept", *paths]})
    crawl = crawler.again(crawl)
    assert (told(crawl)["new_page_urls"], removed_in(crawl)) == ([], [])


@pytest.mark.slow
def test_a_page_that_others_still_lead_to_is_told_when_it_is_gone(crawler: Engine, site: Site) -> None:
    paths = ["/kept", "/shop", "/a", "/b", "/c"]
    lay(site, {"/": paths, **{path: [] for path in paths}})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for path in ("/a", "/b", "/c"):
        site.set_fault(path, redirect="/shop", status=302)
    crawl = crawler.again(crawl)
    site.remove("/shop")
    assert site.url("/shop") in removed_in(crawler.again(crawl))


@pytest.mark.slow
@pytest.mark.parametrize("linked", [True, False])
def test_pages_that_lead_to_one_place_for_the_time_being_are_removed_when_they_do_so_again(
    crawler: Engine, site: Site, linked: bool
) -> None:
    gone, rest = [f"/g{n}" for n in range(4)], [f"/r{n}" for n in range(6)]
    lay(site, {"/": [*gone, *rest], **{path: [] for path in [*gone, *rest]}})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for path in gone:
        site.set_fault(path, redirect="/", status=302)
    if not linked:
        lay(site, {"/": rest})
    found = []
    for _ in range(4):
        crawl = crawler.again(crawl)
        found.append((len(removed_in(crawl)), [each["pages"] for each in told(crawl)["redirected_together"]]))
    assert found == [(0, []), (4, [4]), (0, []), (0, [])]


def test_pages_behind_a_sign_in_page_are_never_removed_however_long_it_stands(crawler: Engine, site: Site) -> None:
    behind, rest = [f"/g{n}" for n in range(4)], [f"/r{n}" for n in range(6)]
    lay(site, {"/": [*behind, *rest], "/login": [], **{path: [] for path in [*behind, *rest]}})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for path in behind:
        site.set_fault(path, redirect=f"/login?next={path}", status=302)
    notes = []
    for _ in range(4):
        crawl = crawler.again(crawl)
        assert (removed_in(crawl), told(crawl)["new_page_urls"]) == ([], [])
        notes.append(len(told(crawl)["wall_notes"]))
    assert notes == [1, 1, 1, 1], "each crawl says what it could not see"


@pytest.mark.parametrize("linked", [True, False])
def test_one_page_that_asks_to_sign_in_is_not_removed_and_is_compared_when_it_does_not(
    crawler: Engine, site: Site, linked: bool
) -> None:
    rest = [f"/r{n}" for n in range(6)]
    lay(site, {"/": ["/issue", *rest], **{path: [] for path in rest}, "/login": page(title="Sign in")})
    lay(site, {"/issue": page(body="<p>It takes 20 seconds.</p>")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    fault = site.set_fault("/issue", redirect="/login?back_url=%2Fissue", status=302)
    if not linked:
        lay(site, {"/": rest})
    for _ in range(2):
        crawl = crawler.again(crawl)
        assert (removed_in(crawl), told(crawl)["new_page_urls"]) == ([], [])
        assert "1 asks to sign in" in told(crawl)["coverage"]["sentence"]
    site.mend(fault)
    lay(site, {"/": ["/issue", *rest], "/issue": page(body="<p>It takes 30 seconds.</p>")})
    crawl = crawler.again(crawl)
    assert (told(crawl)["new_page_urls"], removed_in(crawl)) == ([], [])
    assert site.url("/issue") in told(crawl)["changed_page_urls"]


@pytest.mark.slow
@pytest.mark.parametrize("edited", [True, False])
def test_a_page_that_was_unlinked_for_several_crawls_is_compared_with_what_it_was(
    crawler: Engine, site: Site, edited: bool
) -> None:
    crawl = first_crawl(crawler, site)
    unlink(site, "/a")
    for _ in range(3):
        crawl = crawler.again(crawl)
    lay(site, {"/": ["/kept", "/a"]})
    if edited:
        lay(site, {"/a": page(title="About us", body="<p>We moved to another town.</p>")})
    crawl = crawler.again(crawl)
    changed = [site.url("/a")] if edited else []
    assert (told(crawl)["new_page_urls"], removed_in(crawl)) == ([], [])
    assert [url for url in told(crawl)["changed_page_urls"] if url.endswith("/a")] == changed
