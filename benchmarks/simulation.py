"""A cluster on virtual time: workers, hosts, Postgres and Redis as they would share the work, in seconds of real time.

The frontier is the real one: its Lua scripts run on a real Valkey, but take the time from a key. So who may be asked,
and when, is decided as in production. All else is a queue with a measured cost (`Costs`).
"""

import heapq
import random
from collections import Counter, deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from redis import Redis
from redis.exceptions import NoScriptError

from crawler.adapters.frontier import redis_scripts
from crawler.adapters.frontier.redis_connection import Argument
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.domain.crawls.frontier import End, Entry, Lane, Lease, Limits, Outcome, score
from crawler.domain.urls.url import digest
from crawler.handlers.engine.work_shift import (
    CLAIM_ROOM,
    FLUSH_ROWS,
    FLUSH_SECONDS,
    MAX_ACTIVE,
    MAX_UNPARSED,
    PARSE_SECONDS,
    look_again_in,
)

LEASE_SECONDS = 60.0
EPOCH = 1_800_000_000


class Costs(NamedTuple):
    """Milliseconds of CPU. What a page costs is a part of its own and one for each kilobyte."""

    worker: float
    worker_kb: float
    postgres: float
    postgres_kb: float
    redis_call: float
    """Of a call of the frontier before its first URL."""
    redis_url: float
    worker_call: float = 0.0
    """Of a worker for a call of the frontier."""
    site: float = 0.0
    """Of the website for a page, where it is on the same machine."""

    def read(self, page: "Page") -> float:
        return self.worker + self.worker_kb * page.kilobytes

    def write(self, pages: Sequence["Page"]) -> float:
        return sum(self.postgres + self.postgres_kb * page.kilobytes for page in pages)


class Page(NamedTuple):
    host: int
    number: int
    kilobytes: float


@dataclass
class Web:
    """Hosts of heavy-tailed sizes and latencies. Each page links to the next few of its host."""

    sizes: list[int]
    latencies: list[float]
    """Seconds until a host's answer has come."""
    kilobytes: float
    fan_out: int = 3

    @classmethod
    def alike(cls, hosts: int, pages: int, latency: float, kilobytes: float) -> "Web":
        return cls([pages] * hosts, [latency] * hosts, kilobytes, fan_out=30)

    @classmethod
    def heavy_tailed(cls, hosts: int, pages: int, seed: int, kilobytes: float = 30.0) -> "Web":
        """Few hosts have most pages (Pareto), few are very slow (lognormal, median 0.2 s)."""
        drawn = random.Random(seed)
        weights = [drawn.paretovariate(1.2) for _ in range(hosts)]
        sizes = [max(1, round(weight * pages / sum(weights))) for weight in weights]
        return cls(sizes, [min(drawn.lognormvariate(-1.6, 0.8), 15.0) for _ in range(hosts)], kilobytes)

    def links(self, page: Page) -> list[Page]:
        first = page.number * self.fan_out + 1
        return [self.page(page.host, n) for n in range(first, min(first + self.fan_out, self.sizes[page.host]))]

    def page(self, host: int, number: int) -> Page:
        return Page(host, number, self.kilobytes)


@dataclass
class Cores:
    """Processors that work off what comes in its order."""

    count: int
    crowded: float = 1.0
    """How many times as long work takes when all of them are busy, as costs were measured, as when one is."""
    others: float = 0.0
    """The part of their time that other programs have."""
    busy: float = 0.0
    _free_at: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._free_at = [0.0] * self.count

    def use(self, at: float, ms: float) -> float:
        """When work that comes at this time is done."""
        began = max(at, heapq.heappop(self._free_at))
        busy = sum(free_at > began for free_at in self._free_at) / max(1, self.count - 1)
        seconds = ms / 1000 * (1 + (self.crowded - 1) * busy) / self.crowded
        over = began + seconds / (1 - self.others * busy)  # where one is free, others have that one
        heapq.heappush(self._free_at, over)
        self.busy += seconds
        return over


class VirtualScripts(redis_scripts.Scripts):
    """Runs the frontier's scripts at a time that is set, and counts their calls."""

    def __init__(self, client: Redis, clock: str) -> None:
        super().__init__(client)
        self._clock = clock
        self.calls: Counter[str] = Counter()

    def run(self, name: str, keys: Sequence[Argument], args: Sequence[Argument]) -> Any:
        script = _virtual(name, self._clock)
        self.calls[name] += 1
        try:
            return self._call("EVALSHA", script.sha, len(keys), *keys, *args)
        except NoScriptError:
            return self._call("EVAL", script.text, len(keys), *keys, *args)


