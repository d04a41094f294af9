"""Pause, resume, cancel, retry-failed, on crawls that are under way. The site's log tells when requests stopped."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType, EndReason
from crawler.domain.crawls.frontier import Lane
from crawler.errors import InvalidTransition
from crawler.handlers.crawls.control_crawl import ControlCrawl
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

SOON = 1.0
"""Seconds after which no request may start any more; the promise is five."""


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.5}


@contextmanager
def at_work(crawler: Engine, crawl: CrawlJob) -> Iterator[None]:
    """A worker in the background, until the crawl is over or the block is left."""
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set() and not crawler.tools.store.get_crawl(crawl.id).status.is_over:
            crawler.shift()
            crawler.tools.crawls.finish(crawl.id)
            time.sleep(0.02)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def wait_for(crawler: Engine, crawl: CrawlJob, pages: int) -> CrawlJob:
    until = time.monotonic() + 20
    while (now := crawler.tools.store.get_crawl(crawl.id)).pages_crawled < pages:
        assert time.monotonic() < until, now
        time.sleep(0.02)
    return now


def later_than(site: Site, moment: float) -> list[str]:
    return [request.path for request in site.requests() if request.arrived > moment]


@pytest.mark.quick(1)
@pytest.mark.parametrize("delay", [0.1, 0.0])
def test_a_paused_crawl_asks_nothing_more_and_goes_on_where_it_was(crawler: Engine, site: Site, delay: float) -> None:
    site.set_fault("/*", delay=0.03)
    config = {"delay_seconds": delay, "max_pages": 100, "max_concurrent": 2}
    crawl = crawler.start(crawler.project(site.url()), config=config)
    with at_work(crawler, crawl):
        wait_for(crawler, crawl, 3)
        paused = crawler.tools.crawls.control.pause(crawl.id)
        called = time.time()
        time.sleep(SOON + 0.7)
        assert later_than(site, called + SOON) == []
        done = len(asked(site))
        assert paused.paused
        assert crawler.tools.store.get_crawl(crawl.id).status is CrawlStatus.IN_PROGRESS
        resumed = crawler.tools.crawls.control.resume(crawl.id)
        assert not resumed.paused
        if delay:
            wait_for(crawler, crawl, done + 2)
        else:
            ended = wait_for(crawler, crawl, 40)
            assert len(asked(site)) == len(set(asked(site))) == ended.pages_crawled, "nothing twice, nothing lost"


def test_a_crawl_paused_before_it_starts_starts_paused(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.crawls.start(crawler.project(site.url()).id)
    crawler.tools.crawls.control.pause(crawl.id)
    crawler.tools.crawls.seed(crawl.id)
    crawler.shift()
    assert site.requests() == []
    crawler.tools.crawls.control.resume(crawl.id)
    crawler.shift_until(lambda: site.requests() != [])


def test_a_cancelled_crawl_asks_nothing_more_keeps_its_pages_and_writes_nothing_later(
    crawler: Engine, site: Site
) -> None:
    site.set_fault("/*", delay=0.05)
    config = {"delay_seconds": 0, "max_pages": 100, "max_concurrent": 2}
    crawl = crawler.start(crawler.project(site.url()), config=config)
    with at_work(crawler, crawl):
        wait_for(crawler, crawl, 3)
        cancelled = crawler.tools.crawls.control.cancel(crawl.id)
        called = time.time()
        time.sleep(SOON + 0.5)
    assert later_than(site, called + SOON) == []
    assert (cancelled.status, cancelled.end_reason) == (CrawlStatus.CANCELLED, None)
    assert cancelled.completed_at is not None
    now = crawler.tools.store.get_crawl(crawl.id)
    stored = crawler.rows("SELECT crawled_at FROM crawled_pages WHERE status = 'success'")
    assert now.pages_crawled == cancelled.pages_crawled == len(stored)
    ends = list(crawler.ends(now).values())
    assert set(ends) == {"done", "cancelled"}
    assert (now.pages_skipped, now.total_discovered) == (ends.count("cancelled"), len(ends))


def test_cancelling_again_is_no_error_and_cancelling_what_ended_is(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    first = crawler.tools.crawls.control.cancel(crawl.id)
    assert crawler.tools.crawls.control.cancel(crawl.id) == first
    ended = crawler.crawl(site.url(), max_pages=1)
    with pytest.raises(InvalidTransition, match="is completed and cannot become cancelled"):
        crawler.tools.crawls.control.cancel(ended.id)
    for call in (crawler.tools.crawls.control.pause, crawler.tools.crawls.control.resume):
        with pytest.raises(InvalidTransition, match="nothing to pause or resume"):
            call(ended.id)


def test_callers_that_cancel_in_the_same_moment_are_all_right(crawler: Engine, site: Site) -> None:
    """The clock is read between the look at the status and its change."""
    tools = crawler.tools
    crawl = crawler.start(crawler.project(site.url()))
    control = tools.crawls.control

    def clock_of_the_second() -> datetime:
        control.cancel(crawl.id)
        return tools.clock()

    second = ControlCrawl(
        tools.store, tools.engine.ledger, tools.frontier, tools.hints, tools.events, clock_of_the_second
    )
    assert second.cancel(crawl.id).status is CrawlStatus.CANCELLED


def test_a_crawl_that_starts_while_it_is_cancelled_is_cancelled(crawler: Engine, site: Site) -> None:
    tools = crawler.tools
    crawl = tools.crawls.start(crawler.project(site.url()).id)

    def clock_while_it_starts() -> datetime:
        if tools.store.get_crawl(crawl.id).status is CrawlStatus.PENDING:
            tools.crawls.seed(crawl.id)
        return tools.clock()

    late = ControlCrawl(
        tools.store, tools.engine.ledger, tools.frontier, tools.hints, tools.events, clock_while_it_starts
    )
    assert late.cancel(crawl.id).status is CrawlStatus.CANCELLED


def test_a_pending_crawl_can_be_cancelled(crawler: Engine, site: Site) -> None:
    crawl = crawler.tools.crawls.start(crawler.project(site.url()).id)
    assert crawler.tools.crawls.control.cancel(crawl.id).status is CrawlStatus.CANCELLED
    assert crawler.tools.crawls.seed(crawl.id).status is CrawlStatus.CANCELLED
    crawler.shift()
    assert site.requests() == []


def test_a_project_can_be_crawled_again_after_a_cancel(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_pages": 3})
    crawler.tools.crawls.control.cancel(crawl.id)
    assert crawler.again(crawl).end_reason is EndReason.MAX_PAGES


def test_failed_urls_of_a_running_crawl_get_another_chance(crawler: Engine, site: Site) -> None:
    lay(
        site,
        {
            "/": ["/bad/1", "/bad/2", "/good", "/x/status/404"],
            "/bad/1": ["/new"],
            "/bad/2": [],
            "/good": [],
            "/new": [],
        },
    )
    fault = site.set_fault("/bad/*", status=500)
    config = {"delay_seconds": 0, "use_sitemaps": False}
    crawl = crawler.start(crawler.project(site.url()), config=config)
    crawler.shift_until(lambda: crawler.tools.store.get_crawl(crawl.id).pages_failed == 2)
    site.mend(fault)
    assert crawler.tools.crawls.retry_failed(crawl.id) == (crawl.id, 2)
    ended = crawler.run(crawl)
    assert crawler.ends(ended) == {
        "/": "done",
        "/bad/1": "done",
        "/bad/2": "done",
        "/good": "done",
        "/new": "done",
        "/x/status/404": "not_found",
    }
    assert (ended.pages_crawled, ended.pages_failed, ended.pages_skipped) == (5, 0, 1)


def test_failed_urls_of_a_crawl_that_ended_are_fetched_by_a_new_one(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/bad/1", "/bad/2", "/good"], "/bad/1": [], "/bad/2": [], "/good": []})
    fault = site.set_fault("/bad/*", status=500)
    crawl = crawler.crawl(site.url())
    site.mend(fault)
    asked_before = len(asked(site))
    retried = crawler.tools.crawls.retry_failed(crawl.id)
    assert retried.urls == 2
    crawler.tools.crawls.seed(retried.crawl_id)
    again = crawler.run(crawler.tools.store.get_crawl(retried.crawl_id))
    assert (again.retry_of, again.crawl_type) == (crawl.id, CrawlType.FETCH_ONLY)
    assert crawler.ends(again) == {"/bad/1": "done", "/bad/2": "done"}
    assert sorted(asked(site)[asked_before:]) == ["/bad/1", "/bad/2"]
    assert crawler.tools.store.get_crawl(crawl.id) == crawl, "what was found out then stays"


def test_when_nothing_failed_there_is_nothing_to_try_again(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    crawl = crawler.crawl(site.url())
    assert crawler.tools.crawls.retry_failed(crawl.id) == (crawl.id, 0)


def test_a_crawl_whose_pages_wait_for_a_browser_tells_those_who_have_one(crawler: Engine, site: Site) -> None:
    """Without it a page waited for the reconciler: up to fifteen seconds, while somebody looks on."""
    project = crawler.project(site.url())
    crawl = crawler.start(project, config={"render": "always"})
    crawler.tools.crawls.control.pause(crawl.id)
    crawler.tools.crawls.control.resume(crawl.id)
    lanes = [what[0] for kind, what in crawler.sent if kind == "fetch"]
    assert lanes.count(Lane.BROWSER) == 2
