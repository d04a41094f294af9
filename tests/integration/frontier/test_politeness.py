"""One rule for the cluster, kept by host: the gap between requests and how many may be in flight."""

import itertools
import re
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from crawler.adapters import frontier
from crawler.domain.crawls.frontier import End, Lane, Lease, Outcome
from crawler.domain.hosts.politeness import MAX_SHARED_DELAY_SECONDS, owed_gap
from tests.integration.frontier.clock import Clock
from tests.integration.frontier.desk import ONE_SERVER, Desk, page, pages, paths

HOUR = 3_600_000
LUA = Path(frontier.__file__).parent / "lua"


def serve_all(desk: Desk, count: int) -> list[Lease]:
    """A worker that takes one URL after the other, as fast as it is allowed to."""
    served: list[Lease] = []
    while len(served) < count:
        for lease in desk.wait():
            desk.frontier.sent([(lease, 0)])
            desk.end([lease])
            served.append(lease)
    return served


def serve_until(desk: Desk, count: int, *, step: float) -> list[Lease]:
    """So many, however long that takes: the clock goes on by so many seconds when nothing is due."""
    served: list[Lease] = []
    for _ in range(20_000):
        for lease in desk.claim():
            desk.frontier.sent([(lease, 0)])
            desk.end([lease])
            served.append(lease)
        if len(served) >= count:
            return served
        desk.sleep(step)
    raise AssertionError(f"only {len(served)} came")


def gaps(leases: list[Lease]) -> list[int]:
    return [later.claimed_ms - lease.claimed_ms for lease, later in itertools.pairwise(leases)]


# -- the gap --------------------------------------------------------------------------------


def test_claim_never_serves_a_host_inside_its_delay(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 6), delay_ms=15)
    served = serve_all(desk, 6)
    assert min(gaps(served)) >= 15
    assert [lease.gap_ms for lease in served] == [15] * 6


def test_a_claim_is_never_dated_before_it_happened(desk: Desk, clock: Clock) -> None:
    """Or a gap counted from it would be short by a part of a millisecond."""
    desk.crawl(*pages("a.test", 20), max_concurrent=20)
    for _ in range(20):
        clock.sleep(0.001337)
        assert desk.one().claimed_ms * 1000 >= clock.micros


def test_one_claim_takes_one_url_of_a_host_with_a_gap(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 5), *pages("b.test", 5), delay_ms=1)
    desk.sleep(0.005)
    leases = desk.frontier.claim(Lane.HTTP, [(crawl, "a.test"), (crawl, "b.test")] * 2, 10, 30)
    assert sorted(lease.host for lease in leases) == ["a.test", "b.test"]


def test_the_gap_is_the_largest_that_crawl_robots_complaints_and_operator_ask_for(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 1), *pages("b.test", 1), *pages("c.test", 1), *pages("d.test", 1), delay_ms=5)
    desk.frontier.set_robots("b.test", 100, 0.02)
    desk.frontier.block_host("c.test", 0, 0.03, 1)
    desk.frontier.set_host_delay("d.test", 0.04)
    leases: list[Lease] = []
    while len(leases) < 4:
        leases += desk.wait()
    assert {lease.host: lease.gap_ms for lease in leases} == {"a.test": 5, "b.test": 20, "c.test": 30, "d.test": 40}
    for lease in leases:  # what people are told is what the script decided
        assert owed_gap(0.005, desk.frontier.host(lease.host))[0] * 1000 == lease.gap_ms


def test_a_gap_set_later_counts_from_the_last_request(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), delay_ms=1)
    first = desk.one()
    desk.frontier.sent([(first, 0)])
    desk.frontier.set_host_delay("a.test", 0.05)
    assert desk.one().claimed_ms - first.claimed_ms >= 50


def test_until_a_request_is_known_to_be_sent_its_host_is_held(desk: Desk) -> None:
    """A slow connect must not shorten the gap at the server."""
    desk.crawl(*pages("a.test", 2), delay_ms=5)
    lease = desk.one()
    desk.sleep(0.03)
    assert desk.claim() == []
    assert desk.frontier.host("a.test").next_ms == lease.claimed_ms + 30_000
    desk.frontier.sent([(lease, 20)])
    assert desk.frontier.host("a.test").next_ms == lease.claimed_ms + 25
    assert desk.one().claimed_ms >= lease.claimed_ms + 25


def test_the_hold_ends_with_a_short_lease(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), delay_ms=5)
    lease = desk.one(lease=0.04)
    assert desk.one().claimed_ms >= lease.claimed_ms + 40


