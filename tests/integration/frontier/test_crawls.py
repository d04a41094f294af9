"""A crawl's frontier from opening to closing: pauses, rebuilds, what can be seen of it."""

import time
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from redis import Redis

from crawler.adapters.frontier.lifecycle import CrawlLifecycle
from crawler.domain.crawls.frontier import CrawlStats, Discovered, End, Entry, Kind, Lane, Outcome, Seen, Wait
from tests.integration.frontier.desk import LIMITS, ONE_SERVER, Desk, page, pages, paths

# -- pause ----------------------------------------------------------------------------------


def test_a_paused_crawl_yields_nothing_and_others_go_on(desk: Desk) -> None:
    paused = desk.crawl(*pages("a.test", 2))
    other = desk.crawl(*pages("a.test", 2, start=5))
    desk.frontier.pause_crawl(paused, paused=True)
    assert {lease.crawl_id for lease in desk.claim()} == {other}
    assert desk.frontier.due(Lane.HTTP, 10)[0] == [], "a paused crawl must not be polled"
    assert desk.stats(paused).paused
    desk.frontier.pause_crawl(paused, paused=False)
    assert [lease.crawl_id for lease in desk.claim()] == [paused] * 2


def test_leases_of_a_paused_crawl_still_complete(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2))
    lease = desk.one()
    desk.frontier.pause_crawl(crawl, paused=True)
    desk.answer([lease])
    assert desk.frontier.complete(crawl, [Outcome(lease, End.STORED)], [page("http://b.test/new", 9)])[1].new == 1
    assert desk.claim() == []
    desk.frontier.pause_crawl(crawl, paused=False)
    assert sorted(paths(desk.wait())) == ["1", "new"]


def test_all_hosts_of_a_resumed_crawl_are_served(desk: Desk) -> None:
    crawl = desk.crawl(*(page(f"http://h{n}.test/{n}", n) for n in range(9)), max_concurrent=2)
    desk.frontier.pause_crawl(crawl, paused=True)
    assert desk.claim() == []
    desk.frontier.pause_crawl(crawl, paused=False)
    served = []
    for _ in range(9):
        lease = desk.one()
        served.append(lease.host)
        desk.end([lease])
    assert len(set(served)) == 9


def test_a_paused_host_yields_nothing_and_others_go_on(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 1), *pages("b.test", 1, start=5))
    desk.frontier.pause_host("a.test", paused=True)
    assert [lease.host for lease in desk.claim()] == ["b.test"]
    assert desk.frontier.due(Lane.HTTP, 10) == ([], None)
    assert desk.frontier.host("a.test").paused
    desk.frontier.pause_host("a.test", paused=False)
    assert [lease.host for lease in desk.claim()] == ["a.test"]


# -- the end --------------------------------------------------------------------------------


def test_what_comes_after_the_end_is_stale(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3))
    leases = desk.claim(2)
    desk.frontier.close_crawl(crawl)
    assert desk.frontier.stats(crawl) is None
    assert desk.claim() == []
    desk.frontier.sent([(leases[0], 1)])
    desk.answer(leases)
    assert desk.frontier.complete(crawl, [Outcome(leases[0], End.STORED)], pages("a.test", 9)) == (
        [leases[0]],
        Discovered(0, []),
    )
    desk.frontier.release(leases)
    assert desk.frontier.reap(crawl) == []
    assert desk.frontier.stats(crawl) is None


def test_a_closed_crawl_leaves_no_key_behind(desk: Desk, redis: Redis, prefix: str) -> None:
    found = [page(f"http://h{n}.test/{n}", n, hops=n % 2) for n in range(300)]
    crawl = desk.crawl(*found, max_concurrent=20)
    leases = desk.claim()
    desk.end(leases[:5], End.RETRY, at_ms=leases[0].claimed_ms + 60_000)
    desk.end(leases[5:8], End.RENDER)
    desk.frontier.close_crawl(crawl)
    assert [key for key in redis.keys(f"{prefix}:*") if crawl.hex.encode() in key] == []
    for lane in "hb":
        assert redis.zcard(f"{prefix}:ready:{lane}") == 0
    assert redis.keys(f"{prefix}:host:*:waiters") == []
    assert desk.frontier.open_crawls() == []