@cache
def _virtual(name: str, clock: str) -> redis_scripts.Script:
    there = f"redis.call('HMGET', '{clock}', 'seconds', 'micros')"
    return redis_scripts.Script.of(redis_scripts.load(name).text.replace("redis.call('TIME')", there))


class VirtualFrontier(RedisFrontier):
    """A frontier of its own, under a name that no other has."""

    def __init__(self, client: Redis) -> None:
        prefix = f"virtual-{uuid4().hex}"
        super().__init__(client, prefix)
        self._clock = f"{prefix}:now"
        self.scripts = self._scripts = VirtualScripts(client, self._clock)
        self._client = client

    def set_time(self, seconds: float) -> None:
        whole, rest = divmod(round(seconds * 1_000_000), 1_000_000)
        self._client.hset(self._clock, mapping={"seconds": EPOCH + whole, "micros": rest})


class Machine(NamedTuple):
    cores: Cores
    workers: int


@dataclass
class Cluster:
    machines: list[Machine]
    postgres: Cores
    redis: Cores
    costs: Costs
    round_trip: float = 0.0
    """Seconds from a worker to a server and back."""
    sites: Cores | None = None
    """Where the websites are, if they take processors away from us."""


class Answer(NamedTuple):
    at: float
    token: int
    lease: Lease
    page: Page