def test_answered_settles_the_time_when_sent_never_came(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), delay_ms=50)
    lease = desk.one()
    desk.sleep(0.02)
    desk.answer([lease], 12)
    assert desk.frontier.host("a.test").next_ms == lease.claimed_ms + 62


def test_complete_settles_the_time_when_answered_never_came(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), delay_ms=50)
    lease = desk.one()
    desk.sleep(0.02)
    desk.frontier.complete(crawl, [Outcome(lease, End.STORED, lateness_ms=9)])
    assert desk.frontier.host("a.test").next_ms == lease.claimed_ms + 59


def test_complete_does_not_move_a_time_that_was_told(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), delay_ms=50)
    lease = desk.one()
    desk.answer([lease], 0)
    desk.frontier.complete(crawl, [Outcome(lease, End.STORED, lateness_ms=0)])
    assert desk.frontier.host("a.test").next_ms == lease.claimed_ms + 50


def test_a_lateness_beyond_the_present_is_not_believed(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), delay_ms=5)
    lease = desk.one()
    desk.frontier.sent([(lease, 3_600_000)])
    assert desk.one().url != lease.url


def test_a_request_never_made_uses_up_no_turn(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 3), delay_ms=10_000)
    first = desk.one()
    desk.answer([first], -1)
    second = desk.one()
    desk.frontier.complete(crawl, [Outcome(second, End.DROPPED, lateness_ms=-1)])
    assert desk.one().claimed_ms - first.claimed_ms < 5_000


def test_a_released_request_may_have_gone_out_until_now(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 2), delay_ms=40)
    first = desk.one()
    desk.sleep(0.02)
    desk.frontier.release([first])
    assert desk.one().claimed_ms - first.claimed_ms >= 60


def test_a_late_workers_request_still_delays_the_next(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 2), delay_ms=60)
    late = desk.one(lease=0.01)
    desk.sleep(0.02)
    desk.frontier.reap(crawl)
    desk.frontier.sent([(late, 15)])
    assert desk.one().claimed_ms >= late.claimed_ms + 75


# -- several hosts --------------------------------------------------------------------------


def test_a_blocked_host_never_delays_another(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 3), *pages("b.test", 3, start=3), delay_ms=5)
    desk.frontier.block_host("a.test", 60, 0, 1)
    assert [lease.host for lease in serve_all(desk, 3)] == ["b.test"] * 3
    assert desk.claim() == []


