"""A request counts from when it went out, however long after its claim."""

import pytest

from tests.integration.handmade import lay
from tests.integration.late_fetcher import LateFetcher
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.mark.slow
def test_a_polite_crawl_keeps_its_gap_to_requests_of_a_quick_one_that_went_out_late(
    crawler: Engine, site: Site
) -> None:
    """They were claimed long before they were sent, and are not answered when the polite one's turn comes."""
    lay(site, {"/quick": [f"/quick/{n}" for n in range(12)], "/polite": [f"/polite/{n}" for n in range(3)]})
    lay(site, {f"/quick/{n}": () for n in range(12)} | {f"/polite/{n}": () for n in range(3)})
    site.set_fault("/quick/*", delay=0.8)
    crawler.tools.engine.fetcher = LateFetcher(crawler, 0.3, late=lambda url: "/quick/" in url)
    common = {"respect_robots_txt": False, "use_sitemaps": False}
    quick = {**common, "delay_seconds": 0, "max_concurrent": 8}
    polite = {**common, "delay_seconds": 0.5, "max_concurrent": 5}
    crawls = [
        crawler.start(crawler.project(site.url("/quick")), config=quick),
        crawler.start(crawler.project(site.url("/polite")), config=polite),
    ]
    for crawl in crawls:
        crawler.run(crawl)
    (host,) = crawler.tools.hosts.audit(crawls[1].id)
    assert host.owed_gap_seconds == 0.5
    assert host.violations == 0, host