@dataclass
class Told:
    """What a cluster did in a time."""

    seconds: float
    pages: int
    workers: float
    """Their cores that were busy, on average."""
    postgres: float
    redis: float
    cores: float
    """Of all of them together."""
    calls: Counter[str]
    redis_urls: int
    """That these calls were about."""

    @property
    def per_second(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0


class Need(NamedTuple):
    """What a process waits for: so many milliseconds of some processor, or, without one, a moment."""

    cores: Cores | None
    amount: float
    away: float = 0.0


Steps = Generator[Need, float, float]
"""Asks for something, hears when it got it, and ends with the time."""


class Worker:
    """One fetch process: the rounds of `WorkShift`, with costs instead of work."""

    def __init__(self, simulation: "Simulation", cores: Cores) -> None:
        self._all = simulation
        self._cores = cores
        self._flying: list[Answer] = []
        self._answers: deque[Answer] = deque()
        self._settled: list[Answer] = []
        self._oldest = 0.0
        self._next_claim = 0.0

    def life(self) -> Steps:
        now = 0.0
        while True:
            now = yield from self._receive(now)
            now = yield from self._claim(now)
            now = yield from self._parse(now)
            now = yield from self._flush(now)
            if not self._answers:
                now = yield Need(None, max(now, self._wakes_at()))

    def _wakes_at(self) -> float:
        first = self._flying[0].at if self._flying else self._next_claim
        return min(first, self._next_claim) if self._room() > 0 else first

    def _room(self) -> int:
        return min(MAX_ACTIVE - len(self._flying), MAX_UNPARSED - len(self._answers))

    def _call(self, urls: int) -> Steps:
        yield self._all.redis_call(urls)
        return (yield Need(self._cores, self._all.costs.worker_call))

    def _receive(self, now: float) -> Steps:
        arrived = []
        while self._flying and self._flying[0].at <= now:
            arrived.append(heapq.heappop(self._flying))
        self._answers += arrived
        if not arrived:
            return now
        self._all.frontier.set_time(now)
        self._all.frontier.answered([(answer.lease, 0) for answer in arrived])
        return (yield from self._call(len(arrived)))

    def _claim(self, now: float) -> Steps:
        room = self._room()
        if room <= 0 or now < self._next_claim or (room < CLAIM_ROOM and self._answers):
            return now
        frontier = self._all.frontier
        frontier.set_time(now)
        pairs, wait = frontier.due(Lane.HTTP, min(room, 100))
        now = yield from self._call(0)
        if not pairs:
            self._next_claim = now + look_again_in(wait, self._all.count)
            return now
        frontier.set_time(now)
        leases = frontier.claim(Lane.HTTP, pairs, room, LEASE_SECONDS, self._all.count)
        now = yield from self._call(len(leases))
        for lease in leases:
            page = self._all.page(lease.url)
            heapq.heappush(self._flying, Answer(self._all.answer_at(now, page), lease.token, lease, page))
        if held := [(lease, 0) for lease in leases if lease.gap_ms]:
            frontier.sent(held)
            now = yield from self._call(len(held))
        self._next_claim = now if leases else now + look_again_in(0.0, self._all.count)
        return now

    def _parse(self, now: float) -> Steps:
        until = now + PARSE_SECONDS
        while self._answers and now < until:
            answer = self._answers.popleft()
            now = yield Need(self._cores, self._all.costs.read(answer.page))
            self._oldest = self._oldest if self._settled else now
            self._settled.append(answer)
        return now

    def _flush(self, now: float) -> Steps:
        rows = self._settled
        quiet = not self._flying and not self._answers
        if not rows or not (len(rows) >= FLUSH_ROWS or now - self._oldest >= FLUSH_SECONDS or quiet):
            return now
        self._settled = []
        now = yield self._all.write(rows)
        self._next_claim = now
        found = self._all.complete(now, rows)
        return (yield from self._call(len(rows) + found))


class Simulation:
    def __init__(self, redis: Redis, cluster: Cluster, web: Web, limits: Limits) -> None:
        self.cluster, self.web, self.costs = cluster, web, cluster.costs
        self.frontier = VirtualFrontier(redis)
        self.crawl_id: UUID = uuid4()
        self.stored = 0
        self._pages = sum(web.sizes)
        self._sequence = 0
        self._urls = 0
        self._workers = [Worker(self, one.cores) for one in cluster.machines for _ in range(one.workers)]
        self.frontier.set_time(0.0)
        self.frontier.open_crawl(self.crawl_id, limits)
        self.frontier.discover(self.crawl_id, [self._entry(web.page(host, 0)) for host in range(len(web.sizes))])
        self.frontier.scripts.calls.clear()

    @property
    def count(self) -> int:
        return len(self._workers)

    def run(self, seconds: float) -> Told:
        """Until nothing is left, or for so many virtual seconds."""
        lives = [worker.life() for worker in self._workers]
        needs = [next(life) for life in lives]
        turns = [(self._got(0.0, need), number) for number, need in enumerate(needs)]
        heapq.heapify(turns)
        now = 0.0
        while turns[0][0] < seconds and not self._is_done:
            now, number = turns[0]
            heapq.heapreplace(turns, (self._got(now, lives[number].send(now)), number))
        machines = [machine.cores for machine in self.cluster.machines]
        everything = {id(cores): cores for cores in (*machines, self.cluster.postgres, self.cluster.redis)}.values()
        return Told(
            now,
            self.stored,
            sum(cores.busy for cores in machines) / now,
            self.cluster.postgres.busy / now,
            self.cluster.redis.busy / now,
            sum(cores.busy for cores in everything) / now,
            self.frontier.scripts.calls,
            self._urls,
        )

    @property
    def _is_done(self) -> bool:
        return self.stored >= self._pages

    @staticmethod
    def _got(now: float, need: Need) -> float:
        return need.amount if need.cores is None else need.cores.use(now + need.away, need.amount) + need.away

    def answer_at(self, now: float, page: Page) -> float:
        sites = self.cluster.sites
        return (sites.use(now, self.costs.site) if sites else now) + self.web.latencies[page.host]

    def redis_call(self, urls: int) -> Need:
        self._urls += urls
        cost = self.costs.redis_call + self.costs.redis_url * urls
        return Need(self.cluster.redis, cost, self.cluster.round_trip / 2)

    def write(self, rows: Sequence[Answer]) -> Need:
        cost = self.costs.write([row.page for row in rows])
        return Need(self.cluster.postgres, cost, self.cluster.round_trip / 2)

    def complete(self, now: float, rows: Sequence[Answer]) -> int:
        """Returns how many links were found."""
        found = [self._entry(page) for row in rows for page in self.web.links(row.page)]
        self.frontier.set_time(now)
        self.frontier.complete(self.crawl_id, [Outcome(row.lease, End.STORED) for row in rows], found)
        self.stored += len(rows)
        return len(found)

    def page(self, url: str) -> Page:
        host, _, number = url.removeprefix("http://h").partition(".test/")
        return self.web.page(int(host), int(number))

    def _entry(self, page: Page) -> Entry:
        url = f"http://h{page.host}.test/{page.number}"
        self._sequence += 1
        return Entry(digest(url), f"h{page.host}.test", url, 1, score(2, self._sequence))
