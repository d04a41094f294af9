"""A URL belongs to one worker at a time, and comes back when that worker falls silent."""

import pytest

from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import Discovered, End, Kind, Lane, Outcome
from tests.integration.frontier.desk import ONE_SERVER, Desk, page, pages, paths


def test_a_claimed_url_is_claimed_by_nobody_else(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3))
    assert paths(desk.claim()) == ["0", "1", "2"]
    assert desk.claim() == []
    assert desk.stats(crawl).leased == 3


def test_a_completed_lease_is_over(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    lease = desk.one()
    assert desk.end([lease]) == []
    assert desk.end([lease]) == [lease]
    assert desk.stats(crawl).finished


def test_a_lease_completed_twice_in_one_call_ends_once(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), max_pages=1)
    outcome = Outcome(desk.one(), End.DROPPED)
    assert desk.frontier.complete(crawl, [outcome, outcome])[0] == [outcome.lease]
    assert desk.stats(crawl).budget_left == 1


@ONE_SERVER
def test_reaping_spares_a_lease_that_ended_or_was_renewed_meanwhile(desk: Desk, frontier: RedisFrontier) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    lease = desk.one()
    assert frontier._reap(crawl, [(1, str(lease.token), lease.host), (1, "17", lease.host)], tell=9) == []
    assert desk.end([lease]) == []


@ONE_SERVER
def test_tokens_only_grow(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 5), *pages("b.test", 5), max_concurrent=10)
    tokens = [lease.token for _ in range(5) for lease in desk.claim(2)]
    assert len(tokens) == 10
    assert tokens == sorted(set(tokens))


