"""Every real edit is told and noise is not, over whole crawls: rules that join others (docs/explanation/changes.md)."""

import itertools
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import Clock, lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site

WORDS = "<p>These are the words of page {} and they are enough of them to make a page that can be told from none.</p>"


def lay_pages(site: Site, extra: Callable[[int], str], count: int = 8) -> None:
    """A homepage that never changes, and so many pages with these words each."""
    paths = [f"/p{n}" for n in range(count)]
    lay(site, {"/": page(*paths, title="Home", body=WORDS.format("home"))})
    lay(site, {path: page(title=path, body=WORDS.format(path) + extra(n)) for n, path in enumerate(paths)})


def summary_of(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def told(crawl: CrawlJob, kind: str = "changed_page_urls") -> list[str]:
    return [url.split("/", 3)[3] for url in summary_of(crawl)[kind]]


def test_edits_of_short_pages_are_told_whatever_words_they_have(crawler: Engine, site: Site) -> None:
    before = ("Price 450", "Order now", "Write to us", "Runs on Node 18", "Answered within 4 hours", "Now on 12 May")
    after = ("Price 500", "Sold out, back soon", "Protected by hCaptcha", "Runs on Node 20", "Answered within 48 hours",
             "Now on 14 June")  # fmt: skip
    paths = [f"/p{n}" for n in range(len(before))]
    lay(site, {"/": paths, **{p: page(title=p, body=f"<p>{text}</p>") for p, text in zip(paths, before, strict=True)}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {p: page(title=p, body=f"<p>{text}</p>") for p, text in zip(paths, after, strict=True)})
    assert told(crawler.again(first)) == [path[1:] for path in paths]


def test_prices_that_change_on_all_pages_are_told_at_every_crawl(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda n: f"<p>Price: € {400 + n}</p>")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for by in (10, 20, 30):

        def dearer(n: int, by: int = by) -> str:
            return f"<p>Price: € {400 + n * 2 + by}</p>"

        lay_pages(site, dearer)
        crawl = crawler.again(crawl)
        assert len(told(crawl)) == 8
        assert summary_of(crawl)["is_significant"]
    assert crawler.tools.changes.manage_noise.list_rules(crawl.project_id) == []


@pytest.mark.slow
def test_an_edit_far_along_a_line_is_told_and_shown(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda n: f"<p>{'Many words stand here. ' * 60} It takes ten days. Page {n}.</p>")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/p3": page(title="/p3", body=WORDS.format("/p3")
               + f"<p>{'Many words stand here. ' * 60} It takes two days. Page 3.</p>")})  # fmt: skip
    second = crawler.again(first)
    assert told(second) == ["p3"]
    (digest,) = crawler.tools.changes.digest(second.id)
    assert ("ten days" in digest.removed[0], "two days" in digest.added[0]) == (True, True)


def days(at: datetime) -> str:
    return f"<p>Nightly of {at:%d %B %Y}</p>"


@pytest.mark.slow
def test_a_date_that_is_the_day_of_the_fetch_is_told_on_one_page_until_its_earlier_versions_say_that_it_runs(
    crawler: Engine, site: Site
) -> None:
    clock = Clock(crawler)

    def lay_today() -> None:
        lay_pages(site, lambda n: days(clock()) if n == 0 else "")

    lay_today()
    crawl, found = crawler.crawl(site.url(), use_sitemaps=False), []
    for _ in range(3):
        clock.forward(days=1)
        lay_today()
        crawl = crawler.again(crawl)
        found.append(told(crawl))
    assert found == [["p0"], [], []]


