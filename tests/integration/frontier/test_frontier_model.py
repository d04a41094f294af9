"""Random workers on a small web: whatever they do, a simple model of the promises holds."""

import random
import time
from collections import defaultdict
from uuid import UUID, uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from redis import Redis

from crawler.adapters.redis_frontier import RedisFrontier
from crawler.domain.frontier import End, Entry, Kind, Lane, Lease, Limits, Outcome
from tests.integration.frontier.audit import Audit
from tests.integration.frontier.desk import page

HOSTS = ("a.test", "b.test", "c.test")
CRAWLS = (
    Limits(max_pages=12, max_fetches=40, max_concurrent=3, delay_ms=0, respect_robots=False),
    Limits(max_pages=15, max_fetches=50, max_concurrent=4, delay_ms=2, respect_robots=True),
    Limits(max_pages=6, max_fetches=9, max_concurrent=8, delay_ms=0, respect_robots=False),
)
SHORT, LONG = 0.012, 30.0
ENDS = [End.STORED, End.STORED, End.DROPPED, End.RETRY, End.MOVED, End.RENDER]


class Worked:
    """What the model knows of one lease a worker holds."""

    def __init__(self, lease: Lease, lease_seconds: float) -> None:
        self.lease = lease
        self.answered = False
        self.certain = lease_seconds == LONG
        """Long enough that only its holder can end it."""