def test_a_block_ends_by_itself(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"))
    before = desk.frontier.host("a.test")
    desk.frontier.block_host("a.test", 0.05, 0, 2)
    state = desk.frontier.host("a.test")
    assert state.blocked_until_ms > before.blocked_until_ms
    assert state.incidents == 2
    assert desk.one().claimed_ms >= state.blocked_until_ms


def test_the_longer_of_two_blocks_counts_and_zero_lifts_it(desk: Desk) -> None:
    desk.crawl(page("http://a.test/x"))
    desk.frontier.block_host("a.test", 600, 0, 1)
    until_ms = desk.frontier.host("a.test").blocked_until_ms
    desk.frontier.block_host("a.test", 1, 0, 2)
    assert desk.frontier.host("a.test").blocked_until_ms == until_ms
    desk.frontier.block_host("a.test", 0, 0, 0)
    assert desk.one().host == "a.test"


@ONE_SERVER
def test_new_hosts_are_spread_over_one_gap_and_the_first_is_due_at_once(
    desk: Desk, redis: Any, clock: Clock, prefix: str
) -> None:
    hosts = [f"h{n}.test" for n in range(20)]
    desk.crawl(page("http://first.test/", 0), delay_ms=60_000)
    assert desk.claim() != []
    redis.flushall()
    clock.sleep(0)
    crawl = desk.crawl(*(page(f"http://{host}/", n) for n, host in enumerate(hosts)), delay_ms=60_000)
    scores = sorted(score for _, score in redis.zrange(f"{prefix}:ready:h:{crawl.hex}", 0, -1, withscores=True))
    apart = [later - earlier for earlier, later in itertools.pairwise(scores)]
    assert scores[-1] - scores[0] < 60_000
    assert min(apart) > 60_000 / 20 / 3, "spread evenly, not in heaps"


# -- several crawls of one host -------------------------------------------------------------


def test_crawls_of_one_host_share_its_gap(desk: Desk) -> None:
    for n in range(3):
        desk.crawl(*pages("a.test", 2, start=10 * n), delay_ms=12)
    assert min(gaps(serve_all(desk, 6))) >= 12


def test_crawls_of_one_host_take_turns(desk: Desk) -> None:
    crawls = [desk.crawl(*pages("a.test", 8, start=10 * n), delay_ms=2) for n in range(3)]
    served = [lease.crawl_id for lease in serve_all(desk, 12)]
    assert {crawl: served.count(crawl) for crawl in crawls} == dict.fromkeys(crawls, 4)


def test_crawls_of_one_host_without_delay_take_turns_at_its_slots(desk: Desk) -> None:
    crawls = [desk.crawl(*pages("a.test", 30, start=100 * n), max_concurrent=5) for n in range(2)]
    served: list[UUID] = []
    for _ in range(6):
        leases = desk.wait(5)
        served += [lease.crawl_id for lease in leases]
        desk.end(leases)
    shares = [served.count(crawl) for crawl in crawls]
    assert abs(shares[0] - shares[1]) <= 5


def test_a_slow_crawl_keeps_its_own_gap_beside_a_fast_one_and_is_not_starved(desk: Desk) -> None:
    slow = desk.crawl(*pages("a.test", 3), delay_ms=25)
    fast = desk.crawl(*pages("a.test", 400, start=100), max_pages=400, max_fetches=400, max_concurrent=1)
    served: list[Lease] = []
    while [lease.crawl_id for lease in served].count(slow) < 3:
        assert len(served) < 400, "the slow crawl starves"
        served += serve_all(desk, 1)
        desk.sleep(0.001)  # what a request takes at least
    after = [(later.crawl_id, later.claimed_ms - lease.claimed_ms) for lease, later in itertools.pairwise(served)]
    before = [(lease.crawl_id, later.claimed_ms - lease.claimed_ms) for lease, later in itertools.pairwise(served)]
    assert min(gap for crawl, gap in [*after, *before] if crawl == slow) >= 25
    assert desk.stats(fast).queued > 0, "it was served only when the fast one had done all its work"


def test_a_delay_of_an_hour_holds_up_no_other_crawl_of_the_host_and_is_kept(desk: Desk) -> None:
    """Anybody may crawl anybody's host with any delay. Others had to wait for it, an hour for each request."""
    slow = desk.crawl(*pages("a.test", 3), delay_ms=HOUR)
    served = serve_until(desk, 1, step=1)
    fast = desk.crawl(*pages("a.test", 8, start=10), delay_ms=500)
    served += serve_until(desk, 8, step=0.1)
    assert [lease.crawl_id for lease in served] == [slow] + [fast] * 8
    assert gaps(served)[0] >= 10_000, "as long as others wait for it"
    assert served[-1].claimed_ms - served[0].claimed_ms < 20_000
    last = serve_until(desk, 2, step=60)
    assert [lease.crawl_id for lease in last] == [slow, slow]
    assert all(gap >= HOUR for gap in gaps([served[0], *last]))


@pytest.mark.slow
@ONE_SERVER
@pytest.mark.parametrize("redis", ["valkey"], indirect=True)  # for its thousands of steps
def test_beside_a_faster_crawl_one_with_a_delay_of_an_hour_is_served_every_hour(desk: Desk) -> None:
    slow = desk.crawl(*pages("a.test", 3), delay_ms=HOUR)
    fast = desk.crawl(*pages("a.test", 900, start=10), max_pages=900, max_fetches=900, delay_ms=9_000)
    served = serve_until(desk, 820, step=1)
    mine = [lease for lease in served if lease.crawl_id == slow]
    assert len(mine) == 3
    assert all(HOUR <= gap < HOUR + 30_000 for gap in gaps(mine))
    assert min(gaps(served)) >= 9_000
    assert desk.stats(fast).queued > 0


def test_scripts_and_audit_have_the_same_longest_shared_delay() -> None:
    (written,) = re.findall(r"SHARED_GAP = (\d+)", (LUA / "pair_rules.lua").read_text())
    assert int(written) == MAX_SHARED_DELAY_SECONDS * 1000


# -- in flight ------------------------------------------------------------------------------


def test_no_host_has_more_than_five_requests_in_flight_over_all_crawls(desk: Desk) -> None:
    for n in range(3):
        desk.crawl(*pages("a.test", 9, start=10 * n), max_concurrent=4)
    leases = desk.claim()
    assert len(leases) == 5
    assert desk.claim() == []
    assert desk.frontier.host("a.test").in_flight == 5
    desk.answer(leases[:2])
    assert len(desk.claim()) == 2
    assert desk.frontier.host("a.test").in_flight == 5


def test_slots_come_free_with_the_answer_not_with_the_commit(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_concurrent=2)
    leases = desk.claim()
    desk.answer(leases)
    more = desk.claim()
    assert len(more) == 2
    assert (desk.stats(crawl).leased, desk.stats(crawl).in_flight) == (4, 2)


def test_complete_frees_the_slot_when_answered_never_came(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_concurrent=1)
    desk.frontier.complete(crawl, [Outcome(desk.one(), End.STORED)])
    assert desk.frontier.host("a.test").in_flight == 0
    assert desk.one().url == "http://a.test/1"


def test_answers_told_twice_free_one_slot(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 9), max_concurrent=3)
    leases = desk.claim()
    desk.answer([leases[0], leases[0]])
    desk.answer([leases[0]])
    assert len(desk.claim()) == 1
    assert desk.stats(crawl).in_flight == 3


