"""How far a cluster goes: costs measured on this machine, other crawls predicted from them and checked, then scaled.

The cluster on virtual time is `benchmarks/simulation.py`.
"""

import os
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import psutil
from redis import Redis
from selectolax.lexbor import LexborHTMLParser

from benchmarks import polite
from benchmarks.access_log import Served
from benchmarks.options import Options
from benchmarks.ours import Ours, ending_with_us, ours, server_pids
from benchmarks.simulation import Cluster, Cores, Costs, Machine, Simulation, Told, Web
from benchmarks.sites import Mount, Sites, manual, serve
from benchmarks.usage import Usage, with_children
from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.domain.crawls.frontier import Limits
from crawler.embedded import EmbeddedServers

TITLE = "A cluster on virtual time"
IN_FLIGHT = 32
LOOPBACK_SECONDS = 0.0005
POLITE_HOSTS = 500
POLITE_SECONDS = 20
SCALED_SECONDS = 10
SCALED_HOSTS = 20_000
SCALED_PAGES = 20_000_000
WORKERS = (2, 8, 32, 128)
POSTGRES_CORES = 16
ROUND_TRIP = 0.0005
_BUSY = ("user", "nice", "system", "irq", "softirq", "steal")
LAPS = 6
"""How often each crawl is measured, in turn with the others: a machine is quicker in one minute than in the next, so
all of them have their part of both."""
MANY_HOSTS = 6


