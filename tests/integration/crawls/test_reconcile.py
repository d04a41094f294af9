"""What a process that died left half done is found and done by the reconciler."""

import time
from dataclasses import dataclass
from uuid import UUID

import pytest

from crawler.adapters.operating import live_workers
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import CrawlStats, Lane
from crawler.handlers.crawls import reconcile as reconciling
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine, InlineHints
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


def many_half_ended(crawler: Engine, site: Site, number: int) -> list[CrawlJob]:
    lay(site, {"/": []})
    crawls = [crawler.start(crawler.project(site.url())) for _ in range(number)]
    for crawl in crawls:
        leave_half_ended(crawler, crawl, 40, ", status = 'completed'")
        crawler.tools.frontier.close_crawl(crawl.id)
    return crawls


def test_of_many_whose_end_was_lost_few_are_ended_in_one_look_and_all_in_the_next(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciling, "ENDED_AT_ONCE", 2)
    crawls = many_half_ended(crawler, site, 3)
    told = [[crawler.tools.crawls.reconcile(), ended(crawler)] for _ in range(2)]
    assert told == [[False, 2], [True, len(crawls)]]


def ended(crawler: Engine) -> int:
    return sum(task == "after_crawl" for task, _ in crawler.sent)


class Ticks:
    """A clock that goes on by a second whenever somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@dataclass
class Looks:
    """Looks of which each has time for so many crawls."""

    crawler: Engine
    monkeypatch: pytest.MonkeyPatch

    def of(self, crawls: int) -> tuple[bool, list[UUID]]:
        reconcile, seen = self.crawler.tools.crawls.reconcile, list[UUID]()
        look_after = reconcile._look_after

        def look(crawl: CrawlJob) -> CrawlStats | None:
            seen.append(crawl.id)
            return look_after(crawl)

        with self.monkeypatch.context() as patch:
            patch.setattr(reconcile, "_monotonic", Ticks())
            patch.setattr(reconcile, "_look_after", look)
            return reconcile(crawls), seen


@pytest.mark.parametrize("at_once", [2, 50])
def test_a_look_ends_in_time_and_the_next_one_goes_on_where_it_stopped(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(reconciling, "CRAWLS_AT_ONCE", at_once)
    one, two, three, four, five = (started(crawler, site).id for _ in range(5))
    looks = Looks(crawler, monkeypatch)
    assert looks.of(2) == (False, [one, two])
    assert looks.of(0) == (False, [three]), "one at least, however late it is"
    assert looks.of(9) == (True, [four, five])
    assert looks.of(9) == (True, [one, two, three, four, five])


def test_a_crawl_that_cannot_be_looked_after_keeps_no_other_from_it(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = started(crawler, site).id, started(crawler, site).id
    reconcile, seen = crawler.tools.crawls.reconcile, list[UUID]()

    def fail(crawl: CrawlJob) -> None:
        seen.append(crawl.id)
        if crawl.id == first:
            raise ValueError("it cannot be read")

    monkeypatch.setattr(reconcile, "_look_after", fail)
    with pytest.raises(ValueError, match="cannot be read"):
        reconcile()
    assert reconcile()
    assert seen == [first, second]


def over(crawler: Engine, site: Site) -> CrawlJob:
    """A crawl that is over, and nobody was told."""
    crawl = started(crawler, site)
    crawler.shift_until(lambda: crawler.tools.store.get_crawl(crawl.id).pages_crawled == 1)
    for mark in crawler.tools.redis.scan_iter("*finish *"):
        crawler.tools.redis.delete(mark)
    crawler.sent.clear()
    return crawl


def test_a_look_finishes_no_crawl_but_asks_for_it_and_not_again_at_once(crawler: Engine, site: Site) -> None:
    """To finish one takes longer than to look after a hundred, and whoever looks has other work."""
    crawl, goes_on = over(crawler, site), started(crawler, site)
    for _ in range(2):
        crawler.tools.crawls.reconcile()
    assert [asked for asked in crawler.sent if asked[0] == "finish_crawl"] == [("finish_crawl", crawl.id)]
    assert crawler.tools.store.get_crawl(crawl.id).status is CrawlStatus.IN_PROGRESS
    assert crawler.tools.frontier.stats(goes_on.id) is not None


def test_whom_a_shift_told_the_reconciler_does_not_tell_again_at_once(crawler: Engine, site: Site) -> None:
    """When three hundred crawls end at once, it would double the messages that all wait for."""
    crawl = started(crawler, site)
    crawler.shift_until(lambda: ("finish_crawl", crawl.id) in crawler.sent)
    crawler.sent.clear()
    crawler.tools.crawls.reconcile()
    assert ("finish_crawl", crawl.id) not in crawler.sent


def test_the_end_of_a_run_by_schedule_waits_behind_what_somebody_waits_for(crawler: Engine, site: Site) -> None:
    by_hand, by_schedule = over(crawler, site), over(crawler, site)
    crawler.rows("UPDATE crawl_jobs SET crawl_type = 'scheduled' WHERE id = :id RETURNING 1", id=by_schedule.id)
    crawler.tools.crawls.reconcile()
    assert ("finish_crawl", by_hand.id) in crawler.sent
    hints = crawler.tools.hints
    assert isinstance(hints, InlineHints)
    assert [crawl_id for task, crawl_id in hints.later if task == "finish_crawl"] == [by_schedule.id]


def test_who_has_no_time_for_all_has_a_coordinator_go_on_at_once(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shift holds a slot that others wait for."""
    tools = crawler.tools
    for _ in range(2):
        started(crawler, site)
    look = tools.operating.look_for_lost
    assert look(0.0, 60.0), "it is its turn"
    assert ("reconcile", None) in crawler.sent
    crawler.sent.clear()
    assert look(60.0, 60.0), "nobody has to wait for the rest"
    assert ("reconcile", None) not in crawler.sent
    assert not look(60.0, 60.0), "all was looked at"


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
