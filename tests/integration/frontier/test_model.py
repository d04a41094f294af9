"""Random workers on a small web: whatever they do, a simple model of the promises holds."""

import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from uuid import UUID, uuid4

import pytest
from redis import Redis

from crawler.adapters.frontier.frontier_shard import Amounts
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import End, Entry, Kind, Lane, Lease, Limits, Outcome
from tests.integration.frontier.audit import Audit, CrawlBooks
from tests.integration.frontier.conftest import sharded
from tests.integration.frontier.desk import page

HOSTS = ("a.test", "b.test", "c.test", "d.test")
CRAWLS = (
    Limits(max_pages=60, max_fetches=400, max_concurrent=3, delay_ms=0, respect_robots=False),
    Limits(max_pages=60, max_fetches=400, max_concurrent=4, delay_ms=2, respect_robots=True),
    Limits(max_pages=15, max_fetches=25, max_concurrent=8, delay_ms=0, respect_robots=False),
    Limits(max_pages=40, max_fetches=400, max_concurrent=2, delay_ms=4, respect_robots=False),
)
SHORT, LONG = 0.012, 600.0
ENDS = [End.STORED, End.STORED, End.DROPPED, End.RETRY, End.MOVED, End.RENDER]


class Held:
    """A lease in the hands of a worker."""

    def __init__(self, lease: Lease, seconds: float) -> None:
        self.lease = lease
        self.answered = False
        self.certain = seconds == LONG
        """Long enough that only its holder can end it."""


