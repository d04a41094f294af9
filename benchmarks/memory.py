"""Workers' memory over 50,000 pages."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import psutil

from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.sites import manual, serve
from crawler.domain.crawls.crawl import CrawlJob

TITLE = "Memory over 50,000 pages"
HOSTS = 43
"""Times 1,169 pages: a little more than 50,000."""
STEP = 10_000
STEPS = 5
EVERY_SECONDS = 0.5


class Sample(NamedTuple):
    pages: int
    megabytes: Mapping[str, float]
    """Resident, by worker."""


class Sampler:
    """Looks at the workers while a crawl goes on."""

    def __init__(self, crawler: Ours, step: int) -> None:
        self._crawler = crawler
        self._next = 0.0
        self._told = step
        self._step = step
        self.samples: list[Sample] = []

    def __call__(self, crawl: CrawlJob) -> None:
        now = time.monotonic()
        if now < self._next and not crawl.status.is_over:
            return
        self._next = now + EVERY_SECONDS
        self.samples.append(Sample(crawl.pages_crawled, _resident(self._crawler.processes())))
        if crawl.pages_crawled >= self._told:
            print(f"  {crawl.pages_crawled} pages: {_told(self.samples[-1])}", flush=True)
            self._told += self._step


def run(options: Options) -> str:
    hosts, step = options.size(HOSTS, 3), options.size(STEP, 600)
    with serve(manual("postgresql", hosts)) as sites, ours() as crawler:
        named = tuple(sites.hosts("postgresql"))
        sampler = Sampler(crawler, step)
        before = crawler.slots()
        crawl = crawler.crawl(crawler.project(sites.portal, allowed_hosts=named), seconds=900, watch=sampler)
        replaced = len(set(before.values()) - set(crawler.slots().values()))
    steps = [step * number for number in range(1, STEPS + 1)]
    return f"""One crawl of {crawl.pages_crawled:,} pages (the PostgreSQL manual on {hosts} hosts). Resident MB of each
worker when so many pages were stored; the drift is from the first of these to the last.
Fetch processes replaced meanwhile: {replaced}.

{table(sampler.samples, steps)}"""


def table(samples: Sequence[Sample], steps: Sequence[int]) -> str:
    found = [sample for step in steps if (sample := at(samples, step))]
    head = ["worker", *(f"{step:,} pages" for step in steps[: len(found)]), "drift"]
    lines = [f"| {' | '.join(head)} |", "|---" + "|--:" * (len(head) - 1) + "|"]
    for worker in found[0].megabytes if found else ():
        values = [sample.megabytes.get(worker, 0.0) for sample in found]
        cells = [worker, *(f"{value:.1f}" for value in values), f"{drift(values):+.1%}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def at(samples: Sequence[Sample], pages: int) -> Sample | None:
    """The first look at which so many were stored."""
    return next((sample for sample in samples if sample.pages >= pages), None)


def drift(values: Sequence[float]) -> float:
    return values[-1] / values[0] - 1 if values and values[0] else 0.0


def _resident(processes: Mapping[str, int]) -> dict[str, float]:
    found = {}
    for name, pid in processes.items():
        with suppress(psutil.Error):
            found[name] = psutil.Process(pid).memory_info().rss / 1e6
    return found


def _told(sample: Sample) -> str:
    return ", ".join(f"{name} {megabytes:.0f} MB" for name, megabytes in sample.megabytes.items())
