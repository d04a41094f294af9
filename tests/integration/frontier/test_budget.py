"""Exactly max_pages, whatever happens on the way; and a crawl is over exactly when nothing can be claimed any more."""

import random
import threading
from collections.abc import Callable

import pytest
from redis import Redis

from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import End, Kind, Lane, Outcome
from tests.integration.frontier.desk import LIMITS, Desk, page, pages, paths


def test_no_more_pages_are_claimed_than_may_be_stored(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 5), max_pages=3)
    assert paths(desk.claim()) == ["0", "1", "2"]
    assert desk.stats(crawl).budget_left == 0
    assert desk.frontier.due(Lane.HTTP, 1) == ([], None), "a pair without budget must not be polled"


def test_a_stored_page_spends_and_a_dropped_one_gives_back(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 4), *pages("b.test", 1, start=9), max_pages=2)
    leases = desk.claim()
    assert len(leases) == 2
    desk.end(leases[:1], End.STORED)
    assert desk.claim() == []
    desk.end(leases[1:], End.DROPPED)
    assert len(desk.claim()) == 1, "the refund must wake a pair that was out of budget"
    assert desk.stats(crawl).budget_left == 0


@pytest.mark.parametrize("end", [End.RETRY, End.MOVED, End.RENDER])
def test_a_url_that_goes_on_keeps_its_budget(desk: Desk, end: End) -> None:
    crawl = desk.crawl(*pages("a.test", 2), max_pages=1)
    (lease,) = desk.claim()
    desk.end([lease], end, at_ms=lease.claimed_ms, url=lease.url)
    assert desk.stats(crawl).budget_left == 0
    assert not desk.stats(crawl).finished, "a paid URL waits"
    again = desk.one(lane=Lane.BROWSER if end is End.RENDER else Lane.HTTP)
    assert again.url == lease.url
    desk.end([again])
    assert desk.stats(crawl).finished


def test_a_lost_url_claims_again_for_free(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), max_pages=1, max_fetches=1)
    desk.lose(crawl)
    assert not desk.stats(crawl).finished, "a paid URL waits"
    (lease,) = desk.claim()
    assert lease.losses == 1
    desk.end([lease])
    assert desk.stats(crawl).finished


@pytest.mark.slow
def test_a_distant_retry_behind_pages_without_budget_is_not_forgotten(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3), max_pages=1)
    (lease,) = desk.claim()
    desk.end([lease], End.RETRY, at_ms=lease.claimed_ms + 400)
    assert desk.frontier.claim(Lane.HTTP, [(crawl, "a.test")], 9, 30) == [], "asked too early, it must not be forgotten"
    assert not desk.stats(crawl).finished
    (again,) = desk.wait()
    assert again.url == lease.url
    desk.end([again], End.DROPPED)
    assert len(desk.wait()) == 1


def test_what_is_no_page_needs_no_budget(desk: Desk) -> None:
    crawl = desk.crawl(
        *pages("a.test", 2),
        page("http://a.test/sitemap", 5, kind=Kind.SITEMAP),
        page("http://a.test/probe", 0, priority=3, kind=Kind.PROBE),
        max_pages=1,
        max_fetches=1,
    )
    leases = desk.claim()
    assert [(lease.kind, lease.url[-1]) for lease in leases] == [
        (Kind.PAGE, "0"),
        (Kind.SITEMAP, "p"),
        (Kind.PROBE, "e"),
    ]
    desk.end(leases[1:], End.DROPPED)
    assert desk.stats(crawl).budget_left == 0
    assert desk.claim() == []


def test_fetches_are_never_given_back_except_by_release(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_pages=2, max_fetches=3)
    leases = desk.claim()
    desk.frontier.release(leases)
    assert desk.stats(crawl).budget_left == 2
    for _ in range(3):
        desk.end([desk.one()], End.DROPPED)
    assert desk.claim() == []
    assert desk.stats(crawl).finished


@pytest.mark.parametrize("end", [End.RETRY, End.MOVED, End.RENDER])
def test_each_further_request_of_a_url_is_a_fetch(desk: Desk, end: End) -> None:
    crawl = desk.crawl(*pages("a.test", 5), max_pages=4, max_fetches=2)
    lane = Lane.HTTP
    (first,) = desk.claim(1)
    desk.end([first], end, at_ms=first.claimed_ms, url=first.url)
    lane = Lane.BROWSER if end is End.RENDER else Lane.HTTP
    assert desk.stats(crawl).budget_left == 0
    desk.end([desk.one(lane=lane)], end, at_ms=first.claimed_ms, url=first.url)
    assert desk.claim() == desk.claim(lane=Lane.BROWSER) == []
    assert desk.stats(crawl).finished, "its row waits in the ledger for the end of the crawl"


