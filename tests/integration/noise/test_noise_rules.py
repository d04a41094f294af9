"""What counts as a change, over whole crawls: noise, learned noise, templates, walls (docs/explanation/changes.md)."""

import itertools
from collections.abc import Callable
from uuid import UUID

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.noise.rules import Origin, RuleKind
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.notices.schedule import NotifyOn
from crawler.errors import Invalid, InvalidPattern, NotFound
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site

WORDS = "<p>These are the words of page {} and they are enough of them to make a page that can be told from none.</p>"


def lines(path: str, extra: str = "", *links: str) -> str:
    return page(*links, title=path, body=WORDS.format(path) + extra)


def lay_pages(site: Site, extra: Callable[[str], str], count: int = 8) -> list[str]:
    paths = [f"/p{n}" for n in range(count)]
    lay(site, {"/": lines("/", extra("/"), *paths), **{path: lines(path, extra(path)) for path in paths}})
    return paths


def own_word(path: str) -> str:
    """What only this page says: no edit of a template."""
    return 3 * "bdfghklmn"[int(path[2:] or 8)]


def told(crawl: CrawlJob, kind: str = "changed_page_urls") -> list[str]:
    assert crawl.change_summary is not None
    return [url.split("/", 3)[3] for url in crawl.change_summary[kind]]


def test_pages_that_differ_only_in_noise_are_quiet_and_named(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda path: f"<p>Viewed {len(path)}12 times</p>")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda path: f"<p>Viewed {len(path)}57 times</p>" + ("<p>News!</p>" if path == "/p3" else ""))
    second = crawler.again(first)
    summary = second.change_summary
    assert summary is not None
    assert told(second) == ["p3"]
    assert (summary["quiet_pages"], summary["summary"]["unchanged_pages"]) == (8, 8)
    assert summary["quiet_page_urls"][0]["rules"] == ["counter"]
    assert summary["is_significant"], "1 of 9 is more than a tenth"


def test_rules_of_a_project_hold_from_the_next_comparison_on(crawler: Engine, site: Site) -> None:
    stock = "<p class='stock'>{} of our bicycles wait for you</p>"
    lay_pages(site, lambda path: stock.format("Many" + path))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    rule = crawler.tools.changes.manage_noise.add(first.project_id, RuleKind.SELECTOR, ".stock")
    lay_pages(site, lambda path: stock.format("Few" + path))
    second = crawler.again(first)
    assert told(second) == []
    assert second.change_summary is not None
    assert second.change_summary["quiet_page_urls"][0]["rules"] == [str(rule.id)]
    assert crawler.tools.changes.manage_noise.list_rules(first.project_id)[0].hits == 9
    crawler.tools.changes.manage_noise.set_enabled(first.project_id, rule.id, enabled=False)
    lay_pages(site, lambda path: stock.format("No" + path))
    third = crawler.again(second)
    assert third.change_summary is not None
    assert len(told(third)) + third.change_summary["template_pages"] == 9


def test_what_varies_by_itself_is_learned_listed_and_can_be_switched_off(crawler: Engine) -> None:
    tokens = itertools.count(1)
    text = {"/a": "same"}

    def respond(_: object, request: Request) -> bytes:
        if request.path not in {"/", "/a", "/b", "/c"}:
            return response(b"", "404 Not Found")
        ref = f"<div class='ref'>Sponsor {next(tokens):x}z{'yx'[next(tokens) % 2]} {'abcdefgh'[next(tokens) % 8]}</div>"
        body = WORDS.format(request.path) + ref + f"<p>It says {text.get(request.path, 'this')}.</p>"
        return response(page("/a", "/b", "/c", body=body).encode())

    with serving(respond) as server:
        first = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
        text["/a"] = "edited"
        second = crawler.again(first)
        assert told(second) == ["a"]
        rules = crawler.tools.changes.manage_noise.list_rules(first.project_id)
        assert {rule.origin for rule in rules} == {Origin.LEARNED}
        assert all("div.ref" in rule.value for rule in rules)
        assert sum(rule.hits for rule in rules) >= 3
        assert second.change_summary is not None
        assert {one["place"] for one in second.change_summary["left_out_places"]} <= {"div.ref"}
        for rule in rules:
            crawler.tools.changes.manage_noise.set_enabled(first.project_id, rule.id, enabled=False)
        third = crawler.again(second)
        assert len(told(third)) == 4, "switched off, and not learned again"
        assert not any(rule.enabled for rule in crawler.tools.changes.manage_noise.list_rules(first.project_id))


