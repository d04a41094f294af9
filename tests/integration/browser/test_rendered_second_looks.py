"""Second looks at rendered pages are made by the browser, with the same rules as those over plain HTTP."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from typing import Any

import pytest

from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.frontier import Lane
from tests.integration.browser.test_two_passes import LATE_SECONDS, TEXT
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Server, response, serving

GOODS = ("lamp", "chair")
PAGES = 1 + len(GOODS)
TEASERS = ("Oak planks are back", "Sale on paint", "New: brass hooks", "Try our wax", "Visit the yard", "Gift cards")


class Shop:
    """A script puts another teaser into each page at each visit; what the server sends is always the same."""

    def __init__(self) -> None:
        self.prices = dict.fromkeys(GOODS, 20)
        self.visits = count()

    def respond(self, _: object, request: Request) -> bytes:
        if request.path == "/teaser":
            number = next(self.visits)
            return response(f"{TEASERS[number % len(TEASERS)]}, offer {number * 7919 % 9973}".encode())
        name = request.path.strip("/")
        if name and name not in GOODS:
            return response(b"", "404 Not Found")
        links = "".join(f"<a href=/{good}>{good}</a> " for good in GOODS)
        fill = "fetch('/teaser').then(r => r.text()).then(t => { document.getElementById('teaser').textContent = t })"
        body = f"{TEXT}<h1>{name}</h1><p class=price>Price of the {name}: {self.prices.get(name, 0)} coins</p>{links}"
        page = f"<html><title>{name}</title><body>{body}<div id=teaser></div><script>{fill}</script></body></html>"
        return response(page.encode())


@contextmanager
def open_shop() -> Iterator[tuple[Shop, Server]]:
    shop = Shop()
    with serving(shop.respond) as server:
        yield shop, server


def again(lanes: TwoLanes, crawl: CrawlJob) -> list[str]:
    """What the next crawl tells as changed."""
    found = lanes.again(crawl, seconds=120).change_summary
    assert found is not None
    return sorted(url.rpartition("/")[2] for url in found["changed_page_urls"])


def probes(lanes: TwoLanes, crawl: CrawlJob) -> list[dict[str, Any]]:
    return lanes.rows("SELECT * FROM crawl_probes WHERE crawl_id = :id AND purpose = 'again'", id=crawl.id)


@pytest.mark.slow
def test_what_a_script_rotates_is_learned_and_an_edit_is_told(two_lanes: TwoLanes) -> None:
    with open_shop() as (shop, server):
        first = two_lanes.crawl(server.url("/"), render="always", learn_noise=True)
        again(two_lanes, first)
        assert again(two_lanes, first) == []
        shop.prices["lamp"] = 25
        assert again(two_lanes, first) == ["lamp"]
    assert [look["outcome"] for look in probes(two_lanes, first)] == ["seen"] * PAGES


@pytest.mark.slow
def test_second_looks_are_polite_and_take_no_pictures(two_lanes: TwoLanes) -> None:
    with open_shop() as (_, server):
        crawl = two_lanes.crawl(server.url("/"), learn_noise=True, screenshots=True, delay_seconds=0.4)
        visits = [request for request in server.requests if request.headers.get("sec-fetch-mode") == "navigate"]
    assert [look["outcome"] for look in probes(two_lanes, crawl)] == ["seen"] * PAGES
    at = sorted(request.at for request in visits)
    assert len(at) == 2 * PAGES
    assert min(later - sooner for sooner, later in pairwise(at)) >= 0.4 - LATE_SECONDS
    (pictures,) = two_lanes.rows("SELECT count(*) AS n FROM screenshots")
    assert pictures["n"] == PAGES, "one for each page"


def until_second_looks_wait(lanes: TwoLanes, url: str) -> CrawlJob:
    """A crawl whose pages are all rendered, and whose second looks wait for the browser."""
    project = lanes.project(url, render="always", screenshots=False, learn_noise=True, delay_seconds=0)
    crawl = lanes.start(project)
    while not probes(lanes, crawl):
        lanes.shift()
        lanes.tools.crawls.finish(crawl.id)
    Engine(lanes.tools).shift()  # nobody is in the browser lane
    assert [wait.lane for wait in lanes.tools.frontier.waiting(crawl.id)] == [Lane.BROWSER]
    return crawl


@pytest.mark.slow
def test_second_looks_that_wait_for_a_browser_that_is_gone_are_given_up(two_lanes: TwoLanes) -> None:
    with open_shop() as (_, server):
        crawl = until_second_looks_wait(two_lanes, server.url("/"))
        two_lanes.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
        two_lanes.tools.crawls.reconcile()
        ended = Engine(two_lanes.tools).run(crawl)
    assert (ended.status, ended.rendering) == (CrawlStatus.COMPLETED, None), "all its pages were rendered"
    assert [look["outcome"] for look in probes(two_lanes, ended)] == ["not_reached"] * PAGES


@pytest.mark.slow
def test_second_looks_that_redis_lost_are_made_from_the_table(two_lanes: TwoLanes) -> None:
    with open_shop() as (_, server):
        crawl = until_second_looks_wait(two_lanes, server.url("/"))
        two_lanes.tools.redis.flushdb()
        two_lanes.tools.operating.live_workers.announce("renderer", ["render"])
        two_lanes.tools.crawls.reconcile()
        ended = two_lanes.run(crawl, seconds=90)
    assert [look["outcome"] for look in probes(two_lanes, ended)] == ["seen"] * PAGES


@pytest.mark.slow
def test_without_a_browser_rendered_pages_get_no_second_look(two_lanes: TwoLanes) -> None:
    with open_shop() as (_, server):
        crawl = two_lanes.start(
            two_lanes.project(server.url("/"), render="always", screenshots=False, learn_noise=True, delay_seconds=0)
        )
        while two_lanes.tools.store.get_crawl(crawl.id).pages_crawled < PAGES:
            two_lanes.shift()
        two_lanes.tools.operating.live_workers.announce("renderer", ["render"], WorkerState("none is here"))
        ended = two_lanes.run(crawl)
    assert probes(two_lanes, ended) == []
