"""Whole crawls with the frontier on three servers: the same site is found, within the same limits."""

from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from crawler.adapters.frontier.sharded_frontier import ShardedFrontier
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.shards import shard_of
from crawler.entrypoints.doctor import diagnose
from crawler.server_urls import redis_database
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.site.graph import address

HOSTS = range(4)
NOT_ONCE = {"/robots.txt", "/sitemap.xml"}
"""A rebuilt frontier reads sitemaps again."""


@pytest.fixture
def engine_settings(redis_url: str) -> dict[str, object]:
    """Three databases stand for three servers."""
    return {"frontier_urls": ", ".join(redis_database(redis_url, number) for number in (4, 5, 6))}


@pytest.fixture
def wide_site(tmp_path: Path) -> Iterator[Site]:
    """Which server has a host depends on its port, too: another is taken if all hosts would have the same."""
    for n in count():
        (place := tmp_path / str(n)).mkdir()
        with Site(place, hosts=len(HOSTS), pages=100, odd=0.3, seed=5) as site:
            if len({shard_of(f"{address(host)}:{site.port}", 3) for host in HOSTS}) > 1:
                yield site
                return


def start(crawler: Engine, site: Site, **config: Any) -> CrawlJob:
    hosts = [f"{address(host)}:{site.port}" for host in HOSTS]
    options = {"delay_seconds": 0, "max_pages": 500, "max_concurrent": 6, "allowed_hosts": hosts, **config}
    return crawler.start(crawler.project(site.url()), config=options)


def truth(site: Site) -> dict[str, tuple[Any, ...]]:
    expected = site.expected(start=0, hosts=frozenset(HOSTS)).items()
    return {key: (end.state, end.reason, end.depth) for key, end in expected}


def found(crawler: Engine, crawl: CrawlJob) -> dict[str, tuple[Any, ...]]:
    return {key: (row["fetch_state"], row["reason"], row["depth"]) for key, row in crawler.ledger(crawl).items()}


def asked(site: Site) -> list[tuple[str, str]]:
    return [(request.address, request.target) for request in site.requests() if request.path not in NOT_ONCE]


def test_the_same_site_is_found_and_nothing_is_left_behind(crawler: Engine, wide_site: Site) -> None:
    assert isinstance(crawler.tools.frontier, ShardedFrontier)
    crawl = start(crawler, wide_site)
    ended = crawler.run(crawl)
    assert found(crawler, ended) == truth(wide_site)
    assert max(Counter(asked(wide_site)).values()) == 1
    for server in crawler.tools.frontier_redis:
        assert [key for key in server.keys("*") if crawl.id.hex.encode() in key] == []
    assert crawler.tools.redis.keys("cr:crawl*") == []


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 37])
def test_exactly_max_pages_are_stored(crawler: Engine, wide_site: Site, most: int) -> None:
    ended = crawler.run(start(crawler, wide_site, max_pages=most))
    assert (ended.pages_crawled, ended.end_reason) == (most, "max_pages")


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("forgetful", [0, 1, 2])
def test_a_server_that_forgets_everything_costs_nothing_but_time(
    crawler: Engine, wide_site: Site, forgetful: int
) -> None:
    crawl = start(crawler, wide_site)
    wide_site.set_fault("/*", delay=0.01)
    crawler.tools.engine.work_shift.shift_seconds = 0.3
    while len(asked(wide_site)) < 30:
        crawler.shift()
    crawler.tools.frontier_redis[forgetful].flushdb()
    crawler.tools.crawls.reconcile()
    ended = crawler.run(crawl)
    assert found(crawler, ended) == truth(wide_site)
    assert max(Counter(asked(wide_site)).values()) == 1


def test_each_server_is_checked_and_named(crawler: Engine) -> None:
    checks = {check.name: check for check in diagnose(crawler.tools, start_browser=False)}
    assert all(checks[f"frontier {number}"].ok for number in (1, 2, 3))
    assert checks["frontier"].ok
    crawler.tools.frontier_redis[1].set("cr:place", "1 of 2")
    again = {check.name: check for check in diagnose(_anew(crawler), start_browser=False)}
    assert not again["frontier"].ok
    assert "Frontier server 2 of 3 is number 1 of 2 for other processes" in again["frontier"].message


def _anew(crawler: Engine) -> Any:
    """As another process would see it."""
    del crawler.tools.__dict__["frontier"]
    return crawler.tools
