"""The same crawl with nobody watching and with many: how much do they slow it down?"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.access_log import Served
from benchmarks.children import child
from benchmarks.live_readers import KEY_NAME
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.service import Service, service
from benchmarks.sites import Sites, manual, serve
from benchmarks.usage import Usage

TITLE = "200 readers on one crawl"
SITE = "postgresql"
READERS = 200
PAIRS = 5


@dataclass(frozen=True)
class Watched:
    readers: int
    complete: int
    events: int
    late_seconds: float
    """From the crawl's end until the last reader knew of it."""
    cpu_seconds: float
    megabytes: float
    """Of the service."""


@dataclass(frozen=True)
class Pair:
    alone: Served
    watched: Served
    told: Watched

    @property
    def slowdown(self) -> float:
        return 1 - self.watched.pages_per_second / self.alone.pages_per_second


def run(options: Options) -> str:
    readers, pages = options.size(READERS, 20), options.size(1_000_000, 200)
    with serve(manual(SITE)) as sites, ours() as crawler, service(crawler) as api:
        crawler.warm(sites.url(SITE))
        pairs = [_pair(crawler, sites, api, readers, pages, n) for n in range(options.size(PAIRS, 1))]
    return table(pairs)


def _pair(crawler: Ours, sites: Sites, api: Service, readers: int, pages: int, number: int) -> Pair:
    """Whoever is first is the other one the next time."""
    if number % 2:
        watched, told = _watched(crawler, sites, api, readers, pages)
        alone = _alone(crawler, sites, pages)
    else:
        alone = _alone(crawler, sites, pages)
        watched, told = _watched(crawler, sites, api, readers, pages)
    pair = Pair(alone, watched, told)
    print(
        f"  alone {alone.pages_per_second:.0f}/s, watched {watched.pages_per_second:.0f}/s ({pair.slowdown:.1%} less); "
        f"{told.complete} of {told.readers} readers got all of {told.events:,} events, {told.late_seconds:.1f} s late",
        flush=True,
    )
    return pair


def _alone(crawler: Ours, sites: Sites, pages: int) -> Served:
    mark = sites.mark()
    crawler.crawl(crawler.project(sites.url(SITE), max_pages=pages))
    return sites.measure(mark)


def _watched(crawler: Ours, sites: Sites, api: Service, readers: int, pages: int) -> tuple[Served, Watched]:
    project = crawler.project(sites.url(SITE), max_pages=pages)
    command = [sys.executable, "-m", "benchmarks.live_readers", api.live_url(project.id), str(readers)]
    with _readers(command, api.key) as audience, Usage(lambda: [api.pid]) as usage:
        mark = sites.mark()
        done = crawler.crawl(project)
        ended = (done.completed_at or crawler.tools.clock()).timestamp()
        assert audience.stdout
        told: dict[str, Any] = json.loads(audience.stdout.readline())
        served = sites.measure(mark)
    late = max(0.0, told["last_at"] - ended)
    return served, Watched(
        told["readers"], told["complete"], told["events"], late, usage.cpu_seconds, usage.peak_megabytes
    )  # fmt: skip


@contextmanager
def _readers(command: list[str], key: str) -> Iterator["subprocess.Popen[bytes]"]:
    with child(command, stdout=subprocess.PIPE, env={**os.environ, KEY_NAME: key}) as process:
        assert process.stdout
        if process.stdout.readline().strip() != b"ready":
            raise SystemExit("The readers could not connect.")
        yield process


def table(pairs: list[Pair]) -> str:
    told = [pair.told for pair in pairs]
    complete, readers = sum(one.complete for one in told), sum(one.readers for one in told)
    rows = {
        "pages": f"{statistics.median(len(pair.watched.pages) for pair in pairs):.0f}",
        "pages/s with nobody watching": f"{statistics.median(pair.alone.pages_per_second for pair in pairs):.0f}",
        "pages/s watched": f"{statistics.median(pair.watched.pages_per_second for pair in pairs):.0f}",
        "slower by": f"{statistics.median(pair.slowdown for pair in pairs):.1%}",
        "readers who got every event in order": f"{complete} of {readers}",
        "messages to all readers": f"{statistics.median(one.events for one in told):,.0f}",
        "last event after the crawl's end": f"{statistics.median(one.late_seconds for one in told):.1f} s",
        "CPU of the service meanwhile": f"{statistics.median(one.cpu_seconds for one in told):.1f} s",
        "most memory of the service": f"{max(one.megabytes for one in told):.0f} MB",
    }
    lines = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"""Medians of {len(pairs)} pairs: the PostgreSQL manual crawled at full speed, once with nobody watching and
once with {told[0].readers} WebSocket readers. These are one process on the same machine: what it costs them to take
what comes is in it; they look at it when the crawl is over.

| | |
|---|--:|
{lines}"""
