"""Nobody waits for work over all URLs of a large crawl: it is asked for, and done by whoever has the turn."""

from uuid import UUID

import pytest

from crawler.adapters.operating.long_turn import LongTurn
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.engine import large_crawls
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

ASKED = "tend_large_crawl"


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_crawls, "LARGE_URLS", 2)


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.3}


@pytest.fixture
def crawl(crawler: Engine, site: Site) -> CrawlJob:
    """One page of it is fetched, four wait."""
    lay(site, {"/": ["/a", "/b", "/c", "/d"], "/a": [], "/b": [], "/c": [], "/d": []})
    config = {"delay_seconds": 1, "use_sitemaps": False, "respect_robots_txt": False}
    started = crawler.start(crawler.project(site.url()), config=config)
    while crawler.tools.store.get_crawl(started.id).total_discovered < 5:
        crawler.shift()
    return crawler.tools.store.get_crawl(started.id)


def asked(crawler: Engine) -> list[UUID]:
    return [given for name, given in crawler.sent if name == ASKED]


def test_a_frontier_that_redis_lost_is_rebuilt_once_by_who_is_asked(crawler: Engine, crawl: CrawlJob) -> None:
    tools = crawler.tools
    tools.redis.flushall()
    tools.crawls.reconcile()
    tools.crawls.reconcile()
    assert asked(crawler) == [crawl.id], "once a minute is enough"
    assert tools.frontier.stats(crawl.id) is None, "the reconciler has others to look after"
    assert tools.crawls.tend_large(crawl.id)
    rebuilt = tools.frontier.stats(crawl.id)
    assert rebuilt is not None
    assert rebuilt.queued >= 3
    tools.crawls.tend_large(crawl.id)
    again = tools.frontier.stats(crawl.id)
    assert again is not None
    assert again.epoch == rebuilt.epoch, "what is there is not built again"


def test_at_its_end_the_results_are_counted_by_who_is_asked(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b", "/c"], "/a": [], "/b": [], "/c": []})
    tools = crawler.tools
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    while not tools.crawls.finish(crawl.id).status.is_over:
        crawler.shift()
    ended = tools.store.get_crawl(crawl.id)
    assert (ended.status, ended.stats) == (CrawlStatus.COMPLETED, {})
    assert asked(crawler) == [crawl.id]
    assert ("after_crawl", crawl.id) not in crawler.sent
    assert tools.frontier.stats(crawl.id) is None, "nobody fetches any more"
    assert tools.crawls.tend_large(crawl.id)
    assert tools.store.get_crawl(crawl.id).stats
    assert crawler.sent.count(("after_crawl", crawl.id)) == 1
    tools.crawls.tend_large(crawl.id)
    assert crawler.sent.count(("after_crawl", crawl.id)) == 1, "once"


def test_a_cancelled_one_is_closed_by_who_is_asked(crawler: Engine, crawl: CrawlJob) -> None:
    tools = crawler.tools
    tools.crawls.control.cancel(crawl.id)
    assert asked(crawler) == [crawl.id]
    assert tools.crawls.tend_large(crawl.id)
    states = {row["fetch_state"] for row in crawler.ledger(crawl).values()}
    assert "queued" not in states
    assert tools.frontier.stats(crawl.id) is None


def test_while_one_is_tended_others_wait_for_their_turn(crawler: Engine, crawl: CrawlJob) -> None:
    tools = crawler.tools
    tools.frontier.close_crawl(crawl.id)
    with LongTurn(tools.redis, "large crawl")() as is_ours:
        assert is_ours
        assert not tools.crawls.tend_large(crawl.id)
        assert tools.frontier.stats(crawl.id) is None
    assert tools.crawls.tend_large(crawl.id)
    assert tools.frontier.stats(crawl.id) is not None


def test_of_a_deleted_one_nothing_is_tended(crawler: Engine) -> None:
    assert crawler.tools.crawls.tend_large(UUID(int=7))
