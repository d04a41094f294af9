"""Who is there to work in a lane: told by workers, asked by everybody else."""

import time

import pytest
from redis import Redis

from crawler.adapters import lane_watch
from crawler.adapters.lane_watch import LaneWatch
from crawler.adapters.light_pages import LightPages
from crawler.domain.frontier import Lane
from crawler.domain.ids import new_id
from crawler.domain.urls import digest


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
    lanes.announce(Lane.BROWSER, able=True)
    assert lanes.is_open(Lane.BROWSER)


def test_a_worker_without_a_browser_closes_the_lane_at_once(client: Redis) -> None:
    lanes = LaneWatch(client)
    assert lanes.is_open(Lane.BROWSER)
    lanes.announce(Lane.BROWSER, able=False)
    assert not lanes.is_open(Lane.BROWSER)


def test_a_worker_without_a_browser_does_not_speak_for_one_that_has_it(client: Redis) -> None:
    lanes = LaneWatch(client)
    lanes.announce(Lane.BROWSER, able=True)
    lanes.announce(Lane.BROWSER, able=False)
    assert lanes.is_open(Lane.BROWSER)


def test_what_the_last_shift_reported_can_be_read(client: Redis) -> None:
    lanes = LaneWatch(client)
    assert lanes.numbers(Lane.BROWSER) == {"renders": 0, "restarts": 0, "processes": 0, "memory_bytes": 0}
    told = {"renders": 7, "restarts": 1, "processes": 5, "memory_bytes": 99, "pids": (1, 2)}
    lanes.report(Lane.BROWSER, told)
    assert lanes.numbers(Lane.BROWSER) == {"renders": 7, "restarts": 1, "processes": 5, "memory_bytes": 99}


def test_a_light_page_is_begun_once_and_found_when_it_was_kept(client: Redis) -> None:
    lights, crawl, key = LightPages(client), new_id(1), digest("http://a.test/")
    assert lights.begin(crawl, key)
    assert not lights.begin(crawl, key)
    assert lights.find(crawl, key) is None
    lights.keep(crawl, key, "some words", ["/a"])
    assert lights.find(crawl, key) == ("some words", ["/a"])
    lights.keep(crawl, key, "x" * 600_000, [])
    assert lights.find(crawl, key) is None, "too large to be kept"
