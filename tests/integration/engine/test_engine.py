"""Whole crawls, judged by the site's known graph and its access log."""

from pathlib import Path
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_the_stored_set_is_exactly_the_reachable_graph(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=3, pages=300, seed=11) as site:
        hosts = [f"127.0.0.{n}:{site.port}" for n in (2, 3)]
        crawl = crawler.crawl(site.url(), max_pages=1000, allowed_hosts=hosts)
        assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
        expected = site.expected(hosts=(0, 1, 2))
        ledger = crawler.ledger(crawl)
        assert set(ledger) == set(expected)
        found = {key: (row["fetch_state"], row["reason"], row["depth"]) for key, row in ledger.items()}
        assert found == {key: (e.state, e.reason, e.depth) for key, e in expected.items()}


def test_each_url_is_requested_once_and_counters_equal_rows(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=1000)
    paths = [request.path for request in site.requests()]
    assert len(paths) == len(set(paths))
    ledger = crawler.ledger(crawl)
    states = [row["fetch_state"] for row in ledger.values()]
    assert (
        crawl.pages_crawled
        == states.count("done")
        == len(crawler.rows("SELECT 1 FROM crawled_pages WHERE status='success'"))
    )
    assert crawl.pages_skipped == states.count("skipped")
    assert crawl.total_discovered == len(states)
    assert crawler.tools.frontier.stats(crawl.id) is None, "nothing of it is left in Redis"


@pytest.mark.usefixtures("without_samples")
def test_an_unchanged_site_is_recrawled_by_conditional_requests(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=1000)
    second = crawler.again(first)
    assert second.pages_crawled == first.pages_crawled
    assert second.change_summary is not None
    assert second.change_summary["summary"]["unchanged_pages"] == first.pages_crawled
    statuses = {url: row["http_status"] for url, row in crawler.ledger(second).items() if row["fetch_state"] == "done"}
    assert statuses.pop(site.url("/")) == 200, "the homepage is always asked for"
    assert set(statuses.values()) == {304}


def test_max_pages_is_exact_and_the_rest_is_told(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=7)
    assert (crawl.pages_crawled, crawl.end_reason) == (7, EndReason.MAX_PAGES)
    reasons = [row["reason"] for row in crawler.ledger(crawl).values() if row["fetch_state"] == "skipped"]
    assert set(reasons) == {"max_pages"}


def test_a_shift_claims_what_is_due_before_it_waits_for_the_network(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody may wait for this page: nothing can come from the network before the first request is sent."""
    shift, waits = crawler.tools.engine.work_shift, list[float]()
    poll = shift.fetcher.poll

    def polled(seconds: float) -> list[Any]:
        waits.append(seconds)
        return poll(seconds)

    lay(site, {"/": "<h1>Hello</h1>"})
    crawl = crawler.start(crawler.project(site.url()))
    monkeypatch.setattr(shift.fetcher, "poll", polled)
    crawler.shift()
    assert waits[0] == 0
    assert site.requests()
    crawler.run(crawl)