@pytest.mark.parametrize("end", [End.DROPPED, End.RETRY])
def test_what_never_went_onto_the_wire_is_no_fetch(desk: Desk, end: End) -> None:
    crawl = desk.crawl(*pages("a.test", 5), max_pages=1, max_fetches=2)
    for _ in range(3):
        lease = desk.one()
        desk.answer([lease], -1)
        desk.frontier.complete(crawl, [Outcome(lease, end, lease.claimed_ms, lateness_ms=-1)])
    desk.end([desk.one()], End.DROPPED)
    desk.end([desk.one()], End.DROPPED)
    assert desk.claim() == []


def test_a_lost_request_counts_as_a_fetch(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 5), max_pages=3, max_fetches=2)
    desk.lose(crawl)
    desk.end([desk.one()])
    assert desk.claim() == []
    assert desk.stats(crawl).finished


def test_raised_limits_let_a_crawl_go_on(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 5), max_pages=1, max_fetches=1)
    desk.end(desk.claim())
    assert desk.claim() == []
    epoch = desk.frontier.open_crawl(crawl, LIMITS._replace(max_pages=3, max_fetches=4))
    assert epoch == desk.stats(crawl).epoch
    assert len(desk.claim()) == 2


def test_lowered_limits_stop_a_crawl_without_harm(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_pages=5)
    desk.end(desk.claim(4))
    desk.frontier.open_crawl(crawl, LIMITS._replace(max_pages=2))
    assert desk.claim() == []
    assert desk.stats(crawl).finished
    assert desk.stats(crawl).budget_left == 0


# -- over? ----------------------------------------------------------------------------------


def test_a_crawl_is_not_over_while_something_waits_or_is_leased(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    assert not desk.stats(crawl).finished
    lease = desk.one()
    assert not desk.stats(crawl).finished
    desk.answer([lease])
    assert not desk.stats(crawl).finished, "answered is not committed"
    desk.frontier.complete(crawl, [Outcome(lease, End.STORED)], [page("http://a.test/y", 1)])
    assert not desk.stats(crawl).finished
    desk.end([desk.one()])
    assert desk.stats(crawl).finished


def test_a_crawl_without_budget_waits_for_its_sitemaps(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), max_pages=1)
    desk.end(desk.claim())
    assert desk.stats(crawl).finished
    desk.frontier.discover(crawl, [page("http://a.test/sitemap", 9, kind=Kind.SITEMAP)])
    assert not desk.stats(crawl).finished
    desk.end([desk.one()], End.DROPPED)
    assert desk.stats(crawl).finished


def test_an_empty_crawl_is_over(desk: Desk) -> None:
    assert desk.stats(desk.crawl()).finished


# -- many workers ---------------------------------------------------------------------------


def _work(frontier: RedisFrontier, chance: random.Random, stored: list[str], over: Callable[[], bool]) -> None:
    while not over():
        pairs, _ = frontier.due(Lane.HTTP, 50)
        leases = frontier.claim(Lane.HTTP, pairs, chance.randint(1, 7), 30) if pairs else []
        for lease in leases:
            end = chance.choice([End.STORED, End.STORED, End.DROPPED, End.RETRY])
            frontier.answered([(lease, 0)])
            frontier.complete(lease.crawl_id, [Outcome(lease, end, lease.claimed_ms)])
            if end is End.STORED:
                stored.append(lease.url)


def test_claimers_side_by_side_store_exactly_max_pages(redis: Redis, prefix: str) -> None:
    desk = Desk(RedisFrontier(redis, prefix))
    found = [page(f"http://h{n % 5}.test/{n}", n) for n in range(150)]
    crawl = desk.crawl(*found, max_pages=40, max_fetches=1000, max_concurrent=8)
    stored: list[list[str]] = [[] for _ in range(4)]

    def over() -> bool:
        return desk.stats(crawl).finished

    workers = [
        threading.Thread(target=_work, args=(RedisFrontier(redis, prefix), random.Random(n), stored[n], over))
        for n in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    urls = [url for some in stored for url in some]
    assert len(urls) == len(set(urls)) == 40
    assert desk.stats(crawl).budget_left == 0


def test_a_woken_pair_is_served_when_budget_returns_to_another_host(desk: Desk) -> None:
    """Ten hosts wait for one page of budget; each refund must reach some host that can use it."""
    desk.crawl(*(page(f"http://h{n}.test/{n}", n) for n in range(10)), max_pages=1)
    seen = []
    for _ in range(10):
        (lease,) = desk.wait()
        seen.append(lease.host)
        desk.end([lease], End.DROPPED)
    assert sorted(seen) == sorted(f"h{n}.test" for n in range(10))
