"""What enters the frontier, once, and in which order it leaves."""

import pytest
from redis import Redis

from crawler.domain.crawls.frontier import Discovered, End, Kind, Lane, Outcome
from tests.integration.frontier.desk import Desk, page, pages, paths


def test_urls_leave_by_priority_then_in_the_order_they_were_found(desk: Desk) -> None:
    desk.crawl(
        page("http://a.test/late", 9),
        page("http://a.test/home", 5, priority=0),
        page("http://a.test/early", 2),
        page("http://a.test/included", 7, priority=1),
    )
    assert paths(desk.claim()) == ["home", "included", "early", "late"]


def test_a_url_is_queued_once_however_often_it_is_found(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    again = desk.frontier.discover(
        crawl, [page("http://a.test/x", 1), page("http://a.test/y"), page("http://a.test/y")]
    )
    assert again == Discovered(1, [])
    assert sorted(paths(desk.claim())) == ["x", "y"]
    assert desk.stats(crawl).queued == 0


def test_known_tells_depths_and_what_was_never_seen(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x", depth=3))
    asked = [page("http://a.test/x"), page("http://a.test/new")]
    assert desk.known(crawl, asked) == [3, None]


def test_a_shorter_path_lowers_the_depth_and_is_reported(desk: Desk) -> None:
    x = page("http://a.test/x", depth=3)
    crawl = desk.crawl(x)
    assert desk.frontier.discover(crawl, [x._replace(depth=4)]) == Discovered(0, [])
    assert desk.frontier.discover(crawl, [x._replace(depth=1), x._replace(depth=2)]) == Discovered(0, [x.digest])
    assert desk.known(crawl, [x]) == [1]


def test_complete_ends_no_lease_while_a_depth_was_lowered(desk: Desk) -> None:
    x = page("http://a.test/x", depth=3)
    crawl = desk.crawl(page("http://a.test/parent", 0), x._replace(score=1))
    parent = desk.one()
    shorter = [x._replace(depth=1), page("http://a.test/child", 8)]
    assert desk.frontier.complete(crawl, [Outcome(parent, End.STORED)], shorter) == ([], Discovered(1, [x.digest]))
    assert desk.stats(crawl).leased == 1
    assert desk.frontier.complete(crawl, [Outcome(parent, End.STORED)]) == ([], Discovered(0, []))
    assert desk.stats(crawl).leased == 0


def test_an_entry_below_zero_is_seen_but_never_queued(desk: Desk) -> None:
    deep = page("http://a.test/deep", depth=9)._replace(score=-1)
    crawl = desk.crawl()
    assert desk.frontier.discover(crawl, [deep]).new == 0
    assert desk.known(crawl, [deep]) == [9]
    assert desk.claim() == []
    assert desk.frontier.discover(crawl, [deep._replace(depth=2, url="")]).lowered == [deep.digest]


def test_hops_of_an_entry_reach_the_lease_and_survive_a_release(desk: Desk) -> None:
    desk.crawl(
        page("http://a.test/x", hops=2),
        page("http://a.test/y", 1),
        page("http://a.test/s", 2, kind=Kind.SITEMAP, hops=1),
    )
    leases = desk.claim()
    assert [lease.hops for lease in leases] == [2, 0, 1]
    desk.frontier.release(leases)
    assert [lease.hops for lease in desk.claim()] == [2, 0, 1]


def test_more_urls_than_a_script_takes_all_arrive(desk: Desk) -> None:
    crawl = desk.crawl(max_pages=5000, max_fetches=5000, max_concurrent=256)
    found = [page(f"http://h{n % 7}.test/{n}", n) for n in range(1203)]
    assert desk.frontier.discover(crawl, found).new == 1203
    assert desk.known(crawl, found) == [1] * 1203
    assert desk.stats(crawl).queued == 1203


def test_sequence_blocks_never_overlap(desk: Desk) -> None:
    crawl = desk.crawl()
    first, second, third = (desk.frontier.reserve_sequence(crawl, count) for count in (10, 1, 5))
    assert second >= first + 10
    assert third >= second + 1


def test_a_url_with_a_line_break_is_refused(desk: Desk) -> None:
    with pytest.raises(ValueError, match="line break"):
        desk.crawl(page("http://a.test/x\ny"))


def test_due_tells_when_to_look_again(desk: Desk) -> None:
    assert desk.frontier.due(Lane.HTTP, 10) == ([], None)
    crawl = desk.crawl(*pages("a.test", 2), delay_ms=200)
    assert desk.frontier.due(Lane.HTTP, 10) == ([(crawl, "a.test")], None)
    lease = desk.one()
    desk.frontier.sent([(lease, 0)])
    pairs, wait = desk.frontier.due(Lane.HTTP, 10)
    assert pairs == []
    assert wait is not None
    assert 0 < wait <= 0.201


# -- readmission ----------------------------------------------------------------------------


def test_readmit_queues_again_what_was_done_or_lost(desk: Desk) -> None:
    x = page("http://a.test/x")
    crawl = desk.crawl(x)
    desk.end([desk.one()], End.DROPPED)
    lost = page("http://a.test/lost", 1)
    assert desk.frontier.readmit(crawl, [x, lost, lost]) == 2
    assert desk.known(crawl, [lost]) == [1]
    assert paths(desk.claim()) == ["x", "lost"]


def test_readmit_never_queues_what_waits_or_is_leased(desk: Desk) -> None:
    entries = pages("a.test", 6)
    crawl = desk.crawl(*entries, max_concurrent=10)
    retried, moved, rendered, released, _leased = desk.claim(5)
    soon = retried.claimed_ms + 60_000
    desk.end([retried], End.RETRY, at_ms=soon)
    desk.end([moved], End.MOVED, url="https://a.test/elsewhere")
    desk.end([rendered], End.RENDER)
    desk.frontier.release([released])
    assert desk.frontier.readmit(crawl, entries) == 0
    assert desk.stats(crawl).queued == 5


def test_readmit_lowers_a_depth_but_never_raises_it(desk: Desk) -> None:
    x = page("http://a.test/x", depth=3)
    crawl = desk.crawl(x)
    desk.frontier.readmit(crawl, [x._replace(depth=5)])
    assert desk.known(crawl, [x]) == [3]
    desk.frontier.readmit(crawl, [x._replace(depth=1)])
    assert desk.known(crawl, [x]) == [1]


def test_nothing_enters_a_crawl_that_is_not_open(desk: Desk, redis: Redis, prefix: str) -> None:
    crawl, frontier = desk.crawl(page("http://a.test/x")), desk.frontier
    frontier.close_crawl(crawl)
    assert frontier.discover(crawl, pages("a.test", 3)) == Discovered(0, [])
    assert frontier.readmit(crawl, pages("a.test", 3)) == 0
    assert frontier.reserve_sequence(crawl, 5) == 0
    frontier.pause_crawl(crawl, paused=True)
    assert [key for key in redis.keys(f"{prefix}:*") if crawl.hex.encode() in key] == []


def test_new_urls_wake_a_pair_that_waits_for_a_distant_retry(desk: Desk) -> None:
    crawl = desk.crawl(page("http://a.test/x"))
    lease = desk.one()
    desk.end([lease], End.RETRY, at_ms=lease.claimed_ms + 60_000)
    assert desk.claim() == []
    desk.frontier.discover(crawl, [page("http://a.test/y", 1)])
    assert paths(desk.wait()) == ["y"]