def test_requests_of_a_closed_crawl_hold_their_slots_until_answered(desk: Desk) -> None:
    """They are still on the wire: another crawl must not make it six."""
    crawl = desk.crawl(*pages("a.test", 5))
    leases = desk.claim()
    desk.frontier.close_crawl(crawl)
    desk.crawl(*pages("a.test", 5))
    assert desk.claim() == []
    desk.answer(leases[:2])
    assert len(desk.claim()) == 2
    desk.frontier.complete(crawl, [Outcome(lease, End.STORED) for lease in leases[2:]])
    assert len(desk.claim()) == 3


@ONE_SERVER
def test_what_a_half_closed_crawl_left_is_cleared_when_it_is_next_asked(desk: Desk, redis: Redis, prefix: str) -> None:
    crawl = desk.crawl(*pages("a.test", 3))
    redis.delete(f"{prefix}:crawl:{crawl.hex}")  # the process that closed it died after its first step
    assert desk.claim() == []
    assert desk.frontier.due(Lane.HTTP, 10) == ([], None)
    assert redis.keys(f"{prefix}:queue:*") == []


def test_an_unknown_crawl_has_no_stats(desk: Desk) -> None:
    assert desk.frontier.stats(uuid4()) is None


# -- rebuild --------------------------------------------------------------------------------


def test_a_rebuild_starts_over_from_what_it_is_given(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_pages=9)
    before = desk.stats(crawl)
    old = desk.claim(3)
    desk.end(old[:1], End.RETRY, at_ms=old[0].claimed_ms)
    entries = [page("http://a.test/5", 5, depth=2), page("http://b.test/7", 7, hops=1)]
    seen = [
        Seen(page("http://a.test/0").digest, 4, "a.test"),
        *(Seen(entry.digest, entry.depth, entry.host) for entry in entries),
    ]
    limits = LIMITS._replace(max_pages=9)
    epoch = desk.frontier.rebuild(crawl, limits, seen=seen, entries=entries, pages_left=1, fetches_left=7)
    after = desk.stats(crawl)
    assert after == before._replace(queued=2, budget_left=1, epoch=epoch)
    assert epoch > before.epoch
    assert desk.end(old[1:]) == old[1:], "leases of the old frontier are over"
    assert desk.known(crawl, [page(f"http://a.test/{n}") for n in (0, 1, 5)]) == [4, None, 2]
    (lease,) = desk.claim()
    assert lease.epoch == epoch
    assert desk.frontier.reserve_sequence(crawl, 1) >= 8


def test_a_rebuild_needs_no_crawl_that_is_open(desk: Desk) -> None:
    crawl = uuid4()
    desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=pages("a.test", 2), pages_left=2, fetches_left=6)
    assert paths(desk.claim()) == ["0", "1"]


@ONE_SERVER
def test_a_crawl_that_is_being_opened_is_not_over(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl, begin, looks = uuid4(), CrawlLifecycle.begin_rebuild, list[CrawlStats]()

    def look_and_begin(frontier: CrawlLifecycle, crawl_id: UUID) -> int:
        looks.append(desk.stats(crawl))
        return begin(frontier, crawl_id)

    monkeypatch.setattr(CrawlLifecycle, "begin_rebuild", look_and_begin)
    desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=pages("a.test", 2), pages_left=2, fetches_left=6)
    assert [(stats.building, stats.finished) for stats in looks] == [(True, False)]


