"""The frontier by itself on a real Valkey: how fast its calls are, and what a known URL costs there."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from redis import Redis

from benchmarks.options import Options
from benchmarks.ours import ending_with_us
from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.adapters.frontier.redis_frontier import RedisFrontier
from crawler.adapters.frontier.sharded_frontier import AnyFrontier, ShardedFrontier
from crawler.domain.crawls.frontier import End, Entry, Lane, Limits, Outcome, score
from crawler.domain.urls.url import digest
from crawler.embedded import EmbeddedServers
from crawler.server_urls import redis_database

TITLE = "The frontier alone"
URLS = 200_000
HOSTS = 50
FOUND_AT_ONCE = 500
CLAIMED_AT_ONCE = 64
SETTLE_SECONDS = 2.0
"""Until the append-only file's buffer is written and no longer counts as memory."""

_LIMITS = Limits(max_pages=10_000_000, max_fetches=10_000_000, max_concurrent=256, delay_ms=0, respect_robots=False)


@dataclass
class Timing:
    """Seconds spent in calls of one kind, and how many URLs they were about."""

    seconds: float = 0.0
    urls: int = 0

    @contextmanager
    def of(self) -> Iterator["Timing"]:
        began = time.perf_counter()
        yield self
        self.seconds += time.perf_counter() - began

    @property
    def per_second(self) -> float:
        return self.urls / self.seconds if self.seconds else 0.0


@dataclass
class Outcomes:
    urls: int
    characters: float
    discover: Timing = field(default_factory=Timing)
    claim: Timing = field(default_factory=Timing)
    answered: Timing = field(default_factory=Timing)
    complete: Timing = field(default_factory=Timing)
    bytes_waiting: float = 0.0
    bytes_done: float = 0.0
    calls: float = 0.0
    """Of scripts, for each URL from its claim to its end."""


def run(options: Options) -> str:
    urls = options.size(URLS, 10_000)
    with (
        tempfile.TemporaryDirectory(prefix="bench-frontier-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
        connect_redis(servers.redis_url) as redis,
    ):
        one = _measure(redis, RedisFrontier(redis), urls)
        shards = [FrontierShard(connect_redis(redis_database(servers.redis_url, number))) for number in (1, 2, 3)]
        return f"{table(one)}\n\n{sharded_line(_measure(redis, ShardedFrontier(shards), urls))}"


def _measure(redis: Redis, frontier: AnyFrontier, urls: int) -> Outcomes:
    crawl_id = uuid4()
    frontier.open_crawl(crawl_id, _LIMITS)
    frontier.discover(crawl_id, [])  # scripts are loaded
    entries = [_entry(number) for number in range(urls)]
    told = Outcomes(urls, sum(len(entry.url) for entry in entries) / urls)
    empty = _used(redis)
    for start in range(0, urls, FOUND_AT_ONCE):
        some = entries[start : start + FOUND_AT_ONCE]
        with told.discover.of() as timing:
            timing.urls += frontier.discover(crawl_id, some).new
    told.bytes_waiting = (_used(redis) - empty) / urls
    print(f"  {urls} URLs wait, {told.bytes_waiting:.0f} B each", flush=True)
    before = _calls(redis)
    _drain(frontier, crawl_id, told)
    told.calls = (_calls(redis) - before) / urls
    told.bytes_done = (_used(redis) - empty) / urls
    return told


def _drain(frontier: AnyFrontier, crawl_id: UUID, told: Outcomes) -> None:
    """As a shift does: look, claim, hear the answers, complete."""
    while True:
        with told.claim.of() as timing:
            pairs, _ = frontier.due(Lane.HTTP, 100)
            leases = frontier.claim(Lane.HTTP, pairs, CLAIMED_AT_ONCE, 60) if pairs else []
            timing.urls += len(leases)
        if not leases:
            break
        with told.answered.of() as timing:
            frontier.answered([(lease, 1) for lease in leases])
            timing.urls += len(leases)
        with told.complete.of() as timing:
            frontier.complete(crawl_id, [Outcome(lease, End.STORED, lateness_ms=1) for lease in leases])
            timing.urls += len(leases)
    if told.complete.urls != told.urls:
        raise SystemExit(f"Of {told.urls} URLs only {told.complete.urls} could be claimed.")


def _entry(number: int) -> Entry:
    host = f"www.example-{number % HOSTS:02}.test"
    url = f"http://{host}/documentation/section-{number:07}/chapter-{number % 97:02}.html"
    return Entry(digest(url), host, url, 1, score(2, number))


def _used(redis: Redis) -> int:
    time.sleep(SETTLE_SECONDS)
    return int(redis.info("memory")["used_memory"])


def _calls(redis: Redis) -> int:
    return int(redis.info("commandstats")["cmdstat_evalsha"]["calls"])


def sharded_line(told: Outcomes) -> str:
    speed = told.urls / (told.claim.seconds + told.answered.seconds + told.complete.seconds)
    return (
        f"On three servers (here three databases of one): {told.calls:.3f} calls a URL from claim to end, "
        f"{told.bytes_waiting:.0f} B while it waits, {told.bytes_done:.0f} B once it is done, {speed:,.0f} URLs/s."
    )


def table(told: Outcomes) -> str:
    rows: Sequence[tuple[str, Timing, int]] = (
        ("discover", told.discover, FOUND_AT_ONCE),
        ("due + claim", told.claim, CLAIMED_AT_ONCE),
        ("answered", told.answered, CLAIMED_AT_ONCE),
        ("complete", told.complete, CLAIMED_AT_ONCE),
    )
    lines = "\n".join(f"| {name} | {at_once} | {timing.per_second:,.0f} |" for name, timing, at_once in rows)
    return f"""{told.urls:,} URLs of {told.characters:.0f} characters on {HOSTS} hosts, one client, embedded Valkey
with its append-only file.

| call | URLs a call | URLs/s |
|---|--:|--:|
{lines}

Valkey's memory per known URL: {told.bytes_waiting:.0f} B while it waits, {told.bytes_done:.0f} B once it is done.
From claim to end a URL takes {told.calls:.3f} calls."""
