"""How a crawl ends, and what it says about it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest
from structlog.testing import capture_logs

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from crawler.domain.crawls.frontier import End, Entry, Lane, Outcome
from crawler.domain.reason_words import name_of
from crawler.errors import NotFound
from tests.integration.handmade import Clock, asked, host_of, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"http_timeout_seconds": 0.5, "lease_seconds": 5, "shift_seconds": 1}


def test_a_crawl_that_has_seen_everything_is_exhausted(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=100)
    assert (crawl.status, crawl.end_reason, crawl.error_message) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED, None)
    assert crawl.started_at is not None
    assert crawl.completed_at is not None
    assert crawl.created_at <= crawl.started_at <= crawl.completed_at


def test_a_crawl_that_lasts_too_long_keeps_its_pages_and_says_what_was_left(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=100, delay_seconds=0.3, max_duration_seconds=1)
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.MAX_DURATION)
    assert 1 <= crawl.pages_crawled < 40
    ends = list(crawler.ends(crawl).values())
    assert set(ends) == {"done", "host_blocked"}
    assert crawl.pages_skipped == ends.count("host_blocked")
    assert len(crawler.rows("SELECT 1 FROM crawled_pages WHERE status = 'success'")) == crawl.pages_crawled


def test_two_who_look_at_once_whether_a_crawl_is_over_bring_back_what_was_lost_and_end_nothing(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(site, {"/": []})
    crawl = crawler.start(crawler.project(site.url()), config={"max_pages": 1, "respect_robots_txt": False})
    frontier = crawler.tools.frontier
    leases = frontier.claim(Lane.HTTP, [(crawl.id, host_of(site))], 1, 60)
    frontier.complete(crawl.id, [Outcome(lease, End.DROPPED) for lease in leases])
    readmit = frontier.readmit

    def after_another(crawl_id: UUID, entries: Sequence[Entry]) -> int:
        assert readmit(crawl_id, entries) == 1
        return readmit(crawl_id, entries)

    monkeypatch.setattr(frontier, "readmit", after_another)
    assert crawler.tools.crawls.finish(crawl.id).status is CrawlStatus.IN_PROGRESS
    monkeypatch.undo()
    assert crawler.run(crawl).pages_crawled == 1


@pytest.mark.parametrize("when", ["before", "while it is filled"])
def test_a_crawl_that_ends_while_it_is_taken_for_lost_leaves_nothing_in_redis(
    crawler: Engine, site: Site, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl, tools = crawler.start(crawler.project(site.url())), crawler.tools
    rebuild = tools.frontier.rebuild

    def late(*args: Any, **options: Any) -> int:
        tools.crawls.control.cancel(crawl.id)
        return rebuild(*args, **options)

    if when == "before":
        tools.crawls.control.cancel(crawl.id)
    else:
        monkeypatch.setattr(tools.frontier, "rebuild", late)
    tools.crawls.reconcile.restore(crawl)
    assert tools.frontier.open_crawls() == []


def test_a_crawl_nobody_works_on_is_ended_by_the_reconciler_when_its_time_is_over(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    lay(site, {"/": ["/a"], "/a": []})
    crawler.tools.frontier.pause_host(host_of(site), paused=True)
    crawl = crawler.start(crawler.project(site.url()))
    clock.forward(hours=23)
    crawler.reconcile()
    assert crawler.tools.store.get_crawl(crawl.id).status is CrawlStatus.IN_PROGRESS
    clock.forward(hours=2)
    crawler.reconcile()
    ended = crawler.tools.store.get_crawl(crawl.id)
    assert ended.status is CrawlStatus.FAILED, "its seed was never fetched"
    assert "in time" in (ended.error_message or "")


@pytest.mark.slow
def test_the_time_of_a_pause_does_not_count(crawler: Engine, site: Site) -> None:
    clock = Clock(crawler)
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.start(crawler.project(site.url()), config={"max_duration_seconds": 3600})
    for _ in range(2):
        crawler.tools.crawls.control.pause(crawl.id)
        clock.forward(hours=5)
        crawler.tools.crawls.control.pause(crawl.id)
        crawler.reconcile()
        crawler.tools.crawls.control.resume(crawl.id)
        crawler.reconcile()
    assert crawler.run(crawl).end_reason is EndReason.EXHAUSTED


def test_a_crawl_whose_hosts_ask_for_more_time_than_it_has_ends_blocked_at_once(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b", "/c"], "/a": [], "/b": [], "/c": []})
    site.set_fault("/b", status=429, retry_after=7200)
    crawl = crawler.crawl(site.url(), max_duration_seconds=3600, max_concurrent=1, seconds=10)
    assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.BLOCKED)
    ends = crawler.ends(crawl)
    assert (ends["/"], ends["/a"], ends["/b"]) == ("done", "done", "host_blocked")
    again = crawler.tools.store.get_project(crawl.project_id)
    site.mend()
    crawler.tools.frontier.block_host(host_of(site), 0, 0, 0)
    later = crawler.run(crawler.start(again))
    assert later.change_summary is None, "a crawl that was blocked is nothing to compare with"


def test_a_block_that_ends_in_time_is_waited_for(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    site.set_fault("/a", times=1, status=429, retry_after=1)
    crawl = crawler.crawl(site.url(), max_duration_seconds=3600)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done"}
    assert crawl.end_reason is EndReason.EXHAUSTED


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"status": 404}, "not_found"),
        ({"status": 403}, "forbidden"),
        ({"status": 500}, "http_5xx"),
        ({"status": 200, "content_type": "application/zip"}, "content_type"),
        ({"redirect": "/"}, "redirect_loop"),
        ({"redirect": "/gone"}, "not_found"),
    ],
)
def test_a_crawl_whose_seed_cannot_be_fetched_fails_and_says_why(
    crawler: Engine, site: Site, fault: dict[str, Any], why: str
) -> None:
    site.set_fault("/", **fault)
    with capture_logs() as logged:
        crawl = crawler.crawl(site.url())
    (ended,) = [line for line in logged if line["event"] == "crawl_ended"]
    assert name_of(why) in ended["error"]
    assert (crawl.status, crawl.end_reason, crawl.pages_crawled) == (CrawlStatus.FAILED, None, 0)
    assert name_of(why) in (crawl.error_message or "")
    assert crawl.completed_at is not None


def test_a_seed_at_which_nobody_answers_fails_the_crawl_in_seconds_not_in_half_an_hour(
    crawler: Engine, site: Site
) -> None:
    """Robots.txt is tried as often as a page would be: at once, after 2, 4 and 8 seconds."""
    clock = Clock(crawler)
    url = f"http://127.0.0.99:{site.port}/"
    crawl = crawler.start(crawler.project(url))
    for seconds in (0, 2, 4):
        clock.forward(seconds=seconds)
        crawler.tools.frontier.block_host(url.split("/")[2], 0, 0, 0)
        crawler.shift()
        assert crawler.tools.crawls.finish(crawl.id).status is CrawlStatus.IN_PROGRESS
    clock.forward(seconds=8)
    crawler.tools.frontier.block_host(url.split("/")[2], 0, 0, 0)
    ended = crawler.run(crawl)
    assert ended.status is CrawlStatus.FAILED
    assert "connect" in (ended.error_message or "")


def test_a_failed_crawl_preserves_the_pages_of_the_one_before(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    first = crawler.crawl(site.url())
    site.set_fault("/", status=500)
    second = crawler.again(first)
    assert second.status is CrawlStatus.FAILED
    assert crawler.page(second, "/a")["status"] == "success"
    assert crawler.page(second, f"{site.port}/")["title"] == "/"


def test_one_bad_page_does_not_end_a_crawl(crawler: Engine, site: Site) -> None:
    lay(
        site,
        {"/": ["/x/status/500", "/x/garbage", "/x/nested", "/x/big", "/good"], "/good": ["/better"], "/better": []},
    )
    crawl = crawler.crawl(site.url())
    assert crawl.status is CrawlStatus.COMPLETED
    assert (crawl.pages_crawled, crawl.pages_failed) == (3, 4)


def test_nothing_of_a_crawl_is_left_in_redis_when_it_is_over(crawler: Engine, site: Site) -> None:
    crawl = crawler.crawl(site.url(), max_pages=5)
    left = [key for key in crawler.tools.redis.keys("*") if crawl.id.hex.encode() in key]
    assert left == []
    assert len(asked(site)) == 5


def test_a_crawl_whose_project_was_deleted_while_it_ended_is_not_found(crawler: Engine) -> None:
    """Its task is over with a sentence, not with an error that nobody expected."""
    with pytest.raises(NotFound, match="any more"):
        crawler.tools.store.save_stats(uuid4(), {})