def test_an_interrupted_rebuild_is_never_over_yields_nothing_and_can_be_repeated(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3))

    def dying() -> Iterator[Entry]:
        yield from pages("a.test", 600)
        raise ConnectionError

    with pytest.raises(ConnectionError):
        desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=dying(), pages_left=9, fetches_left=9)
    stats = desk.stats(crawl)
    assert stats.building
    assert not stats.finished
    assert desk.claim() == []
    desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=pages("a.test", 2), pages_left=9, fetches_left=9)
    assert not desk.stats(crawl).building
    assert paths(desk.claim()) == ["0", "1"]


@ONE_SERVER
def test_a_rebuild_nobody_carries_on_counts_as_lost(desk: Desk, redis: Redis, prefix: str) -> None:
    crawl = desk.crawl(*pages("a.test", 3))
    long_ago = desk.one().claimed_ms - 61_000
    redis.hset(f"{prefix}:crawl:{crawl.hex}", "building", long_ago)
    assert desk.frontier.stats(crawl) is None


def test_a_rebuild_overtaken_by_another_does_not_end_it(desk: Desk) -> None:
    crawl = desk.crawl()

    def overtaken() -> Iterator[Entry]:
        yield page("http://a.test/1", 1)
        with pytest.raises(ConnectionError):
            desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=dying(), pages_left=5, fetches_left=5)

    def dying() -> Iterator[Entry]:
        yield page("http://a.test/2", 2)
        raise ConnectionError

    desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=overtaken(), pages_left=9, fetches_left=9)
    assert desk.stats(crawl).building


def test_a_pause_survives_a_rebuild(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3))
    desk.frontier.pause_crawl(crawl, paused=True)
    desk.frontier.rebuild(crawl, LIMITS, seen=[], entries=pages("a.test", 2), pages_left=9, fetches_left=9)
    assert desk.claim() == []
    desk.frontier.pause_crawl(crawl, paused=False)
    assert len(desk.claim()) == 2


# -- seeing ---------------------------------------------------------------------------------


def test_stats_count_what_waits_and_what_is_under_way(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 5), page("http://a.test/s", 9, kind=Kind.SITEMAP), max_pages=10)
    leases = desk.claim(4)
    desk.answer(leases[:1])
    desk.end(leases[1:2], End.RETRY, at_ms=leases[0].claimed_ms + 60_000)
    stats = desk.stats(crawl)
    assert (stats.queued, stats.leased, stats.in_flight, stats.budget_left) == (3, 3, 2, 6)


def test_waiting_says_why_each_host_waits(desk: Desk) -> None:
    crawl = desk.crawl(
        *(page(f"http://{name}.test/{n}", n) for n, name in enumerate(["blocked", "paused", "robots", "gap", "ready"])),
        page("http://gap.test/more", 9),
        max_concurrent=2,
        respect_robots=True,
    )
    for name in ("blocked", "paused", "gap", "ready"):
        desk.frontier.set_robots(f"{name}.test", 100, 0.9 if name == "gap" else 0)
    desk.frontier.block_host("blocked.test", 60, 0, 1)
    desk.frontier.pause_host("paused.test", paused=True)
    leases = [
        *desk.frontier.claim(Lane.HTTP, [(crawl, "robots.test")], 1, 30),
        *desk.frontier.claim(Lane.HTTP, [(crawl, "gap.test")], 1, 30),
    ]
    assert {row.why for row in desk.frontier.waiting(crawl)} == {Wait.CRAWL_CAP, Wait.PAUSED}
    desk.answer(leases)
    rows = {row.host.removesuffix(".test"): row for row in desk.frontier.waiting(crawl)}
    assert {name: row.why.value for name, row in rows.items()} == {
        name: name for name in ("blocked", "paused", "robots", "gap", "ready")
    }
    assert rows["paused"].due_seconds is None
    assert rows["ready"].due_seconds == 0
    due = rows["gap"].due_seconds
    assert due is not None
    assert 0 < due <= 0.901  # a claim is dated at the end of its millisecond
    assert {row.queued for row in rows.values()} == {1}