def test_what_is_masked_as_a_whole_is_said(crawler: Engine) -> None:
    sayings = itertools.count(1)

    def respond(_: object, request: Request) -> bytes:
        if request.path not in {"/", "/a", "/b", "/c"}:
            return response(b"", "404 Not Found")
        said = "".join("abcdefghij"[int(digit)] for digit in str(next(sayings) * 7919))
        teaser = f"<div class='teaser'>{said} {said[::-1]} {said[1:]}</div>"
        return response(page("/a", "/b", "/c", body=WORDS.format(request.path) + teaser).encode())

    with serving(respond) as server:
        first = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
        second = crawler.again(first)
    assert told(second) == []
    assert second.change_summary is not None
    (place,) = second.change_summary["left_out_places"]
    (rule,) = crawler.tools.changes.manage_noise.list_rules(first.project_id)
    assert place == {"place": "div.teaser", "rule": str(rule.id), "pages": 4, "values": False}


def test_an_edit_of_the_template_is_one_change_of_the_site(crawler: Engine, site: Site) -> None:
    menu = "<nav><ul><li>Home</li><li>{}</li></ul></nav>"
    lay_pages(site, lambda _: menu.format("Shop"))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda path: menu.format("Store") + ("<p>News!</p>" if path == "/p3" else ""))
    second = crawler.again(first)
    assert told(second) == ["p3"]
    assert second.change_summary is not None
    (change,) = second.change_summary["template_changes"]
    assert (change["removed"], change["added"], change["pages"]) == ("Shop", "Store", 9)
    (digest,) = crawler.tools.changes.digest(second.id)
    assert (digest.removed, digest.added) == ((), ("News!",))


@pytest.mark.slow
def test_a_number_that_rises_all_over_the_site_is_one_change_each_time(crawler: Engine, site: Site) -> None:
    def lay_cited(by: int) -> None:
        lay_pages(site, lambda path: f"<p>Cited {len(path) * 10 + by} times</p>")

    lay_cited(0)
    crawl, told_each_time = crawler.crawl(site.url(), use_sitemaps=False), []
    for by in (1, 2, 3):
        lay_cited(by)
        crawl = crawler.again(crawl)
        assert told(crawl) == []
        assert crawl.change_summary is not None
        told_each_time.append([change["line"] for change in crawl.change_summary["template_changes"]])
    assert told_each_time == [["Cited # times"]] * 3
    assert crawler.tools.changes.manage_noise.list_rules(crawl.project_id) == []


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("wall", ["<h1>Please verify you are human</h1>", "<h1>503 Service Unavailable</h1>", ""])
def test_a_wall_in_place_of_pages_is_no_change_neither_when_it_comes_nor_when_it_goes(
    crawler: Engine, site: Site, wall: str
) -> None:
    lay_pages(site, lambda _: "", count=3)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {f"/p{n}": f"<html><body>{wall}</body></html>" for n in range(3)})
    second = crawler.again(first)
    assert (told(second), len(told(second, "not_compared_urls"))) == ([], 3)
    lay_pages(site, lambda _: "", count=3)
    third = crawler.again(second)
    assert (told(third), told(third, "not_compared_urls")) == ([], []), "what stood there before is what counts"


def test_without_its_snapshot_a_page_is_judged_by_its_hash(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "<p>12 views</p>", count=2)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda _: "<p>15 views</p>", count=2)
    second = crawler.again(first)
    assert told(second) == []
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE page_versions SET snapshot_id = NULL")
    assert len(told(crawler.tools.changes.diff_crawl(second.id))) == 3
    assert all(digest.note for digest in crawler.tools.changes.digest(second.id))


@pytest.mark.slow
def test_comparing_again_gives_the_same_summary(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "<p>12 views</p>")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda path: "<p>15 views</p>" + ("<p>News!</p>" if path == "/p3" else ""))
    second = crawler.again(first)
    assert crawler.tools.changes.diff_crawl(second.id).change_summary == second.change_summary


def test_thresholds_are_settings_of_the_project(crawler: Engine, site: Site) -> None:
    lay_pages(site, lambda _: "")
    first = crawler.crawl(site.url(), use_sitemaps=False, significant_changed_share=0.5)
    lay(site, {"/p1": lines("/p1", "<p>News!</p>"), "/p2": lines("/p2", "<p>More of it</p>")})
    second = crawler.again(first)
    assert second.change_summary is not None
    assert (len(told(second)), second.change_summary["is_significant"]) == (2, False)