class RandomWorkers:
    def __init__(self, redis: Redis, seed: int, servers: int) -> None:
        prefix = f"m{uuid4().hex[:8]}"
        self.redis = redis
        self.chance = random.Random(seed)
        self.frontier = RedisFrontier(redis, prefix) if servers == 1 else sharded(redis, prefix, servers)
        self.audits = [Audit(redis, prefix if servers == 1 else f"{prefix}:{n}") for n in range(servers)]
        self.limits = {uuid4(): limits for limits in CRAWLS}
        for crawl, limits in self.limits.items():
            self.frontier.open_crawl(crawl, limits)
        self.held: list[Held] = []
        self.known: dict[UUID, list[Entry]] = defaultdict(list)
        self.stored: dict[UUID, set[str]] = defaultdict(set)
        self.last: dict[str, tuple[int, int]] = {}
        """Host -> the last request's moment and the gap that follows it."""
        self.robots_until: dict[str, int] = defaultdict(int)
        self.blocked_until: dict[str, int] = defaultdict(int)
        self.paused: set[UUID | str] = set()
        self.number = self.claimed = 0
        for _ in range(12):
            self.discover()

    def step(self) -> None:
        """Workers do much, operators little."""
        moves: list[tuple[Callable[[], None], int]] = [
            (self.discover, 3),
            (self.claim, 12),
            (self.tell_sent, 8),
            (self.answer, 8),
            (self.complete, 10),
            (self.release, 1),
            (self.die, 1),
            (self.reap, 2),
            (self.readmit, 1),
            (self.sleep, 3),
            (self.pause_crawl, 1),
            (self.pause_host, 1),
            (self.block, 1),
            (self.set_robots, 2),
        ]
        move = self.chance.choices([move for move, _ in moves], [weight for _, weight in moves])[0]
        move()

    # -- what workers do --------------------------------------------------------------------

    def discover(self) -> None:
        crawl, host = self.a_crawl(), self.chance.choice(HOSTS)
        kind = self.chance.choice([Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.SITEMAP, Kind.PROBE])
        entries = []
        for _ in range(self.chance.randint(1, 6)):
            self.number += 1
            hops = self.chance.choice([0, 0, 1])
            entries.append(page(f"http://{host}/{self.number}", self.number, kind=kind, hops=hops))
        assert self.frontier.discover(crawl, entries).new == len(entries)
        assert self.frontier.discover(crawl, entries).new == 0
        self.known[crawl] += entries

    def claim(self) -> None:
        seconds = self.chance.choice([SHORT, LONG, LONG])
        lane = self.chance.choice([Lane.HTTP, Lane.HTTP, Lane.BROWSER])
        pairs, _ = self.frontier.due(lane, 20)
        if self.chance.random() < 0.2:
            pairs = [(crawl, host) for crawl in self.limits for host in HOSTS]  # also those that are not due
        for lease in self.frontier.claim(lane, pairs, self.chance.randint(1, 9), seconds):
            self.check_claimed(lease)
            self.held.append(Held(lease, seconds))

    def tell_sent(self) -> None:
        if held := self.one_held(unanswered=True):
            lateness = self.chance.randint(0, 3)
            self.note_request(held.lease, lateness)
            self.frontier.sent([(held.lease, lateness)])

    def answer(self) -> None:
        if held := self.one_held(unanswered=True):
            held.answered = True
            lateness = self.chance.randint(0, 3)
            self.note_request(held.lease, lateness)
            self.frontier.answered([(held.lease, lateness)])

    def complete(self) -> None:
        if held := self.one_held():
            self.held.remove(held)
            end = self.chance.choice(ENDS)
            self.finish(held, End.DROPPED if held.lease.kind is not Kind.PAGE and end is End.RENDER else end)

    def release(self) -> None:
        if held := self.one_held():
            self.held.remove(held)
            self.note_request(held.lease, 0)
            self.frontier.release([held.lease])

    def die(self) -> None:
        """A worker forgets what it holds; only short leases, or nobody would get those URLs again in time."""
        self.held = [held for held in self.held if held.certain or self.chance.random() < 0.5]

    def reap(self) -> None:
        crawl = self.a_crawl()
        poison = [lease for lease, poisonous in self.frontier.reap(crawl) if poisonous]
        stale, _ = self.frontier.complete(crawl, [Outcome(lease, End.DROPPED) for lease in poison])
        assert stale == []

    def readmit(self) -> None:
        crawl = self.a_crawl()
        open_ = [entry for entry in self.known[crawl] if entry.url not in self.stored[crawl]]
        self.frontier.readmit(crawl, self.chance.sample(open_, len(open_) // 4))

    def sleep(self) -> None:
        time.sleep(self.chance.randint(1, 8) / 1000)

    # -- what operators and servers do ------------------------------------------------------

    def pause_crawl(self) -> None:
        crawl, paused = self.a_crawl(), self.chance.random() < 0.2
        self.frontier.pause_crawl(crawl, paused=paused)
        self.paused = self.paused | {crawl} if paused else self.paused - {crawl}

    def pause_host(self) -> None:
        host, paused = self.chance.choice(HOSTS), self.chance.random() < 0.2
        self.frontier.pause_host(host, paused=paused)
        self.paused = self.paused | {host} if paused else self.paused - {host}

    def block(self) -> None:
        host = self.chance.choice(HOSTS)
        self.frontier.block_host(host, self.chance.choice([0, 0.005]), self.chance.choice([0, 0, 0.002]), 1)
        self.blocked_until[host] = self.frontier.host(host).blocked_until_ms

    def set_robots(self) -> None:
        host = self.chance.choice(HOSTS)
        self.frontier.set_robots(host, self.chance.choice([0, 0.01, 60, 60]), self.chance.choice([0, 0.001]))
        self.robots_until[host] = self.frontier.host(host).robots_until_ms

    # -- what must hold ---------------------------------------------------------------------

    def check_claimed(self, lease: Lease) -> None:
        self.claimed += 1
        limits, host, now = self.limits[lease.crawl_id], lease.host, lease.claimed_ms - 1
        if lease.kind is not Kind.ROBOTS:
            certain = {held.lease.url for held in self.held if held.certain and held.lease.crawl_id == lease.crawl_id}
            assert lease.url not in certain, "leased twice"
            assert lease.url not in self.stored[lease.crawl_id], "stored already"
        assert not self.paused & {lease.crawl_id, host}
        assert now >= self.blocked_until[host]
        moment, gap = self.last.get(host, (0, 0))
        assert lease.claimed_ms - moment >= max(gap, limits.delay_ms), "inside the gap"
        if limits.respect_robots and lease.kind is not Kind.ROBOTS:
            assert now < self.robots_until[host], "before robots.txt"
        self.last[host] = (lease.claimed_ms, lease.gap_ms)

    def note_request(self, lease: Lease, lateness: int) -> None:
        """Before it is told: it went out when it was told to, but not in the future."""
        seconds, micros = self.redis.time()
        moment, gap = self.last[lease.host]
        told = min(lease.claimed_ms + lateness, seconds * 1000 + micros // 1000)
        self.last[lease.host] = (max(moment, told), gap)

    def finish(self, held: Held, end: End) -> None:
        lease = held.lease
        at_ms = lease.claimed_ms + self.chance.randint(0, 20)
        stale, _ = self.frontier.complete(lease.crawl_id, [Outcome(lease, end, at_ms, lease.url)])
        assert stale == [] or not held.certain, "a lease that cannot have run out was refused"
        if not stale and end is End.STORED:
            self.stored[lease.crawl_id].add(lease.url)

    def check_books(self) -> None:
        servers = [audit.check() for audit in self.audits]
        for crawl, limits in self.limits.items():
            books = [books[crawl.hex] for books in servers]
            pages = {entry.url for entry in self.known[crawl] if entry.kind is Kind.PAGE}
            spent = len(self.stored[crawl] & pages)
            left = self.left_in_pool(crawl).plus(_held(books))
            assert left.pages + sum(book.paid() for book in books) + spent == limits.max_pages, "budget"
            assert left.fetches >= 0
            assert left.slots == limits.max_concurrent
            stats = self.frontier.stats(crawl)
            assert stats is not None
            waiting = any(book.in_queues("fresh") for book in books) and min(left[:2]) > 0
            claimable = waiting or any(book.in_queues("free", "later") for book in books)
            assert stats.finished == (not any(book.data for book in books) and not claimable)
            assert sum(len(book.flying) for book in books) <= limits.max_concurrent
        for host in HOSTS:
            assert self.frontier.host(host).in_flight <= 8

    def left_in_pool(self, crawl: UUID) -> Amounts:
        """What no server has been given."""
        if isinstance(self.frontier, RedisFrontier):
            return Amounts()
        pool = self.frontier._shares.home(crawl).pool(crawl)
        assert pool
        return Amounts(*(base - out for base, out in zip(pool.base, pool.out, strict=True)))

    def calm_down(self) -> None:
        """All obstacles gone, everything that may be fetched is fetched: nothing was lost or forgotten."""
        for crawl in self.limits:
            self.frontier.pause_crawl(crawl, paused=False)
        for host in HOSTS:
            self.frontier.pause_host(host, paused=False)
            self.frontier.set_robots(host, 600, 0)
            self.frontier.block_host(host, 0, 0, 0)
        for held in self.held:
            self.finish(held, End.DROPPED)
        give_up = time.monotonic() + 10
        while not all(self.frontier.stats(crawl).finished for crawl in self.limits):  # type: ignore[union-attr]
            assert time.monotonic() < give_up, "the crawls never end"
            for _ in range(4):
                self.reap()
            for lane in Lane:
                pairs, _ = self.frontier.due(lane, 20)
                for lease in self.frontier.claim(lane, pairs, 50, LONG):
                    self.frontier.sent([(lease, 0)])
                    self.finish(Held(lease, LONG), End.STORED)
        self.check_books()

    def a_crawl(self) -> UUID:
        return self.chance.choice(list(self.limits))

    def one_held(self, *, unanswered: bool = False) -> Held | None:
        choice = [held for held in self.held if not (unanswered and held.answered)]
        return self.chance.choice(choice) if choice else None


def _held(books: Sequence[CrawlBooks]) -> Amounts:
    def of(field: str) -> int:
        return sum(int(book.info[field].split()[0]) for book in books)

    slots = "slots" if "slots" in books[0].info else "max_concurrent"
    return Amounts(of("pages"), of("fetches"), of(slots))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("servers", [1, 3])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2))])
def test_random_workers_never_break_a_promise(redis: Redis, seed: int, servers: int) -> None:
    workers = RandomWorkers(redis, seed, servers)
    steps = (120 if servers == 1 else 60) if seed == 0 else 250
    for _ in range(steps):
        workers.step()
        workers.check_books()
    assert workers.claimed > 5, "nothing was tried"
    workers.calm_down()
