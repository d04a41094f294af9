"""Where redirects lead. Each hop goes through the frontier like any URL."""

from pathlib import Path

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.handmade import asked, find_names, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_redirect_is_told_and_its_target_is_crawled_at_the_same_depth(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/old"], "/new": ["/next"], "/next": []})
    site.set_fault("/old", redirect="/new", status=301)
    crawl = crawler.crawl(site.url())
    ledger = crawler.ledger(crawl)
    old, new = ledger[site.url("/old")], ledger[site.url("/new")]
    assert (old["fetch_state"], old["reason"], old["http_status"]) == ("skipped", "redirected", 301)
    assert old["final_url"] == site.url("/new")
    assert (new["fetch_state"], new["depth"], new["source"]) == ("done", 1, "redirect")
    assert ledger[site.url("/next")]["depth"] == 2


def test_a_redirect_to_another_spelling_of_the_page_is_the_same_page(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/About/"], "/about": ["/next"], "/next": []})
    site.set_fault("/About/", redirect="/about")
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/about": "done", "/next": "done"}
    assert asked(site) == ["/", "/About/", "/about", "/next"]
    assert crawler.page(crawl, "/about")["url"] == site.url("/about")


@pytest.mark.slow
def test_a_chain_of_five_redirects_is_followed_and_one_of_six_is_not(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/chain/5"]})
    five = crawler.crawl(site.url())
    assert crawler.ends(five)["/x/chain/0"] == "done"
    lay(site, {"/": ["/x/chain/6"]})
    six = crawler.crawl(site.url())
    ends = crawler.ends(six)
    assert ends["/x/chain/1"] == "redirect_loop"
    assert "/x/chain/0" not in ends
    assert six.pages_failed == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/x/loop/a", "/x/counting/0", "/self"])
def test_redirects_without_end_are_given_up_after_five(crawler: Engine, site: Site, path: str) -> None:
    lay(site, {"/": [path]})
    site.set_fault("/self", redirect="/self")
    crawl = crawler.crawl(site.url())
    assert crawl.status is CrawlStatus.COMPLETED
    assert "redirect_loop" in crawler.ends(crawl).values()
    assert len(asked(site)) <= 1 + 1 + 5


def test_each_url_of_a_loop_is_one_whoever_links_to_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b", "/c", "/into"]})
    for path, target in {"/a": "/b", "/b": "/c", "/c": "/a", "/into": "/a"}.items():
        site.set_fault(path, redirect=target)
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {
        "/": "done", "/a": "redirect_loop", "/b": "redirect_loop", "/c": "redirect_loop", "/into": "redirected",
    }  # fmt: skip
    assert (crawl.pages_crawled, crawl.pages_failed, crawl.pages_skipped) == (1, 3, 1)
    pages = crawler.rows("SELECT status, count(*) AS n FROM crawled_pages GROUP BY 1 ORDER BY 1")
    assert [(row["status"], row["n"]) for row in pages] == [("failed", 3), ("skipped", 1), ("success", 1)]


def test_a_homepage_in_a_loop_is_told(crawler: Engine, site: Site) -> None:
    site.set_fault("/", redirect="/b")
    site.set_fault("/b", redirect="/")
    crawl = crawler.crawl(site.url())
    assert crawl.status is CrawlStatus.FAILED
    assert "redirects in circles" in (crawl.error_message or "")


def test_a_redirect_to_what_the_rules_refuse_is_not_followed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/to/excluded", "/to/robots", "/to/known"], "/known": []})
    for name, target in {"excluded": "/secret/a", "robots": "/private/a", "known": "/"}.items():
        site.set_fault(f"/to/{name}", redirect=target)
    crawl = crawler.crawl(site.url(), exclude_patterns=["/secret/"])
    ends = crawler.ends(crawl)
    assert [ends[f"/to/{name}"] for name in ("excluded", "robots", "known")] == ["redirected"] * 3
    assert (ends["/secret/a"], ends["/private/a"]) == ("excluded", "robots")
    assert asked(site) == ["/", "/to/excluded", "/to/robots", "/to/known"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("location", "reason"),
    [("ftp://127.0.0.1/file", "scheme"), (f"/{'x' * 2000}", "too_long"), ("http://u:p@127.0.0.1/", "egress")],
)
def test_a_redirect_to_something_unusable_says_why(crawler: Engine, site: Site, location: str, reason: str) -> None:
    lay(site, {"/": ["/a"]})
    site.set_fault("/a", redirect=location)
    assert crawler.ends(crawler.crawl(site.url()))["/a"] == reason


def test_a_page_that_redirects_to_another_domain_is_off_domain(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        lay(site, {"/": ["/away", "/b"], "/b": []})
        site.set_fault("/away", redirect=site.url("/there", 1))
        crawl = crawler.crawl(site.url())
        away = crawler.ledger(crawl)[site.url("/away")]
        assert (away["fetch_state"], away["reason"], away["final_url"]) == (
            "skipped",
            "off_domain",
            site.url("/there", 1),
        )
        assert asked(site, host=1) == []
        assert crawler.ends(crawl)["/b"] == "done"


def test_a_homepage_that_redirects_to_another_domain_takes_the_scope_there(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        site.set_fault("/", host=0, redirect=site.url("/home", 1))
        lay(site, {"/home": ["/a", site.url("/old")], "/a": []}, host=1)
        crawl = crawler.crawl(site.url())
        ledger = crawler.ledger(crawl)
        assert {key: row["fetch_state"] for key, row in ledger.items()} == {
            site.url("/"): "skipped",
            site.url("/home", 1): "done",
            site.url("/a", 1): "done",
        }
        assert (ledger[site.url("/home", 1)]["depth"], ledger[site.url("/home", 1)]["priority"]) == (0, 0)
        (row,) = crawler.rows("SELECT scope FROM crawl_jobs")
        assert row["scope"]["moves"] == [site.url("/home", 1)], "the move is recorded"
        assert crawl.status is CrawlStatus.COMPLETED


def test_the_moved_scope_is_known_to_a_worker_that_began_before_the_move(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        site.set_fault("/", host=0, redirect=site.url("/home", 1))
        lay(site, {"/home": ["/a"], "/a": []}, host=1)
        crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
        contexts = crawler.tools.engine.contexts
        stats = crawler.tools.frontier.stats(crawl.id)
        assert stats is not None
        early = contexts.get(crawl.id, stats.epoch)
        assert early is not None
        assert early.scope.hosts == {f"127.0.0.1:{site.port}", f"www.127.0.0.1:{site.port}"}
        crawler.tools.engine.crawl_state.record_move(crawl.id, site.url("/home", 1))  # as another worker does
        late = contexts.get(crawl.id, stats.epoch)
        assert late is not None
        assert f"127.0.0.2:{site.port}" in late.scope.hosts
        assert crawler.run(crawl).pages_crawled == 2


def test_a_later_spelling_of_the_homepage_that_leads_away_does_not_take_the_crawl_with_it(
    crawler: Engine, tmp_path: Path
) -> None:
    with Site(tmp_path, hosts=3, pages=3) as site:
        find_names(crawler, {"shop.test": 0, "www.shop.test": 1, "away.test": 2})
        home, away = (f"http://{name}:{site.port}/" for name in ("shop.test", "away.test"))
        lay(site, {"/": [f"http://www.shop.test:{site.port}/", "/b"], "/b": ["/c"], "/c": []})
        site.set_fault("/", host=1, redirect=away)
        crawl = crawler.crawl(home, max_concurrent=1)
        ends = {key: row["reason"] or row["fetch_state"] for key, row in crawler.ledger(crawl).items()}
        assert ends == {
            home: "done",
            f"http://www.shop.test:{site.port}/": "off_domain",
            f"{home}b": "done",
            f"{home}c": "done",
        }
        assert asked(site, host=2) == []


def test_a_fetch_only_crawl_follows_redirects_on_its_hosts_only(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        lay(site, {"/end": ["/more"]})
        site.set_fault("/one", redirect="/two")
        site.set_fault("/two", redirect="/end")
        site.set_fault("/away", redirect=site.url("/there", 1))
        crawl = crawler.crawl(site.url(), urls=(site.url("/one"), site.url("/away")))
        assert crawler.ends(crawl) == {
            "/one": "redirected",
            "/two": "redirected",
            "/end": "done",
            "/away": "off_domain",
        }