def test_an_expired_lease_goes_back_with_one_loss_more(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    lease = desk.one(lease=0.3)
    assert desk.frontier.reap(crawl) == []
    desk.sleep(0.31)
    assert desk.frontier.reap(crawl) == [(lease._replace(losses=1), False)]
    again = desk.one()
    assert (again.url, again.losses, again.attempts) == (lease.url, 1, 0)
    assert again.token > lease.token


def test_a_late_worker_changes_nothing(desk: Desk) -> None:
    """Fencing: its lease ran out, and somebody else has the URL now."""
    crawl = desk.crawl(page("http://a.test/x"))
    late = desk.one(lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    holder = desk.one()
    before = desk.stats(crawl)
    desk.frontier.sent([(late, 5)])
    desk.frontier.answered([(late, 5)])
    desk.frontier.release([late])
    assert desk.frontier.complete(crawl, [Outcome(late, End.STORED)]) == ([late], Discovered(0, []))
    assert desk.stats(crawl) == before
    assert desk.end([holder]) == []


def test_a_late_worker_still_brings_what_it_found(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    late = desk.one(lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    stale, found = desk.frontier.complete(crawl, [Outcome(late, End.STORED)], [page("http://a.test/new", 1)])
    assert (stale, found.new) == ([late], 1)


@ONE_SERVER
def test_claiming_reaps(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"), page("http://b.test/y", 1))
    lost = desk.claim(1, lease=0.01)
    desk.sleep(0.02)
    assert desk.claim(1) != []
    assert paths(desk.wait()) == paths(lost)


def test_a_url_that_costs_three_workers_stays_out_until_it_is_buried(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), max_pages=1)
    assert [(lease.losses, poison) for lease, poison in desk.lose(crawl)] == [(1, False)]
    assert [(lease.losses, poison) for lease, poison in desk.lose(crawl)] == [(2, False)]
    (told,) = desk.lose(crawl)
    lease, poison = told
    assert poison
    assert (lease.url, lease.losses) == ("http://a.test/x", 3)
    assert desk.claim() == []
    assert desk.frontier.reap(crawl) == [told], "it must be told until somebody has written it down"
    assert (desk.stats(crawl).leased, desk.stats(crawl).finished) == (1, False)
    assert desk.end([lease], End.DROPPED) == []
    assert desk.frontier.reap(crawl) == []
    assert desk.stats(crawl).finished
    assert desk.stats(crawl).budget_left == 1


@ONE_SERVER
def test_poison_found_by_a_claim_is_told_by_the_next_reap(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), page("http://b.test/y", 1))
    desk.end(desk.claim(1))
    for _ in range(3):
        assert paths(desk.wait(lease=0.01)) == ["y"]
        desk.sleep(0.02)
        desk.frontier.claim(Lane.HTTP, [(crawl, "b.test")], 1, 30)
    assert [(lease.url, poison) for lease, poison in desk.frontier.reap(crawl)] == [("http://b.test/y", True)]


def test_requests_of_silent_workers_are_told_until_they_are_forgotten(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), page("http://a.test/s", 1, kind=Kind.SITEMAP))
    first = desk.claim(1, lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    leases = [*first, *desk.claim(2, lease=0.01)]
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    lost = desk.frontier.lost_requests(10)
    assert [(r.token, r.claimed_ms, r.crawl_id, r.host, r.kind, r.url) for r in lost] == [
        (lease.token, lease.claimed_ms, crawl, "a.test", lease.kind, lease.url) for lease in leases
    ]
    assert desk.frontier.lost_requests(1) == lost[:1]
    desk.frontier.forget_lost_requests(lost[:2])
    assert desk.frontier.lost_requests(10) == lost[2:]


def test_a_released_url_is_as_if_never_claimed(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3), max_pages=2, max_fetches=2)
    before = desk.stats(crawl)
    leases = desk.claim()
    desk.frontier.release(leases)
    assert desk.stats(crawl) == before
    again = desk.claim()
    assert [lease[:4] for lease in again] == [lease[:4] for lease in leases]
    assert [(lease.attempts, lease.losses) for lease in again] == [(0, 0)] * 2


def test_a_retry_waits_for_its_time_and_keeps_its_place(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 3), max_concurrent=1)
    lease = desk.one()
    at = lease.claimed_ms + 60
    desk.end([lease], End.RETRY, at_ms=at)
    second = desk.one()
    assert paths([second]) == ["1"]
    desk.sleep(0.07)
    desk.end([second])
    again = desk.one()
    assert (again.url, again.attempts, again.losses) == (lease.url, 1, 0)
    assert again.claimed_ms >= at
    desk.end([again])
    assert paths([desk.one()]) == ["2"]


@pytest.mark.slow
def test_a_retry_alone_is_due_at_its_time(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"))
    lease = desk.one()
    desk.end([lease], End.RETRY, at_ms=lease.claimed_ms + 500)
    pairs, wait = desk.frontier.due(Lane.HTTP, 1)
    assert not pairs
    assert wait is not None
    assert wait <= 0.501
    assert desk.one().claimed_ms >= lease.claimed_ms + 500


def test_a_moved_url_is_claimed_again_where_it_is_now(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), max_concurrent=1)
    lease = desk.one()
    desk.end([lease], End.MOVED, url="https://a.test/0")
    moved = desk.one()
    assert (moved.url, moved.hops, moved.attempts) == ("https://a.test/0", 1, 0)
    desk.end([moved], End.MOVED, url="https://www.a.test/0")
    assert (desk.one().url, moved.hops) == ("https://www.a.test/0", 1)


def test_a_url_to_render_goes_on_in_the_browser_lane(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    desk.end([desk.one()], End.RENDER)
    assert desk.claim() == []
    assert not desk.stats(crawl).finished
    lease = desk.one(lane=Lane.BROWSER)
    assert lease.url == "http://a.test/x"
    desk.end([lease])
    assert desk.stats(crawl).finished


def test_a_url_lost_in_the_browser_lane_comes_back_there(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    desk.end([desk.one()], End.RENDER)
    desk.wait(lane=Lane.BROWSER, lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    assert desk.claim() == []
    assert desk.one(lane=Lane.BROWSER).losses == 1
