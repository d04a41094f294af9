"""A restart of everything in the middle of a crawl: it goes on, or it is failed and says so."""

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.changes.test_probes import lay_pages
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.3}


def test_a_crawl_whose_frontier_is_gone_goes_on_from_its_ledger(crawler: Engine, site: Site) -> None:
    lay_pages(site, 5)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.tools.redis.flushall()
    crawler.tools.crawls.reconcile()
    assert crawler.run(crawl).pages_crawled == 6


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["TRUE", "fetch_state = 'queued'"])
def test_a_crawl_that_cannot_be_rebuilt_is_failed_and_keeps_its_pages(crawler: Engine, site: Site, lost: str) -> None:
    lay_pages(site, 5)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.3})
    while not crawler.tools.store.get_crawl(crawl.id).pages_crawled:
        crawler.shift()
    other = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    crawler.rows(f"DELETE FROM crawl_discovered_urls WHERE crawl_job_id = :id AND {lost} RETURNING 1", id=crawl.id)
    crawler.tools.redis.flushall()
    crawler.tools.crawls.reconcile()
    ended = crawler.tools.store.get_crawl(crawl.id)
    assert (ended.status, ended.error_message) == (CrawlStatus.FAILED, "Interrupted by server restart")
    pages = crawler.rows("SELECT status FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
    assert [row["status"] for row in pages].count("success") == ended.pages_crawled > 0
    assert crawler.run(other).status is CrawlStatus.COMPLETED, "one crawl's loss is not another's"


def test_a_crawl_whose_ledger_vanished_under_a_living_frontier_is_failed_when_it_ends(
    crawler: Engine, site: Site
) -> None:
    lay(site, {"/": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    crawler.rows("DELETE FROM crawl_discovered_urls RETURNING 1")
    ended = crawler.run(crawl)
    assert (ended.status, ended.error_message) == (CrawlStatus.FAILED, "Interrupted by server restart")
