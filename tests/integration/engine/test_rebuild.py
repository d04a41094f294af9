"""The frontier made again from Postgres alone, in the middle of a crawl: nothing lost, nothing asked twice."""

import time
from pathlib import Path

import pytest

from crawler.domain.crawls.frontier import Lane
from crawler.domain.engine.max_pages import limits_of
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_rebuilt_frontier_finds_the_same_site_and_asks_for_nothing_twice(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, pages=120, odd=0.5, seed=3) as site:
        config = {"delay_seconds": 0, "max_pages": 500, "max_concurrent": 2}
        crawl = crawler.start(crawler.project(site.url()), config=config)
        site.set_fault("/*", delay=0.01)
        crawler.tools.engine.work_shift.shift_seconds = 0.5
        while len(asked(site)) < 40:
            crawler.shift()
        crawler.tools.redis.flushall()
        crawler.tools.crawls.reconcile()
        ended = crawler.run(crawl)
        expected = {key: (e.state, e.reason, e.depth) for key, e in site.expected().items()}
        found = {k: (r["fetch_state"], r["reason"], r["depth"]) for k, r in crawler.ledger(ended).items()}
        assert found == expected
        assert len(asked(site)) == len(set(asked(site)))


@pytest.mark.slow
def test_a_crawl_delay_of_robots_txt_holds_while_redis_forgets(crawler: Engine, site: Site) -> None:
    site.set_robots("User-agent: *\nCrawl-delay: 20")
    crawler.tools.engine.work_shift.shift_seconds = 0.1
    config = {"delay_seconds": 0, "use_sitemaps": False}
    crawl = crawler.start(crawler.project(site.url()), config=config)
    while "/" not in asked(site):
        crawler.tools.frontier.block_host(f"127.0.0.1:{site.port}", 0, 0, 0)  # not for as long as robots.txt says
        crawler.shift()
    crawler.tools.redis.flushall()
    before = time.time()
    crawler.tools.crawls.reconcile()
    state = crawler.tools.frontier.host(f"127.0.0.1:{site.port}")
    assert state.robots_ms == 20_000
    assert state.blocked_until_ms / 1000 >= before + 20
    assert crawler.tools.frontier.stats(crawl.id) is not None
    crawler.shift()
    assert asked(site) == ["/"]
    assert [request.path for request in site.requests()].count("/robots.txt") == 1, "it is known from Postgres"


def test_a_rebuilt_frontier_still_lets_in_what_was_too_deep(crawler: Engine, site: Site) -> None:
    """The shorter path is found after the rebuild."""
    lay(site, {"/": ["/p/1", "/late"], "/p/1": ["/p/2"], "/p/2": ["/p/goal"], "/late": ["/p/goal"], "/p/goal": []})
    late = site.set_fault("/late", times=1, status=429, retry_after=60)
    config = {"delay_seconds": 0, "max_depth": 2, "use_sitemaps": False}
    crawl = crawler.start(crawler.project(site.url()), config=config)
    while "/p/2" not in asked(site):
        crawler.tools.frontier.block_host(f"127.0.0.1:{site.port}", 0, 0, 0)
        crawler.shift()
    crawler.shift()
    assert crawler.ends(crawl)["/p/goal"] == "max_depth"
    site.mend(late)
    crawler.tools.redis.flushall()
    crawler.tools.engine.fill_frontier(crawler.tools.store.get_crawl(crawl.id))
    ended = crawler.run(crawl)
    assert crawler.ends(ended)["/p/goal"] == "done"
    assert crawler.ledger(ended)[site.url("/p/goal")]["depth"] == 2


def test_a_sitemap_that_was_not_read_before_redis_forgot_it_is_read_after(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, pages=10, orphans=5, sitemap=True) as site:
        crawler.tools.engine.work_shift.shift_seconds = 0.1
        config = {"delay_seconds": 0.3, "max_pages": 100}
        crawl = crawler.start(crawler.project(site.url()), config=config)
        while "/" not in asked(site):
            crawler.shift()
        assert "/sitemap.xml" not in [request.path for request in site.requests()]
        crawler.tools.redis.flushall()
        crawler.tools.crawls.reconcile()
        crawler.tools.frontier.open_crawl(crawl.id, limits_of(crawl)._replace(delay_ms=0))
        crawler.tools.engine.work_shift.shift_seconds = 5
        assert crawler.run(crawl).pages_crawled == 15


@pytest.mark.parametrize("others", [0, 1])
def test_hosts_rest_after_a_loss_while_requests_of_others_may_be_under_way(
    crawler: Engine, site: Site, others: int
) -> None:
    """How many there are was lost, too, and a host's limit holds for them."""
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    crawler.tools.redis.flushall()
    for number in range(others):
        crawler.tools.frontier.enter_shift(Lane.HTTP, f"of another worker {number}", 10)
    before = time.time()
    crawler.tools.crawls.reconcile()
    rests = crawler.tools.frontier.host(f"127.0.0.1:{site.port}").blocked_until_ms / 1000
    assert crawler.tools.frontier.stats(crawl.id) is not None
    longest = crawler.tools.settings.http_timeout_seconds
    assert (before + longest <= rests <= time.time() + longest) if others else rests == 0