def test_a_crawl_without_delay_may_ask_a_host_for_more(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 30), max_concurrent=12)
    assert len(desk.claim()) == 12
    assert desk.stats(crawl).in_flight == 12


def test_a_crawl_with_a_delay_may_not_ask_for_more(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 30), max_concurrent=12, delay_ms=1)
    leases = []
    for _ in range(5):
        leases += desk.wait()
        desk.frontier.sent([(leases[-1], 0)])
    desk.sleep(0.005)
    assert desk.claim() == []


def test_nobody_gets_more_while_a_modest_crawl_waits_at_the_host(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 30), max_concurrent=12)
    modest = desk.crawl(*pages("a.test", 9, start=50), max_concurrent=3)
    leases = desk.claim()
    assert len(leases) == 5
    assert modest in {lease.crawl_id for lease in leases}


def test_one_call_takes_its_share_of_a_hosts_slots(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 60), max_concurrent=32)
    assert len(desk.claim(share=4)) == 8
    assert len(desk.claim(share=4)) == 8


def test_a_crawl_is_never_over_its_own_cap_and_all_its_hosts_are_served(desk: Desk) -> None:
    crawl = desk.crawl(*(page(f"http://h{n}.test/{n}", n) for n in range(12)), max_concurrent=3)
    served: list[str] = []
    while not desk.stats(crawl).finished:
        leases = desk.wait()
        assert desk.stats(crawl).in_flight <= 3
        served += paths(leases)
        desk.end(leases[:1])
        served = served[: len(served) - len(leases) + 1]
        desk.frontier.release(leases[1:])
    assert sorted(served, key=int) == [str(n) for n in range(12)]


def test_a_crawl_at_its_cap_is_not_polled(desk: Desk) -> None:
    desk.crawl(*pages("a.test", 3), *pages("b.test", 3, start=5), max_concurrent=2)
    leases = desk.claim()
    desk.claim()
    assert desk.frontier.due(Lane.HTTP, 10)[0] == []
    desk.answer(leases[:1])
    assert len(desk.frontier.due(Lane.HTTP, 10)[0]) == 1


def test_a_released_slot_goes_to_a_host_that_can_use_it(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 1), *pages("b.test", 1, start=5), max_concurrent=1)
    lease = desk.one()
    assert desk.claim() == []
    desk.frontier.block_host(lease.host, 60, 0, 1)
    desk.frontier.release([lease])
    assert desk.one().host != lease.host
    assert desk.stats(crawl).in_flight == 1


def test_a_slot_passes_from_a_woken_host_that_cannot_use_it_to_one_that_can(desk: Desk) -> None:
    desk.crawl(*(page(f"http://{name}.test/{name}", n) for n, name in enumerate("abc")), max_concurrent=1)
    lease = desk.one()
    assert desk.claim() == []
    first, second = sorted({"a.test", "b.test", "c.test"} - {lease.host})
    desk.frontier.block_host(first, 60, 0, 1)
    desk.answer([lease])
    assert desk.one().host == second


def test_a_dead_workers_slot_wakes_another_host(desk: Desk) -> None:
    crawl = desk.crawl(*pages("a.test", 1), *pages("b.test", 1, start=5), max_concurrent=1)
    lease = desk.one(lease=0.02)
    assert desk.claim() == []
    desk.frontier.block_host(lease.host, 60, 0, 1)
    desk.sleep(0.03)
    desk.frontier.reap(crawl)
    assert desk.one().host != lease.host


def test_slots_of_dead_workers_come_free_with_their_lease(desk: Desk) -> None:
    """Nobody reaps the other crawl here: the host's own book must not need it."""
    desk.crawl(*pages("a.test", 5))
    assert len(desk.claim(lease=0.3)) == 5
    other = desk.crawl(page("http://a.test/x"))
    assert desk.claim() == []
    assert [lease.crawl_id for lease in desk.wait(1)] in ([other], [desk.frontier.open_crawls()[0]])
