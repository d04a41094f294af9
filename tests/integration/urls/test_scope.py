"""Which URLs a crawl takes: scope, include, exclude, presets."""

from pathlib import Path

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from crawler.errors import InvalidConfig, InvalidPattern
from crawler.handlers.engine import follow_links
from crawler.handlers.engine.robots_and_backoff import RobotsAndBackoff
from tests.integration.handmade import asked, find_names, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_only_pages_that_match_an_include_pattern_are_crawled_and_the_homepage_always(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": ["/keep/1", "/other", "/keep/bad"], "/keep/1": ["/keep/2"], "/keep/2": [], "/other": ["/keep/3"]})
    crawl = crawler.crawl(site.url(), include_patterns=["/keep/"], exclude_patterns=["bad"])
    assert crawler.ends(crawl) == {
        "/": "done",
        "/keep/1": "done",
        "/keep/2": "done",
        "/other": "not_included",
        "/keep/bad": "excluded",
    }
    assert set(asked(site)) == {"/", "/keep/1", "/keep/2"}, "what is refused is not requested"


def test_prefer_crawls_the_others_after_those_that_match(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/other/1", "/keep/1", "/other/2", "/keep/2"]})
    lay(site, {"/other/1": [], "/keep/1": [], "/other/2": [], "/keep/2": []})
    crawler.crawl(site.url(), include_patterns=["/keep/"], include_mode="prefer", max_concurrent=1)
    assert asked(site) == ["/", "/keep/1", "/keep/2", "/other/1", "/other/2"]


def test_exclude_beats_include_but_not_the_homepage(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.crawl(site.url(), include_patterns=["127"], exclude_patterns=["127"])
    assert crawler.ends(crawl) == {"/": "done", "/a": "excluded"}


def test_the_rule_that_refused_a_url_is_kept_with_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/secret/a"]})
    crawl = crawler.crawl(site.url(), exclude_patterns=["/secret/"])
    assert crawler.ledger(crawl)[site.url("/secret/a")]["rule"] == "exclude pattern '/secret/'"


def test_without_patterns_only_account_cart_and_checkout_are_left_out(crawler: Engine, site: Site) -> None:
    links = ["/account/login", "/cart", "/checkout/now", "/products/1", "/cartoons"]
    lay(site, {"/": links, "/products/1": [], "/cartoons": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {
        "/": "done",
        "/account/login": "excluded",
        "/cart": "excluded",
        "/checkout/now": "excluded",
        "/products/1": "done",
        "/cartoons": "done",
    }


SHOP = '<script>Shopify.theme = {"name": "Dawn"};</script>'
SHOP_LINKS = ["/collections/all", "/products/1", "/pages/about", "/blogs/news"]


def test_a_shopify_homepage_chooses_the_shop_lists_also_when_it_did_not_change(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(*SHOP_LINKS, body=SHOP), **{path: [] for path in SHOP_LINKS}})
    expected = {
        "/": "done",
        "/collections/all": "done",
        "/products/1": "excluded",
        "/pages/about": "done",
        "/blogs/news": "not_included",
    }
    first = crawler.crawl(site.url())
    assert crawler.ends(first) == expected
    second = crawler.again(first)
    assert crawler.ends(second) == expected


def test_given_patterns_replace_the_preset(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(*SHOP_LINKS, body=SHOP), **{path: [] for path in SHOP_LINKS}})
    crawl = crawler.crawl(site.url(), include_patterns=["/products/"])
    assert crawler.ends(crawl)["/products/1"] == "done"
    assert crawler.ends(crawl)["/pages/about"] == "not_included"


def test_preset_none_takes_everything(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("/cart", body=SHOP), "/cart": []})
    assert crawler.ends(crawler.crawl(site.url(), preset="none")) == {"/": "done", "/cart": "done"}


def test_an_invalid_pattern_is_refused_with_a_sentence(crawler: Engine, site: Site) -> None:
    with pytest.raises((InvalidConfig, InvalidPattern), match="is not a valid regular expression"):
        crawler.crawl(site.url(), include_patterns=["(unclosed"])


def test_commas_split_the_string_form_only(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a1", "/b1", "/c,d", "/c", "/d"], "/a1": [], "/b1": [], "/c,d": [], "/c": [], "/d": []})
    told = crawler.crawl(site.url(), include_patterns="/a, /b")
    assert [path for path, end in crawler.ends(told).items() if end == "done"] == ["/", "/a1", "/b1"]
    listed = crawler.crawl(site.url(), include_patterns=["/c,d"])
    assert [path for path, end in crawler.ends(listed).items() if end == "done"] == ["/", "/c,d"]


def test_other_hosts_are_left_alone_unless_they_are_allowed(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        lay(site, {"/": [site.url("/there", 1)]})
        lay(site, {"/there": []}, host=1)
        alone = crawler.crawl(site.url())
        assert crawler.ends(alone) == {"/": "done"}, "URLs of other sites are not in the ledger"
        assert asked(site, host=1) == []
        together = crawler.crawl(site.url(), allowed_hosts=[f"127.0.0.2:{site.port}"])
        assert crawler.ends(together) == {"/": "done", "/there": "done"}


def test_www_is_in_scope_and_subdomains_only_when_asked_for(crawler: Engine, site: Site) -> None:
    find_names(crawler, {"shop.test": 0, "www.shop.test": 0, "docs.shop.test": 0})
    port = site.port
    links = [f"http://www.shop.test:{port}/w", f"http://docs.shop.test:{port}/d"]
    lay(site, {"/": links, "/w": [], "/d": []})
    narrow = crawler.crawl(f"http://shop.test:{port}/")
    assert crawler.ends(narrow) == {"/": "done", "/w": "done"}
    wide = crawler.crawl(f"http://shop.test:{port}/", allow_subdomains=True)
    assert crawler.ends(wide) == {"/": "done", "/w": "done", "/d": "done"}


@pytest.mark.slow
def test_a_path_prefix_narrows_the_scope(crawler: Engine, site: Site) -> None:
    lay(site, {"/docs": ["/docs/a", "/docsy", "/blog"], "/docs/a": [], "/docsy": [], "/blog": []})
    crawl = crawler.crawl(site.url("/docs"), path_prefix="/docs/")
    assert crawler.ends(crawl) == {"/docs": "done", "/docs/a": "done"}


def test_endless_urls_are_refused_as_traps_and_the_crawl_ends(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/x/calendar/2200/1", "/x/deeper"]})
    crawl = crawler.crawl(site.url(), max_pages=50)
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
    ends = crawler.ends(crawl)
    assert ends["/x/calendar/2200/1"] == ends["/x/deeper/a/b/a/b/a/b"] == "trap"
    assert ends["/x/deeper/a/b/a/b"] == "done"


def test_links_that_are_no_web_addresses_are_left_out(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url("/x/hrefs"))
    done = {path for path, end in crawler.ends(crawl).items() if end == "done"}
    assert crawl.status is CrawlStatus.COMPLETED
    assert "/x/meta/plain" in done, "the last link of the page is good"
    assert {"scheme", "egress"} <= {row["reason"] for row in crawler.ledger(crawl).values()}, "each says why"
    assert {request.address for request in site.requests()} == {"127.0.0.1"}


def test_links_that_take_long_to_be_judged_are_cut(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patterns or a robots.txt can be built to take a second for a link, and other crawls wait meanwhile."""
    monkeypatch.setattr(follow_links, "LINK_SECONDS", -100.0)
    lay(site, {"/": ["/a", "/b", "/c"], "/a": [], "/b": [], "/c": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done"}


def test_links_that_robots_txt_takes_too_long_for_are_judged_before_their_request(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_links, "ROBOTS_SECONDS", -100.0)
    monkeypatch.setattr(RobotsAndBackoff, "refuses", lambda *_, **__: pytest.fail("asked for a link"))
    site.set_robots("User-agent: *\nDisallow: /b\n")
    lay(site, {"/": ["/a", "/b", "/c"], "/a": [], "/b": [], "/c": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/b": "robots", "/c": "done"}
