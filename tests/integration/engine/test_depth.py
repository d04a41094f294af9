"""Depth is the fewest links from the seed, whenever the shortest path is found."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def depths(crawler: Engine, crawl: CrawlJob) -> dict[str, int]:
    return {"/" + key.split("/", 3)[3]: row["depth"] for key, row in crawler.ledger(crawl).items()}


def test_max_depth_counts_links_from_the_seed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/1"], "/1": ["/2"], "/2": ["/3"], "/3": ["/4"]})
    crawl = crawler.crawl(site.url(), max_depth=2)
    assert crawler.ends(crawl) == {"/": "done", "/1": "done", "/2": "done", "/3": "max_depth"}
    assert depths(crawler, crawl) == {"/": 0, "/1": 1, "/2": 2, "/3": 3}
    unlimited = crawler.crawl(site.url(), max_depth=None)
    assert crawler.ends(unlimited)["/3"] == "done"


# What matches is crawled first, and each answer is read before the next request: the long way is known before /late.
LONG_WAY_FIRST: dict[str, Any] = {"include_patterns": ["/p/"], "include_mode": "prefer", "delay_seconds": 0.4}
LONG_WAY = {"/": ["/late", "/p/1"], "/p/1": ["/p/2"], "/p/2": ["/p/goal"], "/late": ["/p/goal"]}


def test_a_shorter_path_found_later_lowers_depths_and_readmits_what_was_too_deep(crawler: Engine, site: Site) -> None:
    lay(site, {**LONG_WAY, "/p/goal": ["/p/child"], "/p/child": ["/p/grandchild"]})
    crawl = crawler.crawl(site.url(), max_depth=3, **LONG_WAY_FIRST)
    assert depths(crawler, crawl) == {
        "/": 0,
        "/late": 1,
        "/p/1": 1,
        "/p/2": 2,
        "/p/goal": 2,
        "/p/child": 3,
        "/p/grandchild": 4,
    }
    ends = crawler.ends(crawl)
    assert (ends.pop("/p/grandchild"), set(ends.values())) == ("max_depth", {"done"})
    # On a machine that takes longer than the delay to read /p/2, /late comes before /p/goal.
    assert sorted(asked(site)) == ["/", "/late", "/p/1", "/p/2", "/p/child", "/p/goal"], "each once"
    assert crawl.pages_skipped == 1, "a page that was let in again is no longer counted as skipped"
    assert crawler.page(crawl, "/p/goal")["depth"] == 2


@pytest.mark.slow
def test_a_shorter_path_passes_on_through_redirects_and_canonical_links(crawler: Engine, site: Site) -> None:
    lay(site, {**LONG_WAY, "/p/child": [], "/p/canonical": []})
    lay(site, {"/p/target": page("/p/child", head='<link rel="canonical" href="/p/canonical">')})
    site.set_fault("/p/goal", redirect="/p/target")
    crawl = crawler.crawl(site.url(), max_depth=3, **LONG_WAY_FIRST)
    found = depths(crawler, crawl)
    assert (found["/p/goal"], found["/p/target"], found["/p/child"], found["/p/canonical"]) == (2, 2, 3, 3)
    assert crawler.ends(crawl)["/p/child"] == crawler.ends(crawl)["/p/canonical"] == "done"


@pytest.mark.slow
def test_a_shorter_path_is_not_passed_on_along_nofollow_links(crawler: Engine, site: Site) -> None:
    links = '<a rel="nofollow" href="/p/child">no</a><a href="/p/way">yes</a>'
    lay(site, {**LONG_WAY, "/p/goal": page(body=links), "/p/way": ["/p/child"], "/p/child": []})
    crawl = crawler.crawl(site.url(), **LONG_WAY_FIRST)
    found = depths(crawler, crawl)
    assert (found["/p/goal"], found["/p/way"], found["/p/child"]) == (2, 3, 4)


@pytest.mark.slow
@pytest.mark.usefixtures("without_samples")
def test_a_shorter_path_is_passed_on_from_pages_that_did_not_change(crawler: Engine, site: Site) -> None:
    lay(site, {**LONG_WAY, "/p/goal": ["/p/child"], "/p/child": []})
    first = crawler.crawl(site.url(), max_depth=3, **LONG_WAY_FIRST)
    second = crawler.again(first)
    assert crawler.ledger(second)[site.url("/p/goal")]["http_status"] == 304
    assert depths(crawler, second) == depths(crawler, first)
    assert crawler.ends(second)["/p/child"] == "done"


def test_depths_do_not_depend_on_the_order_in_which_pages_answer(crawler: Engine, site: Site) -> None:
    site.set_fault("*", every=3, delay=0.05)
    crawl = crawler.crawl(site.url(), max_pages=100)
    expected = {key: found.depth for key, found in site.expected().items()}
    assert {key: row["depth"] for key, row in crawler.ledger(crawl).items()} == expected
    assert {row["normalized_url"]: row["depth"] for row in crawler.rows("SELECT * FROM crawled_pages")} == expected


def test_what_is_too_deep_is_not_requested(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_depth=1, max_pages=100)
    expected = site.expected(max_depth=1)
    done = {key for key, row in crawler.ledger(crawl).items() if row["fetch_state"] == "done"}
    assert done == set(expected)
    assert len(asked(site)) == len(expected)