@pytest.mark.slow
def test_a_date_that_is_the_day_of_the_fetch_on_several_pages_is_quiet(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    lay_pages(site, lambda n: days(clock()) if n < 4 else "")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    clock.forward(days=1)
    lay_pages(site, lambda n: days(clock()) + ("<p>News!</p>" if n == 2 else "") if n < 4 else "")
    second = crawler.again(first)
    assert told(second) == ["p2"]
    assert summary_of(second)["template_changes"] == []


@pytest.mark.slow
def test_a_date_in_one_line_of_the_template_is_told_once_and_quiet_when_it_runs_on(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    lay_pages(site, lambda _: f"<p>Concert on {clock():%d %B %Y}</p>")
    crawl, found = crawler.crawl(site.url(), use_sitemaps=False), []
    for _ in range(3):
        clock.forward(days=1)
        lay_pages(site, lambda _: f"<p>Concert on {clock():%d %B %Y}</p>")
        crawl = crawler.again(crawl)
        assert told(crawl) == []
        found.append(
            ([edit["pages"] for edit in summary_of(crawl)["template_changes"]], summary_of(crawl)["is_significant"])
        )
    assert found == [([8], True), ([], False), ([], False)]


def test_an_edit_between_the_first_and_the_second_look_is_told_and_not_learned(crawler: Engine) -> None:
    """A new hotline in every footer, and new prices, while the crawl is at it."""
    seen: Counter[str] = Counter()
    tokens = itertools.count(1)

    def respond(_: object, request: Request) -> bytes:
        if request.path not in {"/", "/a", "/b", "/c"}:
            return response(b"", "404 Not Found")
        seen[request.path] += 1
        hotline, price = ("0800 1234", 40) if seen[request.path] == 1 else ("0800 9999", 55)
        foot = f"<footer class='foot'><p>Call our hotline {hotline}</p></footer>"
        offer = f"<p class='now'>{next(tokens)} people look at this offer, last price paid {price}</p>"
        return response(page("/a", "/b", "/c", body=WORDS.format(request.path) + offer + foot).encode())

    with serving(respond) as server:
        first = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
        second = crawler.again(first)
        changes = summary_of(second)
        sent_for = [change["added"] for change in changes["template_changes"]]
        assert "Call our hotline 0800 9999" in sent_for
        assert changes["summary"]["changed_pages"] == 4, "each has another number of people, so prices are told by page"
        assert told(crawler.again(second)) == [], "the number of people was learned, and nothing else"


@pytest.mark.slow
def test_a_line_beside_a_rotating_advertisement_still_counts(crawler: Engine) -> None:
    ads, hours = itertools.count(1), {"/a": "9 to 5"}

    def respond(_: object, request: Request) -> bytes:
        if request.path not in {"/", "/a", "/b", "/c"}:
            return response(b"", "404 Not Found")
        ad = ("Buy shoes now", "Sleep on fine wool", "Fly to an island", "Learn to sail", "Fresh bread")[next(ads) % 5]
        box = f"<div class='box'><p>Open {hours.get(request.path, '9 to 5')}</p><p>{ad}</p></div>"
        return response(page("/a", "/b", "/c", body=WORDS.format(request.path) + box).encode())

    with serving(respond) as server:
        first = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False, max_concurrent=1)
        hours["/a"] = "9 to 6"
        second = crawler.again(first)
        assert told(second) == ["a"]
        assert crawler.tools.changes.manage_noise.list_rules(first.project_id), "the advertisement was learned"


@pytest.mark.slow
def test_a_sign_in_page_at_every_address_is_one_note_and_what_happened_meanwhile_is_told_after_it(
    crawler: Engine, site: Site
) -> None:
    lay_pages(site, lambda _: "")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    paths = [f"/p{n}" for n in range(8)]
    sign_in = page(title="Welcome", body="<h1>Sign in</h1><p>Your name</p><p>Your password</p><p>Forgotten it?</p>")
    lay(site, dict.fromkeys(paths, sign_in))
    second = crawler.again(first)
    assert told(second) == []
    assert not summary_of(second)["is_significant"]
    (note,) = summary_of(second)["wall_notes"]
    assert (note["kind"], note["pages"]) == ("same_page", 8)
    lay_pages(site, lambda n: "<p>News!</p>" if n == 5 else "")
    third = crawler.again(second)
    assert told(third) == ["p5"]
    assert (summary_of(third)["walls"], summary_of(third)["wall_notes"]) == ([], [])
    (digest,) = crawler.tools.changes.digest(third.id)
    assert (digest.removed, digest.added) == ((), ("News!",))


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize(("target", "status"), [("/login", 301), ("/login", 302), ("/", 301)])
def test_pages_that_all_lead_to_one_place_are_one_note_and_are_not_new_when_they_are_back(
    crawler: Engine, site: Site, target: str, status: int
) -> None:
    lay_pages(site, lambda _: "")
    lay(site, {"/login": page(title="Sign in", body=WORDS.format("login"))})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    faults = [site.set_fault(f"/p{n}", redirect=target, status=status) for n in range(8)]
    second = crawler.again(first)
    assert summary_of(second)["summary"]["removed_pages"] == 0
    assert summary_of(second)["moved"] == []
    (note,) = summary_of(second)["wall_notes"]
    assert (note["kind"], note["pages"], note["target"]) == ("redirect", 8, site.url(target))
    for fault in faults:
        site.mend(fault)
    lay_pages(site, lambda n: "<p>News!</p>" if n == 5 else "")
    third = crawler.again(second)
    assert (told(third), told(third, "new_page_urls")) == (["p5"], [])


@pytest.mark.slow
def test_pages_without_links_that_lead_to_a_login_are_not_new_when_they_are_back(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    faults = [site.set_fault(f"/p{n}", redirect=f"/login?next=/p{n}", status=302) for n in range(8)]
    lay(site, {"/": page("/login", title="Home", body=WORDS.format("home")), "/login": page(title="Sign in")})
    second = crawler.again(first)
    assert (told(second, "removed_page_urls"), summary_of(second)["wall_notes"][0]["pages"]) == ([], 8)
    for fault in faults:
        site.mend(fault)
    lay_pages(site, lambda _: "")
    assert told(crawler.again(second), "new_page_urls") == []


def test_a_few_pages_given_up_for_one_other_are_removed_and_told_in_one_statement(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    for n in range(3):
        site.set_fault(f"/p{n}", redirect="/p7", status=301)
    second = crawler.again(first)
    assert summary_of(second)["summary"]["removed_pages"] == 3
    (group,) = summary_of(second)["redirected_together"]
    assert (group["target"], group["pages"]) == (site.url("/p7"), 3)


def test_a_line_with_a_number_of_its_own_that_first_appears_on_all_pages_is_one_change_of_the_site(
    crawler: Engine, site: Site
) -> None:
    lay_pages(site, lambda _: "")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda n: f"<p>Seen by {n * 7 + 113} people</p>" + ("<p>News!</p>" if n == 3 else ""))
    second = crawler.again(first)
    assert told(second) == ["p3"]
    (change,) = summary_of(second)["template_changes"]
    assert (change["line"], change["pages"], change["removed"]) == ("Seen by # people", 8, "")
    (digest,) = crawler.tools.changes.digest(second.id)
    assert digest.added == ("News!",)


def test_a_page_with_noise_that_moved_is_one_move(crawler: Engine, site: Site) -> None:
    noise = "<p>Viewed {} times</p><p>All about bicycles and how they are built.</p>"
    body = WORDS.format("about") + noise
    lay_pages(site, lambda _: "")
    lay(site, {"/p0": page(title="About", body=body.format(1201))})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    paths = ["/about", *(f"/p{n}" for n in range(1, 8))]
    lay(site, {"/": page(*paths, title="Home", body=WORDS.format("home"))})
    lay(site, {"/about": page(title="About", body=body.format(1377))})
    site.remove("/p0")
    second = crawler.again(first)
    assert summary_of(second)["moved"] == [{"from": site.url("/p0"), "to": site.url("/about")}]
    counts = summary_of(second)["summary"]
    assert (counts["new_pages"], counts["removed_pages"]) == (0, 0)
    assert summary_of(second)["removal_counts"]["gone"] == 0


@pytest.mark.slow
def test_an_edit_of_the_template_is_significant_by_the_pages_that_show_it(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "<p>All rights reserved.</p>")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda _: "<p>We close for ever on Friday.</p>")
    second = crawler.again(first)
    found = summary_of(second)
    assert (found["summary"]["changed_pages"], found["template_pages"], found["is_significant"]) == (0, 8, True)


@pytest.mark.slow
def test_comparing_again_gives_the_same_summary(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda n: f"<p>Price: € {400 + n}</p>")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda n: f"<p>Price: € {402 + n}</p><p>Seen by {n * 7 + 113} people</p>")
    second = crawler.again(first)
    assert crawler.tools.changes.diff_crawl(second.id).change_summary == second.change_summary
