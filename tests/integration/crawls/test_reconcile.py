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
    is_told = lost == "the message"
    leave_half_ended(crawler, crawl, 40 if is_told else 20, "" if is_told else ", stats = '{}'")
    crawler.tools.crawls.reconcile()
    assert ("after_crawl", crawl.id) in crawler.sent
    assert crawler.tools.store.get_crawl(crawl.id).stats == crawl.stats


def leave_half_ended(crawler: Engine, crawl: CrawlJob, seconds: int, more: str = "") -> None:
    then = f"now() - interval '{seconds} s'"
    left = f"diffed_at = NULL, completed_at = {then}, updated_at = {then}"
    crawler.rows(f"UPDATE crawl_jobs SET {left}{more} WHERE id = :id RETURNING 1", id=crawl.id)
    crawler.sent.clear()


def test_a_crawl_that_takes_too_long_to_end_keeps_nothing_else_from_being_done(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    class TimeIsUp(Exception): ...

    def too_long(_: object) -> None:
        raise TimeIsUp

    half_ended = crawler.run(started(crawler, site))
    leave_half_ended(crawler, half_ended, 40)
    started(crawler, site)
    reconcile = crawler.tools.crawls.reconcile
    monkeypatch.setattr(reconcile, "_finish_crawl", too_long)
    with pytest.raises(TimeIsUp):
        reconcile()
    assert ("after_crawl", half_ended.id) in crawler.sent


def test_a_comparison_that_waits_its_turn_is_not_asked_for_again(crawler: Engine, site: Site) -> None:
    """When a hundred crawls end at once, asking again for each had doubled the work that all wait for."""
    crawl = crawler.run(started(crawler, site))
    leave_half_ended(crawler, crawl, 25)
    crawler.tools.crawls.reconcile()
    assert ("after_crawl", crawl.id) not in crawler.sent


def end_without_closing(crawler: Engine, crawl: CrawlJob, seconds_ago: int) -> None:
    ended = f"status = 'completed', completed_at = now() - interval '{seconds_ago} s'"
    crawler.rows(f"UPDATE crawl_jobs SET {ended} WHERE id = :id RETURNING 1", id=crawl.id)


def test_a_crawl_that_somebody_ends_in_this_moment_is_left_to_them(crawler: Engine, site: Site) -> None:
    crawl = started(crawler, site)
    end_without_closing(crawler, crawl, 1)
    crawler.sent.clear()
    crawler.tools.crawls.reconcile()
    assert ("after_crawl", crawl.id) not in crawler.sent


def test_the_frontier_of_a_crawl_that_is_over_is_closed(crawler: Engine, site: Site) -> None:
    crawl = started(crawler, site)
    end_without_closing(crawler, crawl, 20)
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