class Split(NamedTuple):
    """Milliseconds of CPU of a page, by who had them."""

    workers: float
    postgres: float
    redis: float
    site: float
    """nginx, which runs beside us."""

    @property
    def ours(self) -> float:
        return self.workers + self.postgres + self.redis

    def times(self, factor: float) -> "Split":
        return Split(*(factor * ms for ms in self))

    def without(self, other: "Split") -> "Split":
        return Split(*(max(0.0, ms - less) for ms, less in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Point:
    """A crawl that was measured."""

    name: str
    web: Web
    fetchers: int
    delay_ms: int
    per_second: float
    split: Split
    others: float = 0.0
    """The part of the processors' time that was neither ours nor idle: this benchmark's, the kernel's, and that of
    others on the machine that lends them."""
    calibrates: bool = False

    @property
    def cores(self) -> float:
        return sum(self.split) * self.per_second / 1000


def run(options: Options) -> str:
    points = [*_manuals(options), _polite(options)]
    crowded = crowding()
    print(f"  all processors at once: each takes {crowded:.2f} times as long", flush=True)
    with _valkey() as redis:
        costs = calibrated(redis, points, crowded)
        checked = [(point, replay(redis, costs, point, crowded)) for point in points]
        scaled = [(count, scale(redis, costs, count, options)) for count in WORKERS[: options.size(len(WORKERS), 1)]]
    return table(checked, scaled)


# -- what is measured -----------------------------------------------------------------------------


def _manuals(options: Options) -> list[Point]:
    both, laps = os.cpu_count() or 1, options.size(LAPS, 1)
    small, large, many = manual("postgresql"), manual("python"), manual("postgresql", options.size(MANY_HOSTS, 2))
    many = replace(many, name="many")
    with serve(many) as hosts, serve(small, large) as sites, ours(both) as crawler, ours(1) as alone:
        named = tuple(hosts.hosts("many"))
        first, second = sites.url("postgresql"), sites.url("python")
        subjects = [
            _Subject("the PostgreSQL manual", crawler, sites, first, both),
            _Subject("the Python manual", crawler, sites, second, both, calibrates=True),
            # Of the largest crawl, what it costs to begin and to end one counts least.
            _Subject(
                f"the first on {len(named)} hosts",
                crawler,
                hosts,
                hosts.portal,
                both,
                {"allowed_hosts": named},
                calibrates=True,
            ),
            _Subject("the first, one worker", alone, sites, first, 1),
        ]
        for subject in subjects:
            subject.crawler.warm(subject.seed, **subject.config)
        around: list[list[_Lap]] = [[] for _ in subjects]
        whole: list[list[_Lap]] = [[] for _ in subjects]
        for number in range(laps):
            for place, subject in enumerate(subjects):
                around[place].append(subject.lap(max_pages=1))
                whole[place].append(subject.lap())
            print(f"  {number + 1} of {laps} rounds", flush=True)
    return [subject.point(*measured) for subject, *measured in zip(subjects, around, whole, strict=True)]


@dataclass(frozen=True)
class _Subject:
    """A crawl that is measured several times."""

    name: str
    crawler: Ours
    sites: Sites
    seed: str
    fetchers: int
    config: Mapping[str, object] = field(default_factory=dict)
    calibrates: bool = False

    def lap(self, **config: object) -> "_Lap":
        return _lap(self.crawler, self.sites, self.seed, **{**self.config, **config})

    def point(self, around: Sequence["_Lap"], whole: Sequence["_Lap"]) -> Point:
        """Of what a page costs, what it costs to begin and to end a crawl is no part: its time is that of its
        requests."""
        served = [lap.served for lap in whole]
        pages, hosts = len(served[0].pages), len({host for host, _ in served[0].pages})
        web = Web.alike(hosts, pages // hosts, LOOPBACK_SECONDS, 1000 * served[0].megabytes / pages)
        begun = _average([lap.cost for lap in around])
        split = _average([lap.cost for lap in whole]).without(begun).times(1 / pages)
        per_second = len(whole) * pages / sum(one.seconds for one in served)
        print(f"  {self.name}: {per_second:,.0f} pages/s, {split.ours:.2f} ms of CPU a page", flush=True)
        others = mean(lap.others for lap in whole)
        return Point(self.name, web, self.fetchers, 0, per_second, split, others, self.calibrates)


class _Lap(NamedTuple):
    cost: Split
    """Milliseconds of CPU of the crawl."""
    served: Served
    others: float


def _lap(crawler: Ours, sites: Sites, seed: str, **config: object) -> _Lap:
    before = psutil.cpu_times()
    with Usage(lambda: [*crawler.pids(), sites.pid]) as usage:
        project, mark = crawler.project(seed, **config), sites.mark()
        crawler.crawl(project)
        served = sites.measure(mark)
    cost = _split(crawler, sites, usage, 1)
    return _Lap(cost, served, of_others(before, psutil.cpu_times(), sum(cost)))


def _average(splits: Sequence[Split]) -> Split:
    return Split(*map(mean, zip(*splits, strict=True)))


def _polite(options: Options) -> Point:
    hosts, seconds = options.size(POLITE_HOSTS, 20), options.size(POLITE_SECONDS, 5)
    with polite.pages() as root, serve(Mount("polite", root, hosts)) as sites, ours(polite.FETCHERS) as crawler:
        named = tuple(sites.hosts("polite"))
        project = crawler.project(sites.portal, allowed_hosts=named, delay_seconds=1.0, max_concurrent=256)
        first = sites.mark()
        crawl = crawler.tools.crawls.start(project.id)
        polite.await_start(crawler, sites, set(named), first)
        mark, before = sites.mark(), psutil.cpu_times()
        with Usage(lambda: [*crawler.pids(), sites.pid]) as usage:
            crawler.attend(seconds)
            pages = len(sites.lines(mark))
        after = psutil.cpu_times()
        crawler.tools.crawls.control.cancel(crawl.id)
        crawler.attend(2)
        web = Web.alike(hosts, polite.PAGES, LOOPBACK_SECONDS, 0.3)
        split = _split(crawler, sites, usage, pages)
        others = of_others(before, after, sum(split) * pages)
    print(f"  {hosts} polite hosts: {pages / seconds:,.0f} pages/s, {split.ours:.2f} ms of CPU a page", flush=True)
    name = f"{hosts} polite hosts, a request a second each"
    return Point(name, web, polite.FETCHERS, 1000, pages / seconds, split, others)


def of_others(before: Any, after: Any, ours: float) -> float:
    """The part of all processors' time that was neither idle nor in these milliseconds."""
    spent = {name: getattr(after, name) - getattr(before, name) for name in _BUSY}
    idle = after.idle + after.iowait - before.idle - before.iowait
    busy = sum(spent.values())
    return float(max(0.0, busy - ours / 1000) / (busy + idle))


def _split(crawler: Ours, sites: Sites, usage: Usage, parts: int) -> Split:
    """Of each of so many pages, or crawls."""
    servers = {**server_pids(crawler.data_dir), "nginx": sites.pid}
    ids = {name: {process.pid for process in with_children([pid])} for name, pid in servers.items()}
    used = usage.by_process
    postgres, redis, site = (sum(used.get(pid, 0.0) for pid in ids[name]) for name in ("postgres", "valkey", "nginx"))
    ours = usage.cpu_seconds - postgres - redis - site
    return Split(*(1000 * seconds / parts for seconds in (ours, postgres, redis, site)))


def crowding() -> float:
    """How many times as long work takes when all processors are busy: they may be threads of one core."""
    count = os.cpu_count() or 1
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        list(pool.map(_seconds_of_work, [1] * count))  # all of them have started
        return max(1.0, median(_crowding(pool, count) for _ in range(9)))


def _crowding(pool: ProcessPoolExecutor, count: int) -> float:
    """Alone and together right after each other: the machine's speed changes."""
    alone = pool.submit(_seconds_of_work, 100).result()
    return sum(pool.map(_seconds_of_work, [100] * count)) / count / alone


def _seconds_of_work(pages: int) -> float:
    """CPU time, which others on the machine change least, of what workers do with pages."""
    page = b"<html><body>" + b"".join(b"<p>Line %d <a href=/%d>on</a></p>" % (n, n) for n in range(300))
    began = time.process_time()
    for _ in range(pages):
        tree = LexborHTMLParser(page)
        [node.attributes for node in tree.css("a")]
        zlib.compress(tree.html.encode() if tree.html else b"")
    return time.process_time() - began


# -- what is predicted ----------------------------------------------------------------------------


def calibrated(redis: Redis, points: Sequence[Point], crowded: float) -> Costs:
    """Costs by which the measured pages cost what they did.

    Of a page a line through two sizes. Of Redis what a call costs and each URL in it, of a worker what a call costs it:
    in a quick crawl there are many URLs in each, in a polite one few.
    """
    small, large = sorted((one for one in points if one.calibrates), key=lambda one: one.web.kilobytes)
    polite_one = next(point for point in points if point.delay_ms)
    costs = line_through(small, large)
    calls, urls = _calls_of(redis, costs, small, crowded)
    many_calls, few_urls = _calls_of(redis, costs, polite_one, crowded)
    call, url = shared_out([(calls, urls, small.split.redis), (many_calls, few_urls, polite_one.split.redis)])
    more = polite_one.split.workers - costs.read(polite_one.web.page(0, 0))
    worker_call = max(0.0, more / (many_calls - calls))
    return costs._replace(
        worker=costs.worker - calls * worker_call, worker_call=worker_call, redis_call=call, redis_url=url
    )


def line_through(small: Point, large: Point) -> Costs:
    """Costs of a page and of each kilobyte of it, by two sizes of pages."""
    between = large.web.kilobytes - small.web.kilobytes
    worker_kb = (large.split.workers - small.split.workers) / between
    postgres_kb = (large.split.postgres - small.split.postgres) / between
    return Costs(
        worker=small.split.workers - worker_kb * small.web.kilobytes,
        worker_kb=worker_kb,
        postgres=small.split.postgres - postgres_kb * small.web.kilobytes,
        postgres_kb=postgres_kb,
        redis_call=0.0,
        redis_url=0.0,
        site=small.split.site,
    )


def _calls_of(redis: Redis, costs: Costs, point: Point, crowded: float) -> tuple[float, float]:
    """Calls of the frontier for a page, and URLs in them."""
    told = replay(redis, costs, point, crowded)
    return sum(told.calls.values()) / told.pages, told.redis_urls / told.pages


def shared_out(crawls: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """What a call and a URL cost, if in two crawls so many of both cost so much. None costs less than nothing."""
    (calls, urls, spent), (others, other_urls, other_spent) = crawls
    both = calls * other_urls - others * urls
    if abs(both) > 1e-9:
        call = (spent * other_urls - other_spent * urls) / both
        url = (calls * other_spent - others * spent) / both
        if call >= 0 and url >= 0:
            return call, url
    return (spent + other_spent) / (calls + others), 0.0


def replay(redis: Redis, costs: Costs, point: Point, crowded: float) -> Told:
    """The same crawl on virtual time: everything on one machine, as it was measured."""
    cores = Cores(os.cpu_count() or 1, crowded, point.others)
    cluster = Cluster([Machine(cores, point.fetchers)], postgres=cores, redis=cores, costs=costs, sites=cores)
    limits = Limits(10**9, 10**9, 256 if point.delay_ms else IN_FLIGHT, point.delay_ms, respect_robots=False)
    return Simulation(redis, cluster, point.web, limits).run(POLITE_SECONDS if point.delay_ms else 600)


def scale(redis: Redis, costs: Costs, workers: int, options: Options) -> Told:
    """Machines of eight cores with a worker each core, one Postgres, one Redis; a web of heavy-tailed hosts."""
    machines = [Machine(Cores(8), 8) for _ in range(workers // 8)] or [Machine(Cores(workers), workers)]
    cluster = Cluster(machines, Cores(POSTGRES_CORES), Cores(1), costs, ROUND_TRIP)
    web = Web.heavy_tailed(options.size(SCALED_HOSTS, 200), options.size(SCALED_PAGES, 20_000), seed=1)
    limits = Limits(10**9, 10**9, 100_000, 1000, respect_robots=False)
    return Simulation(redis, cluster, web, limits).run(options.size(SCALED_SECONDS, 3))


@contextmanager
def _valkey() -> Iterator[Redis]:
    with (
        tempfile.TemporaryDirectory(prefix="bench-simulate-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
        connect_redis(servers.redis_url) as redis,
    ):
        yield redis


def table(checked: Sequence[tuple[Point, Told]], scaled: Sequence[tuple[int, Told]]) -> str:
    rows = [
        f"| {point.name}{' (gives the costs)' if point.calibrates else ''} | {point.per_second:,.0f} | "
        f"{told.per_second:,.0f} | {told.per_second / point.per_second - 1:+.0%} | "
        f"{point.cores:.2f} | {told.cores:.2f} | {point.others:.0%} |"
        for point, told in checked
    ]
    large = [
        f"| {count} | {told.per_second:,.0f} | {told.workers / count:.0%} | {told.postgres / POSTGRES_CORES:.0%} | "
        f"{told.redis:.0%} | {sum(told.calls.values()) / max(told.pages, 1):.2f} |"
        for count, told in scaled
    ]
    return f"""The frontier's own scripts decide on a real Valkey, at a virtual time; all else is a queue with
a cost. The costs of pages are those of two crawls, those of calls also from the polite hosts; the others are predicted.
Cores: all of ours, and of nginx, which runs beside us. Others: the part of the processors' time that was neither ours
nor idle: the benchmark's own, the kernel's, and that of others on a machine whose processors are lent.

| crawl | measured, pages/s | predicted | difference | cores, measured | predicted | others |
|---|--:|--:|--:|--:|--:|--:|
{chr(10).join(rows)}

With these costs: workers on machines of 8 cores, Postgres with {POSTGRES_CORES} cores, one Redis,
{ROUND_TRIP * 1000:g} ms between them; {SCALED_HOSTS:,} hosts of heavy-tailed sizes and latencies, a request a second
each, pages of 30 kB.

| workers | pages/s | workers busy | Postgres busy | Redis busy | calls of the frontier a page |
|--:|--:|--:|--:|--:|--:|
{chr(10).join(large)}"""
