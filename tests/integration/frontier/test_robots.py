"""No page is requested before its host's robots.txt was read."""

from crawler.domain.crawls.frontier import End, Kind, Lane, Outcome
from tests.integration.frontier.desk import Desk, page, pages, paths


def test_a_new_host_yields_one_request_for_robots_and_no_page(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 5), respect_robots=True)
    desk.crawl(*pages("a.test", 5, start=9), respect_robots=True)
    (lease,) = desk.claim()
    assert (lease.kind, lease.host, lease.url) == (Kind.ROBOTS, "a.test", "http://a.test/robots.txt")
    assert desk.claim() == []
    assert desk.frontier.due(Lane.HTTP, 10)[0] == [], "waiting for robots.txt must not be polled"


def test_robots_is_asked_where_the_first_url_is(desk: Desk) -> None:
    desk.crawl(page("https://a.test:8443/deep/page?x#y"), respect_robots=True)
    assert [lease.url for lease in desk.claim()] == ["https://a.test:8443/robots.txt"]


def test_pages_go_once_robots_is_known(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), respect_robots=True)
    (robots,) = desk.claim()
    desk.answer([robots])
    desk.frontier.set_robots("a.test", 100, 0)
    assert desk.end([robots], End.DROPPED) == []
    assert paths(desk.claim()) == ["0", "1"]
    assert desk.stats(crawl).leased == 2


def test_the_request_for_robots_counts_for_the_gap(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), respect_robots=True, delay_ms=20)
    robots = desk.one()
    assert robots.gap_ms == 20
    desk.frontier.sent([(robots, 0)])
    desk.frontier.set_robots("a.test", 100, 0.04)
    desk.end([robots], End.DROPPED)
    first = desk.one()
    assert first.kind is Kind.PAGE
    assert first.claimed_ms - robots.claimed_ms >= 40


def test_the_request_for_robots_takes_a_slot_but_no_budget(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), respect_robots=True, max_pages=1, max_fetches=1)
    robots = desk.one()
    stats = desk.stats(crawl)
    assert (stats.in_flight, stats.leased, stats.budget_left) == (1, 1, 1)
    assert desk.frontier.host("a.test").in_flight == 1
    desk.frontier.set_robots("a.test", 100, 0)
    desk.end([robots], End.DROPPED)
    assert desk.stats(crawl).budget_left == 1


def test_another_may_ask_when_the_asker_died(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), respect_robots=True)
    desk.wait(lease=0.02)
    assert desk.claim() == []
    again = desk.one()
    assert again.kind is Kind.ROBOTS
    desk.frontier.reap(crawl)
    assert desk.stats(crawl).leased == 1
    assert [r.kind for r in desk.frontier.lost_requests(5)] == [Kind.ROBOTS]


def test_robots_is_asked_again_when_nothing_came_of_it(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"), respect_robots=True)
    desk.end([desk.one()], End.DROPPED)
    again = desk.one()
    assert again.kind is Kind.ROBOTS
    desk.frontier.release([again])
    assert desk.one().kind is Kind.ROBOTS


def test_unknown_robots_are_asked_for_again_and_keep_the_known_delay(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), respect_robots=True)
    desk.frontier.set_robots("a.test", 100, 0.01)
    assert desk.one().kind is Kind.PAGE
    desk.frontier.set_robots("a.test", 0, 0)
    assert desk.frontier.host("a.test").robots_ms == 10
    assert desk.frontier.host("a.test").robots_until_ms == 0


def test_robots_grow_stale(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 9), respect_robots=True, max_concurrent=1)
    desk.frontier.set_robots("a.test", 0.03, 0)
    desk.end([desk.one()])
    desk.sleep(0.04)
    assert desk.one().kind is Kind.ROBOTS


def test_a_crawl_that_ignores_robots_does_not_wait_for_them(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"), respect_robots=True)
    desk.one()
    ignoring = desk.crawl(page("http://a.test/y"), respect_robots=False)
    assert [lease.crawl_id for lease in desk.claim()] == [ignoring]


def test_one_hosts_robots_hold_up_no_other_host(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), *pages("b.test", 2, start=5), respect_robots=True)
    desk.frontier.set_robots("b.test", 100, 0)
    leases = desk.claim()
    assert {(lease.host, lease.kind) for lease in leases} == {("a.test", Kind.ROBOTS), ("b.test", Kind.PAGE)}


def test_a_late_set_robots_after_the_lease_was_lost_still_helps(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"), respect_robots=True)
    late = desk.one(lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    desk.frontier.set_robots("a.test", 100, 0)
    assert desk.frontier.complete(crawl, [Outcome(late, End.DROPPED)])[0] == [late]
    assert desk.one().kind is Kind.PAGE