class RandomWorkers(RuleBasedStateMachine):
    redis: Redis

    @initialize()
    def open(self) -> None:
        prefix = f"m{uuid4().hex[:8]}"
        self.frontier = RedisFrontier(self.redis, prefix)
        self.audit = Audit(self.redis, prefix)
        self.limits = {uuid4(): limits for limits in CRAWLS}
        self.crawls = list(self.limits)
        for crawl, limits in self.limits.items():
            self.frontier.open_crawl(crawl, limits)
        self.held: list[Worked] = []
        self.known: dict[UUID, dict[bytes, Entry]] = defaultdict(dict)
        self.stored: dict[UUID, set[str]] = defaultdict(set)
        self.last: dict[str, tuple[int, int]] = {}
        """Host -> the last request's moment and the gap that followed it."""
        self.robots_until: dict[str, int] = defaultdict(int)
        self.blocked_until: dict[str, int] = defaultdict(int)
        self.paused: set[UUID | str] = set()
        self.number = 0

    # -- what workers do --------------------------------------------------------------------

    @rule(crawl=st.integers(0, 2), host=st.sampled_from(HOSTS), count=st.integers(1, 6), kind=st.sampled_from("ppps"))
    def discover(self, crawl: int, host: str, count: int, kind: str) -> None:
        entries = []
        for _ in range(count):
            self.number += 1
            entries.append(page(f"http://{host}/{self.number}", self.number, kind=Kind(kind)))
        crawl_id = self.crawls[crawl]
        assert self.frontier.discover(crawl_id, entries).new == count
        assert self.frontier.discover(crawl_id, entries).new == 0
        self.known[crawl_id] |= {entry.digest: entry for entry in entries}

    @rule(lane=st.sampled_from([Lane.HTTP, Lane.HTTP, Lane.BROWSER]), count=st.integers(1, 9), short=st.booleans())
    def claim(self, lane: Lane, count: int, short: bool) -> None:
        seconds = SHORT if short else LONG
        pairs, _ = self.frontier.due(lane, 20)
        for lease in self.frontier.claim(lane, pairs, count, seconds):
            self.check_claimed(lease)
            self.held.append(Worked(lease, seconds))

    @rule(pick=st.randoms(use_true_random=False), lateness=st.integers(0, 3))
    def tell_sent(self, pick: random.Random, lateness: int) -> None:
        unanswered = [worked for worked in self.held if not worked.answered]
        if unanswered:
            self.request_went_out(pick.choice(unanswered).lease, lateness)

    @rule(pick=st.randoms(use_true_random=False), lateness=st.integers(0, 3))
    def answer(self, pick: random.Random, lateness: int) -> None:
        unanswered = [worked for worked in self.held if not worked.answered]
        if unanswered:
            worked = pick.choice(unanswered)
            worked.answered = True
            self.request_went_out(worked.lease, lateness)
            self.frontier.answered([(worked.lease, lateness)])

    @rule(pick=st.randoms(use_true_random=False), end=st.sampled_from(ENDS), wait=st.integers(0, 4))
    def complete(self, pick: random.Random, end: End, wait: int) -> None:
        if not self.held:
            return
        worked = pick.choice(self.held)
        self.held.remove(worked)
        self.finish(worked, end, wait)

    @rule(pick=st.randoms(use_true_random=False))
    def release(self, pick: random.Random) -> None:
        if self.held:
            worked = pick.choice(self.held)
            self.held.remove(worked)
            self.request_went_out(worked.lease, 0)
            self.frontier.release([worked.lease])

    @rule(pick=st.randoms(use_true_random=False))
    def die(self, pick: random.Random) -> None:
        """A worker forgets what it holds; only short leases, or nobody would get the URL again in time."""
        self.held = [worked for worked in self.held if worked.certain or pick.random() < 0.5]

    @rule(crawl=st.integers(0, 2))
    def reap(self, crawl: int) -> None:
        crawl_id = self.crawls[crawl]
        poison = [lease for lease, poisonous in self.frontier.reap(crawl_id) if poisonous]
        stale, _ = self.frontier.complete(crawl_id, [Outcome(lease, End.DROPPED) for lease in poison])
        assert stale == []

    @rule(crawl=st.integers(0, 2), pick=st.randoms(use_true_random=False))
    def readmit(self, crawl: int, pick: random.Random) -> None:
        crawl_id = self.crawls[crawl]
        some = [e for e in self.known[crawl_id].values() if e.url not in self.stored[crawl_id] and pick.random() < 0.3]
        self.frontier.readmit(crawl_id, some)

    @rule(ms=st.integers(1, 15))
    def sleep(self, ms: int) -> None:
        time.sleep(ms / 1000)

    # -- what operators and servers do ------------------------------------------------------

    @rule(crawl=st.integers(0, 2), paused=st.booleans())
    def pause_crawl(self, crawl: int, paused: bool) -> None:
        self.frontier.pause_crawl(self.crawls[crawl], paused=paused)
        self.paused = self.paused | {self.crawls[crawl]} if paused else self.paused - {self.crawls[crawl]}

    @rule(host=st.sampled_from(HOSTS), paused=st.booleans())
    def pause_host(self, host: str, paused: bool) -> None:
        self.frontier.pause_host(host, paused=paused)
        self.paused = self.paused | {host} if paused else self.paused - {host}

    @rule(host=st.sampled_from(HOSTS), ms=st.integers(0, 8), learned=st.integers(0, 2))
    def block(self, host: str, ms: int, learned: int) -> None:
        self.frontier.block_host(host, ms / 1000, learned / 1000, 1)
        self.blocked_until[host] = self.frontier.host(host).blocked_until_ms

    @rule(host=st.sampled_from(HOSTS), ms=st.sampled_from([0, 10, 60_000]))
    def set_robots(self, host: str, ms: int) -> None:
        self.frontier.set_robots(host, ms / 1000, 0.001)
        self.robots_until[host] = self.frontier.host(host).robots_until_ms

    # -- what must hold ---------------------------------------------------------------------

    def check_claimed(self, lease: Lease) -> None:
        limits, host = self.limits[lease.crawl_id], lease.host
        now = lease.claimed_ms - 1
        mine = [w.lease for w in self.held if w.certain and w.lease.crawl_id == lease.crawl_id]
        if lease.kind is not Kind.ROBOTS:
            assert lease.url not in {other.url for other in mine}, "leased twice"
            assert lease.url not in self.stored[lease.crawl_id] or lease.kind is not Kind.PAGE, "stored already"
        assert lease.crawl_id not in self.paused
        assert host not in self.paused
        assert now >= self.blocked_until[host]
        moment, gap = self.last.get(host, (0, 0))
        assert lease.claimed_ms - moment >= max(gap, limits.delay_ms), "inside the gap"
        if limits.respect_robots and lease.kind is Kind.PAGE:
            assert now < self.robots_until[host], "before robots.txt"
        self.last[host] = (lease.claimed_ms, lease.gap_ms)

    def request_went_out(self, lease: Lease, lateness: int) -> None:
        """When it was told to, but not in the future."""
        seconds, micros = self.redis.time()  # type: ignore[misc]
        self.frontier.sent([(lease, lateness)])
        moment, gap = self.last[lease.host]
        told = min(lease.claimed_ms + lateness, seconds * 1000 + micros // 1000)
        self.last[lease.host] = (max(moment, told), gap)

    def finish(self, worked: Worked, end: End, wait: int = 0) -> None:
        lease = worked.lease
        if lease.kind is not Kind.PAGE and end is End.RENDER:
            end = End.DROPPED
        outcome = Outcome(lease, end, lease.claimed_ms + wait, f"{lease.url}", 0)
        stale, _ = self.frontier.complete(lease.crawl_id, [outcome])
        assert stale == [] or not worked.certain, "a lease that cannot have run out was refused"
        if not stale and end is End.STORED and lease.kind is Kind.PAGE:
            assert lease.url not in self.stored[lease.crawl_id]
            self.stored[lease.crawl_id].add(lease.url)

    @invariant()
    def books_balance(self) -> None:
        books = self.audit.check()
        for crawl, limits in self.limits.items():
            book = books[crawl.hex]
            assert int(book.info["pages"]) + book.paid() + len(self.stored[crawl]) == limits.max_pages, "budget"
            assert int(book.info["fetches"]) >= 0
            stats = self.frontier.stats(crawl)
            assert stats is not None
            claimable = book.in_queues("free", "later") or (book.in_queues("fresh") and book.budget > 0)
            assert stats.finished == (not book.data and not claimable)
        for host in HOSTS:
            assert self.frontier.host(host).in_flight <= 8

    def teardown(self) -> None:
        """Calm down, and everything that may be fetched is fetched: nothing was lost or forgotten."""
        for crawl in self.crawls:
            self.frontier.pause_crawl(crawl, paused=False)
        for host in HOSTS:
            self.frontier.pause_host(host, paused=False)
            self.frontier.set_robots(host, 600, 0)
            self.frontier.block_host(host, 0, 0, 0)
        for worked in self.held:
            self.finish(worked, End.DROPPED)
        give_up = time.monotonic() + 5
        while not all(self.frontier.stats(crawl).finished for crawl in self.crawls):  # type: ignore[union-attr]
            assert time.monotonic() < give_up, "the crawls never end"
            for number in range(3):
                self.reap(number)
            for lane in Lane:
                pairs, _ = self.frontier.due(lane, 20)
                for lease in self.frontier.claim(lane, pairs, 50, LONG):
                    self.frontier.sent([(lease, 0)])
                    self.finish(Worked(lease, LONG), End.STORED)
        self.books_balance()


@pytest.mark.parametrize("examples", [25])
def test_random_workers_never_break_a_promise(redis: Redis, examples: int) -> None:
    machine = type("RandomWorkersHere", (RandomWorkers,), {"redis": redis})
    slow = type(redis).__module__.startswith("fakeredis")
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(
            max_examples=examples // 6 if slow else examples,
            stateful_step_count=40,
            deadline=None,
            database=None,
            phases=[Phase.generate],  # real time passes, so smaller examples take long to find and often pass
            suppress_health_check=list(HealthCheck),
        ),
    )