def test_waiting_names_budget_retries_and_full_hosts(desk: Desk) -> None:
    broke = desk.crawl(*pages("a.test", 2), max_pages=1)
    (lease,) = desk.claim()
    assert [row.why for row in desk.frontier.waiting(broke)] == [Wait.BUDGET]
    retrying = desk.crawl(page("http://b.test/x"))
    desk.end([desk.one()], End.RETRY, at_ms=lease.claimed_ms + 60_000)
    assert [row.why for row in desk.frontier.waiting(retrying)] == [Wait.RETRY]
    full = desk.crawl(*pages("c.test", 3), max_concurrent=3)
    other = desk.crawl(*pages("c.test", 4, start=9), max_concurrent=3)
    desk.claim()
    whys = [row.why for crawl in (full, other) for row in desk.frontier.waiting(crawl)]
    assert Wait.HOST_CAP in whys


def test_waiting_is_cut_at_what_was_asked_for(desk: Desk) -> None:
    crawl = desk.crawl(*(page(f"http://h{n}.test/{n}", n) for n in range(80)))
    assert len(desk.frontier.waiting(crawl)) == 50
    assert len(desk.frontier.waiting(crawl, 3)) == 3
    assert len(desk.frontier.waiting(crawl, 100)) == 80


def test_open_crawls_are_listed(desk: Desk) -> None:
    crawls = {desk.crawl(), desk.crawl()}
    assert set(desk.frontier.open_crawls()) == crawls


# -- shifts ---------------------------------------------------------------------------------


def test_shifts_at_work_are_counted_until_they_leave_or_fall_silent(desk: Desk) -> None:
    frontier = desk.frontier
    assert frontier.enter_shift(Lane.HTTP, "one", 30) == 1
    assert frontier.enter_shift(Lane.HTTP, "two", 0.02) == 2
    assert frontier.enter_shift(Lane.BROWSER, "three", 30) == 1
    desk.sleep(0.03)
    assert frontier.enter_shift(Lane.HTTP, "one", 30) == 1
    frontier.leave_shift(Lane.HTTP, "one")
    assert frontier.enter_shift(Lane.HTTP, "four", 30) == 1


def test_hints_are_allowed_once_until_a_shift_enters_or_time_passes(desk: Desk) -> None:
    frontier = desk.frontier
    assert frontier.acquire_hint(Lane.HTTP, 60_000)
    assert not frontier.acquire_hint(Lane.HTTP, 60_000)
    assert frontier.acquire_hint(Lane.BROWSER, 300)
    frontier.enter_shift(Lane.HTTP, "one", 30)
    assert frontier.acquire_hint(Lane.HTTP, 60_000)
    frontier.enter_shift(Lane.HTTP, "one", 30)
    assert not frontier.acquire_hint(Lane.HTTP, 60_000), "a shift that stays has taken no hint"
    time.sleep(0.31)  # the server's own clock lets it go
    assert frontier.acquire_hint(Lane.BROWSER, 300)


def test_a_wake_up_is_allowed_unless_an_earlier_one_is_under_way(desk: Desk) -> None:
    frontier = desk.frontier
    assert frontier.acquire_wake(Lane.HTTP, 30)
    assert not frontier.acquire_wake(Lane.HTTP, 40)
    assert frontier.acquire_wake(Lane.HTTP, 0.3)
    assert not frontier.acquire_wake(Lane.HTTP, 5)
    time.sleep(0.31)
    assert frontier.acquire_wake(Lane.HTTP, 5)


def test_reconciling_is_allowed_once_in_a_while(desk: Desk) -> None:
    assert desk.frontier.acquire_reconcile(0.3)
    assert not desk.frontier.acquire_reconcile(0.3)
    time.sleep(0.31)
    assert desk.frontier.acquire_reconcile(0.3)
