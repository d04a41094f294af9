"""In which order URLs are asked for."""

from pathlib import Path
from typing import Any

from tests.integration.handmade import asked, host_of, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

ONE_BY_ONE: dict[str, Any] = {"delay_seconds": 0.04, "use_sitemaps": False}
"""A gap in which each answer is read before the next request."""


def test_the_homepage_comes_first_then_pages_in_the_order_of_their_discovery(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/b", "/a", "/c"], "/b": ["/b1", "/b2"], "/a": ["/a1", "/b1"], "/c": []})
    lay(site, {"/b1": [], "/b2": [], "/a1": []})
    crawler.crawl(site.url(), **ONE_BY_ONE)
    assert asked(site) == ["/", "/b", "/a", "/c", "/b1", "/b2", "/a1"]


def test_pages_that_match_an_include_pattern_come_before_others_that_were_found_earlier(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": ["/1", "/2", "/3"], "/1": ["/new/1", "/new/2"], "/2": [], "/3": [], "/new/1": [], "/new/2": []})
    # Unhurried: the links of the first page must be queued before the second is asked for.
    unhurried = {**ONE_BY_ONE, "delay_seconds": 0.3}
    crawler.crawl(site.url(), include_patterns=["/new/"], include_mode="prefer", **unhurried)
    assert asked(site) == ["/", "/1", "/new/1", "/new/2", "/2", "/3"]


def test_priorities_are_in_the_ledger(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/in/1", "/out/1"], "/in/1": [], "/out/1": []})
    crawl = crawler.crawl(site.url(), include_patterns=["/in/"], include_mode="prefer")
    priorities = {key.removeprefix(site.url("")): row["priority"] for key, row in crawler.ledger(crawl).items()}
    assert priorities == {"/": 0, "/in/1": 1, "/out/1": 2}


def test_with_max_pages_the_first_pages_by_this_order_are_stored(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/out/1", "/in/1", "/out/2", "/in/2"]})
    lay(site, {"/out/1": [], "/in/1": [], "/out/2": [], "/in/2": []})
    crawl = crawler.crawl(site.url(), max_pages=4, include_patterns=["/in/"], include_mode="prefer", **ONE_BY_ONE)
    assert crawler.ends(crawl) == {
        "/": "done",
        "/in/1": "done",
        "/in/2": "done",
        "/out/1": "done",
        "/out/2": "max_pages",
    }


def test_a_slow_host_does_not_hold_up_another(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=2) as site:
        slow = [site.url(f"/slow/{n}", 1) for n in range(3)]
        lay(site, {"/": [*slow, *(f"/fast/{n}" for n in range(6))], **{f"/fast/{n}": [] for n in range(6)}})
        lay(site, {f"/slow/{n}": [] for n in range(3)}, host=1)
        site.set_fault("/slow/*", host=1, delay=0.6)
        crawl = crawler.crawl(site.url(), allowed_hosts=[host_of(site, 1)], max_concurrent=4)
        assert crawl.pages_crawled == 10
        arrived = {request.path: request.ended for request in site.requests()}
        assert max(arrived[f"/fast/{n}"] for n in range(6)) < min(arrived[f"/slow/{n}"] for n in range(3))
