"""A site that answers 503 to everything: a crawl ends in bounded time, says why, and nothing is told as removed."""

from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from tests.integration.handmade import asked, host_of, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

LINKS = {"/": ["/a", "/b", "/c", "/d"], "/a": [], "/b": [], "/c": [], "/d": []}


@pytest.mark.slow
@pytest.mark.parametrize("fault", [{"status": 503}, {"status": 503, "retry_after": 7200}, {"status": 429}])
def test_a_site_that_refuses_everything_fails_the_crawl_and_says_what_it_answers(
    crawler: Engine, site: Site, fault: dict[str, Any]
) -> None:
    lay(site, LINKS)
    site.set_fault("/?", **fault)
    site.set_fault("/", **fault)
    crawl = crawler.crawl(site.url(), patience_seconds=30, seconds=15)
    assert crawl.status is CrawlStatus.FAILED
    assert f"the host answers {fault['status']}, asked once" in (crawl.error_message or "")
    assert crawler.ends(crawl) == {"/": "rate_limited"}


def test_a_robots_txt_that_answers_503_fails_the_crawl_and_says_so(crawler: Engine, site: Site) -> None:
    site.set_robots(status=503)
    crawl = crawler.crawl(site.url(), patience_seconds=30, seconds=15)
    assert crawl.status is CrawlStatus.FAILED
    assert "robots.txt answers 503" in (crawl.error_message or "")
    assert asked(site) == []


@pytest.mark.slow
def test_an_outage_that_is_shorter_is_waited_out(crawler: Engine, site: Site) -> None:
    lay(site, LINKS)
    site.set_fault("/", times=2, status=503, retry_after=1)
    crawl = crawler.crawl(site.url(), patience_seconds=600)
    assert set(crawler.ends(crawl).values()) == {"done"}


@pytest.mark.slow
def test_pages_given_up_in_an_outage_are_not_removed_and_their_edits_are_told_later_once(
    crawler: Engine, site: Site
) -> None:
    lay(site, LINKS)
    project = crawler.project(site.url())
    config = {"delay_seconds": 0, "max_concurrent": 1, "use_sitemaps": False, "patience_seconds": 2}
    crawler.run(crawler.start(project, config=config))
    faults = [site.set_fault(f"/{name}", status=503, retry_after=1) for name in "abcd"]
    down = crawler.run(crawler.start(project, config=config), seconds=30)
    assert (down.status, down.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
    summary = down.change_summary
    assert summary is not None
    assert summary["summary"]["removed_pages"] == 0
    assert summary["coverage"]["failing"], "one of five pages was compared"
    assert "put off" in summary["coverage"]["sentence"]
    for fault in faults:
        site.mend(fault)
    crawler.tools.frontier.block_host(host_of(site), 0, 0, 0)
    lay(site, LINKS | {"/b": ["/a"]})
    back = crawler.run(crawler.start(project, config=config), seconds=30).change_summary
    assert back is not None
    told = back["summary"]
    assert (told["new_pages"], told["changed_pages"], told["removed_pages"]) == (0, 1, 0)


@pytest.mark.slow
def test_refusals_count_since_the_host_answered_anything_else(crawler: Engine, site: Site) -> None:
    lay(site, LINKS)
    site.set_fault("/c", times=2, status=503, retry_after=1)
    crawl = crawler.crawl(site.url(), max_concurrent=1, use_sitemaps=False)
    ledger, host = crawler.tools.engine.ledger, host_of(site)
    assert ledger.refusals(crawl.id, [host, "elsewhere.test"]) == {}, "it answered since"
