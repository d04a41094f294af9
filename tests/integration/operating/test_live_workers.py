"""Which workers are there and able: announced by workers, asked by everybody else."""

import time

import pytest
from redis import Redis

from crawler.adapters.browser.light_pages import LightPages
from crawler.adapters.browser.render_counts import RenderCounts
from crawler.adapters.operating import live_workers
from crawler.adapters.operating.live_workers import LiveWorkers, WorkerState
from crawler.domain.crawls.frontier import Lane
from crawler.domain.ids import new_id
from crawler.domain.pages.still_loading import Signs
from crawler.domain.rendering.url_shapes import LightPage
from crawler.domain.urls.url import digest


@pytest.fixture
def client(redis_url: str) -> Redis:
    found = Redis.from_url(redis_url)
    found.flushdb()
    return found


def test_a_lane_nobody_told_of_is_expected_to_open_for_a_while(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_workers, "GONE_SECONDS", 0.3)
    workers = LiveWorkers(client)
    assert workers.is_open(Lane.BROWSER)
    time.sleep(0.35)
    assert not workers.is_open(Lane.BROWSER)
    workers.announce("a@here", ["render"])
    assert workers.is_open(Lane.BROWSER)


def test_a_worker_without_a_browser_closes_the_lane_at_once(client: Redis) -> None:
    workers = LiveWorkers(client)
    assert workers.is_open(Lane.BROWSER)
    workers.announce("a@here", ["render"], WorkerState("No browser: get one."))
    assert not workers.is_open(Lane.BROWSER)
    assert workers.of("render") == {"a@here": WorkerState("No browser: get one.")}


def test_a_worker_without_a_browser_does_not_speak_for_one_that_has_it(client: Redis) -> None:
    workers = LiveWorkers(client)
    workers.announce("a@here", ["render"])
    workers.announce("b@there", ["render"], WorkerState("none"))
    assert workers.is_open(Lane.BROWSER)
    assert workers.of("render") == {"a@here": WorkerState(), "b@there": WorkerState("none")}


def test_a_worker_whose_browser_turns_out_broken_closes_the_lane_at_once_and_opens_it_again(client: Redis) -> None:
    workers = LiveWorkers(client)
    workers.announce("a@here", ["render"])
    workers.announce("a@here", ["render"], WorkerState("It ended at once: no library"))
    assert not workers.is_open(Lane.BROWSER)
    workers.announce("a@here", ["render"])
    assert workers.is_open(Lane.BROWSER)
    assert workers.of("render") == {"a@here": WorkerState()}


def test_a_worker_that_is_silent_for_too_long_is_gone(client: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_workers, "GONE_SECONDS", 0.3)
    workers = LiveWorkers(client)
    workers.announce("a@here", ["render"])
    workers.announce("b@there", ["render"], WorkerState("none"))
    time.sleep(0.35)
    assert not workers.is_open(Lane.BROWSER), "nobody new is expected"
    assert workers.of("render") == {}


def test_what_workers_use_is_known_of_each_and_what_shifts_did_adds_up(client: Redis) -> None:
    workers = LiveWorkers(client)
    workers.announce("a@here", ["render"], WorkerState(processes=5, memory_bytes=99))
    workers.announce("b@there", ["render"], WorkerState("It ended: at once", processes=1, memory_bytes=7))
    assert workers.of("render") == {
        "a@here": WorkerState(processes=5, memory_bytes=99),
        "b@there": WorkerState("It ended: at once", processes=1, memory_bytes=7),
    }
    counts = RenderCounts(client)
    counts.add(renders=7, restarts=1, seconds=1.5)
    counts.add(renders=2, restarts=0, seconds=0.25)
    assert counts.read() == {"renders": 9, "restarts": 1, "milliseconds": 1750}


def test_a_light_page_is_begun_once_and_found_when_it_was_kept(client: Redis) -> None:
    lights, crawl, key = LightPages(client), new_id(1), digest("http://a.test/")
    assert lights.begin(crawl, key)
    assert not lights.begin(crawl, key)
    assert lights.find(crawl, key) is None
    lights.keep(crawl, key, LightPage("some words", ["/a"], b"x"))
    assert lights.find(crawl, key) == LightPage("some words", ["/a"], b"x")
    lights.keep(crawl, key, LightPage("Loading…", [], b"x", Signs(("Loading…",), ("#price",))))
    assert lights.find(crawl, key) == LightPage("Loading…", [], b"x", Signs(("Loading…",), ("#price",)))
    lights.keep(crawl, key, LightPage("x" * 600_000, [], b"x"))
    assert lights.find(crawl, key) is None, "too large to be kept"
