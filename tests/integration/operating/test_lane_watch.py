"""Who is there to work in a lane: told by workers, asked by everybody else."""

import time

import pytest
from redis import Redis

from crawler.adapters.browser import lane_watch
from crawler.adapters.browser.lane_watch import LaneWatch, LaneWorker
from crawler.adapters.browser.light_pages import LightPages
from crawler.domain.crawls.frontier import Lane
from crawler.domain.ids import new_id
from crawler.domain.urls.url import digest


@pytest.fixture
def client(redis_url: str) -> Redis:
    found = Redis.from_url(redis_url)
    found.flushdb()
    return found


def test_a_lane_nobody_told_of_is_expected_to_open_for_a_while(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_watch, "GRACE_SECONDS", 0.3)
    lanes = LaneWatch(client)
    assert lanes.is_open(Lane.BROWSER)
    time.sleep(0.35)
    assert not lanes.is_open(Lane.BROWSER)
    lanes.announce(Lane.BROWSER, "a@here")
    assert lanes.is_open(Lane.BROWSER)


def test_a_worker_without_a_browser_closes_the_lane_at_once(client: Redis) -> None:
    lanes = LaneWatch(client)
    assert lanes.is_open(Lane.BROWSER)
    lanes.announce(Lane.BROWSER, "a@here", LaneWorker("No browser: get one."))
    assert not lanes.is_open(Lane.BROWSER)
    assert lanes.workers(Lane.BROWSER) == {"a@here": LaneWorker("No browser: get one.")}


def test_a_worker_without_a_browser_does_not_speak_for_one_that_has_it(client: Redis) -> None:
    lanes = LaneWatch(client)
    lanes.announce(Lane.BROWSER, "a@here")
    lanes.announce(Lane.BROWSER, "b@there", LaneWorker("none"))
    assert lanes.is_open(Lane.BROWSER)
    assert lanes.workers(Lane.BROWSER) == {"a@here": LaneWorker(), "b@there": LaneWorker("none")}


def test_a_worker_whose_browser_turns_out_broken_closes_the_lane_at_once_and_opens_it_again(client: Redis) -> None:
    lanes = LaneWatch(client)
    lanes.announce(Lane.BROWSER, "a@here")
    lanes.announce(Lane.BROWSER, "a@here", LaneWorker("It ended at once: no library"))
    assert not lanes.is_open(Lane.BROWSER)
    lanes.announce(Lane.BROWSER, "a@here")
    assert lanes.is_open(Lane.BROWSER)
    assert lanes.workers(Lane.BROWSER) == {"a@here": LaneWorker()}


def test_a_worker_that_is_silent_for_too_long_is_gone(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane_watch, "GRACE_SECONDS", 0.3)
    lanes = LaneWatch(client)
    lanes.announce(Lane.BROWSER, "a@here")
    lanes.announce(Lane.BROWSER, "b@there", LaneWorker("none"))
    time.sleep(0.35)
    assert not lanes.is_open(Lane.BROWSER), "nobody new is expected"
    assert lanes.workers(Lane.BROWSER) == {}


def test_what_workers_use_is_known_of_each_and_what_shifts_did_adds_up(client: Redis) -> None:
    lanes = LaneWatch(client)
    lanes.announce(Lane.BROWSER, "a@here", LaneWorker(processes=5, memory_bytes=99))
    lanes.announce(Lane.BROWSER, "b@there", LaneWorker("It ended: at once", 1, 7))
    assert lanes.workers(Lane.BROWSER) == {
        "a@here": LaneWorker("", 5, 99),
        "b@there": LaneWorker("It ended: at once", 1, 7),
    }
    lanes.count(Lane.BROWSER, renders=7, restarts=1, seconds=1.5)
    lanes.count(Lane.BROWSER, renders=2, restarts=0, seconds=0.25)
    assert lanes.counts(Lane.BROWSER) == {"renders": 9, "restarts": 1, "milliseconds": 1750}


def test_a_light_page_is_begun_once_and_found_when_it_was_kept(client: Redis) -> None:
    lights, crawl, key = LightPages(client), new_id(1), digest("http://a.test/")
    assert lights.begin(crawl, key)
    assert not lights.begin(crawl, key)
    assert lights.find(crawl, key) is None
    lights.keep(crawl, key, "some words", ["/a"])
    assert lights.find(crawl, key) == ("some words", ["/a"])
    lights.keep(crawl, key, "x" * 600_000, [])
    assert lights.find(crawl, key) is None, "too large to be kept"
