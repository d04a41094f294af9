"""What a process that died left half done is found and done by the reconciler."""

import time

import pytest

from crawler.adapters.operating import live_workers
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import Lane
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def started(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": []})
    return crawler.start(crawler.project(site.url(), use_sitemaps=False), config={"delay_seconds": 0})


@pytest.mark.parametrize("lost", ["the message", "the statistics too"])
def test_a_crawl_whose_end_was_lost_half_way_is_ended_wholly(crawler: Engine, site: Site, lost: str) -> None:
    crawl = crawler.run(started(crawler, site))
    left = "diffed_at = NULL, completed_at = now() - interval '20 s', updated_at = now() - interval '20 s'"
    stats = "" if lost == "the message" else ", stats = '{}'"
    crawler.rows(f"UPDATE crawl_jobs SET {left}{stats} WHERE id = :id RETURNING 1", id=crawl.id)
    crawler.sent.clear()
    crawler.tools.crawls.reconcile()
    assert ("after_crawl", crawl.id) in crawler.sent
    assert crawler.tools.store.get_crawl(crawl.id).stats == crawl.stats


def test_the_frontier_of_a_crawl_that_is_over_is_closed(crawler: Engine, site: Site) -> None:
    crawl = started(crawler, site)
    ended = "UPDATE crawl_jobs SET status = 'completed', completed_at = now() WHERE id = :id RETURNING 1"
    crawler.rows(ended, id=crawl.id)
    assert crawl.id in crawler.tools.frontier.open_crawls()
    crawler.tools.crawls.reconcile()
    assert crawl.id not in crawler.tools.frontier.open_crawls()
    assert crawler.tools.store.get_crawl(crawl.id).stats, "it is wound up"


def test_the_frontier_of_a_crawl_that_was_deleted_is_closed(crawler: Engine, site: Site) -> None:
    crawl = started(crawler, site)
    crawler.rows("DELETE FROM crawl_discovered_urls WHERE crawl_job_id = :id RETURNING 1", id=crawl.id)
    crawler.rows("DELETE FROM crawl_jobs WHERE id = :id RETURNING 1", id=crawl.id)
    crawler.tools.crawls.reconcile()
    assert crawl.id not in crawler.tools.frontier.open_crawls()


def test_that_nobody_renders_is_known_before_a_crawl_asks(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the first crawl after a quiet time would wait for a browser that nobody has."""
    monkeypatch.setattr(live_workers, "GONE_SECONDS", 0.05)
    crawler.tools.redis.flushdb()
    crawler.tools.crawls.reconcile()
    time.sleep(0.06)
    assert not crawler.tools.operating.live_workers.is_open(Lane.BROWSER)