@pytest.mark.slow
def test_a_backtest_tells_which_crawls_would_have_been_told(crawler: Engine, site: Site) -> None:
    stock = "<p class='stock'>{} of our bicycles wait for you</p>"
    lay_pages(site, lambda path: stock.format("Many" + path))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_pages(site, lambda path: stock.format("Few " + own_word(path)))
    second = crawler.again(first)
    backtest, project = crawler.tools.notices.backtest_schedule, first.project_id
    (as_it_is,) = backtest(project, TrialRules())
    assert (as_it_is.crawl_id, as_it_is.now.alert, as_it_is.now.changed_pages) == (second.id, True, 9)
    assert (as_it_is.then.alert, as_it_is.then.changed_pages) == (False, 9)
    assert as_it_is.then.why == "manual crawls send no notifications"
    (quieter,) = backtest(project, TrialRules(ignore_selectors=(".stock",)))
    assert (quieter.now.alert, quieter.now.why) == (False, "nothing changed: not significant")
    assert quieter.rules_tried
    (by_line,) = backtest(project, TrialRules(ignore_patterns=("bicycles wait",)))
    assert not by_line.now.alert
    always = backtest(project, TrialRules(ignore_selectors=(".stock",), notify_on=NotifyOn.ALWAYS))
    assert always[0].now.alert
    assert crawler.tools.store.get_crawl(second.id).change_summary == second.change_summary, "nothing is changed"


@pytest.mark.slow
def test_a_backtest_weighs_again_when_rules_of_then_hold_no_more_or_others_do_now(crawler: Engine, site: Site) -> None:
    stock = "<p class='stock'>{} of our bicycles wait for you</p>"
    lay_pages(site, lambda path: stock.format("Many" + path))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    backtest, noise, project = (
        crawler.tools.notices.backtest_schedule,
        crawler.tools.changes.manage_noise,
        first.project_id,
    )
    rule = noise.add(project, RuleKind.SELECTOR, ".stock")
    lay_pages(site, lambda path: stock.format("Few " + own_word(path)))
    crawler.again(first)
    (quiet,) = backtest(project, TrialRules())
    assert (quiet.now.alert, quiet.rules_tried) == (False, False)
    noise.set_enabled(project, rule.id, enabled=False)
    (told_now,) = backtest(project, TrialRules())
    (with_more,) = backtest(project, TrialRules(ignore_selectors=(".no-such-thing",)))
    assert (told_now.now, told_now.rules_tried) == (with_more.now, True)
    assert (told_now.now.alert, told_now.now.changed_pages) == (True, 9)
    noise.add(project, RuleKind.REGEX, "bicycles wait")
    (quiet_again,) = backtest(project, TrialRules())
    assert (quiet_again.now.alert, quiet_again.rules_tried) == (False, True)


@pytest.mark.slow
def test_a_backtest_counts_pages_with_an_edit_of_the_template_anew(crawler: Engine, site: Site) -> None:
    menu = "<nav><ul><li>Home</li><li>{}</li></ul></nav>"
    lay_pages(site, lambda _: menu.format("Shop"))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    rule = crawler.tools.changes.manage_noise.add(first.project_id, RuleKind.SELECTOR, "nav")
    lay_pages(site, lambda _: menu.format("Store"))
    crawler.again(first)
    crawler.tools.changes.manage_noise.set_enabled(first.project_id, rule.id, enabled=False)
    for selector, alert in ((".none", True), ("nav", False)):
        trial = TrialRules(ignore_selectors=(selector,), notify_on=NotifyOn.SIGNIFICANT)
        (tried,) = crawler.tools.notices.backtest_schedule(first.project_id, trial)
        assert (tried.now.alert, tried.now.changed_pages) == (alert, 0), "none of nine pages showed it then, all do now"


def test_a_backtest_without_comparisons_is_empty_and_of_nobody_is_refused(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    assert crawler.tools.notices.backtest_schedule(crawler.crawl(site.url()).project_id, TrialRules()) == []
    with pytest.raises(NotFound):
        crawler.tools.notices.backtest_schedule(UUID(int=1), TrialRules())


def test_rules_that_make_no_sense_are_refused_and_the_same_rule_is_kept_once(crawler: Engine) -> None:
    project = crawler.project("http://example.org/")
    noise = crawler.tools.changes.manage_noise
    with pytest.raises(Invalid, match="CSS selector"):
        noise.add(project.id, RuleKind.SELECTOR, "div..a")
    with pytest.raises(InvalidPattern):
        noise.add(project.id, RuleKind.REGEX, "(")
    one = noise.add(project.id, RuleKind.REGEX, "^Stock")
    noise.set_enabled(project.id, one.id, enabled=False)
    assert noise.add(project.id, RuleKind.REGEX, "^Stock") == one
    noise.remove(project.id, one.id)
    with pytest.raises(NotFound):
        noise.remove(project.id, one.id)
    with pytest.raises(NotFound):
        noise.set_enabled(project.id, one.id, enabled=True)
    assert noise.list_rules(project.id) == []
