"""The service beside a polite crawl: how long each read takes, and how long a start until the first request."""

import statistics
import time
from dataclasses import dataclass
from uuid import UUID

from benchmarks.api_project import stock
from benchmarks.api_reads import BULK, Reader, Timing, all_reads, measure
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.polite import pages
from benchmarks.service import service
from benchmarks.sites import Mount, Sites, serve
from crawler.domain.api_keys import Scope

TITLE = "The service over HTTP"
PAGES = 100_000
ROUNDS = 200
HOSTS = 20
"""At one request a second each."""
STARTS = 20
PAUSE_SECONDS = 3.0
"""Between two starts: everybody has gone back to waiting."""
PROMISED_MS = 50


@dataclass(frozen=True)
class Outcome:
    pages: int
    timings: dict[str, Timing]
    crawled_per_second: float
    """By the crawl that ran meanwhile."""
    starts_idle_ms: list[float]
    starts_busy_ms: list[float]


def run(options: Options) -> str:
    """Starts have hosts of their own: each is a host's first request, and nobody waits for a gap."""
    starts = options.size(STARTS, 2)
    with (
        pages() as root,
        serve(Mount("polite", root, HOSTS), Mount("starts", root, 2 * starts)) as sites,
        ours(up=True) as crawler,
        service(crawler, Scope.ADMIN) as api,
    ):
        reader = Reader(api)
        urls = sites.urls("starts")
        crawler.warm(urls[0])
        hosts = tuple(sites.hosts("polite"))
        number = options.size(PAGES, 2000)
        stocked = stock(crawler, sites, number, allowed_hosts=hosts, delay_seconds=1, max_concurrent=64)
        print(f"  {number:,} pages are there", flush=True)
        idle = [_start(crawler, sites, reader, url, PAUSE_SECONDS) for url in urls[:starts]]
        running = UUID(reader.post(f"/projects/{stocked.project.id}/phases/crawl/run")["crawl_id"])
        crawler.attend(5)
        mark, began = sites.mark(), time.monotonic()
        timings = measure(reader, all_reads(reader, stocked, running, hosts[0]), options.size(ROUNDS, 3))
        speed = len([line for line in sites.lines(mark) if line.is_page]) / (time.monotonic() - began)
        busy = [_start(crawler, sites, reader, url, 1.0) for url in urls[starts:]]
        crawler.tools.crawls.control.cancel(running)
    return table(Outcome(number, timings, speed, idle, busy))


def _start(crawler: Ours, sites: Sites, reader: Reader, url: str, pause: float) -> float:
    """Milliseconds from the request that starts a crawl to the crawl's first own, by the server's log."""
    project = crawler.project(url, max_pages=1)
    crawler.attend(pause)
    mark, began = sites.mark(), time.time()
    crawl = UUID(reader.post(f"/projects/{project.id}/phases/crawl/run")["crawl_id"])
    host = url.split("/")[2]
    until = began + 30
    while not (asked := [line.started_ms for line in sites.lines(mark) if line.host == host]):
        if time.time() > until:
            raise SystemExit(f"The crawl of {url} made no request.")
        crawler.attend(0.05)
    while not crawler.tools.store.get_crawl(crawl).status.is_over:
        crawler.attend(0.1)
    return asked[0] - 1000 * began


def table(outcome: Outcome) -> str:
    reads = {name: timing for name, timing in outcome.timings.items() if name not in BULK}
    everything = Timing([took for timing in reads.values() for took in timing.took])
    late = [name for name, timing in reads.items() if timing.quantile(0.99) >= PROMISED_MS]
    ordered = sorted(outcome.timings.items(), key=lambda pair: -pair[1].quantile(0.99))
    lines = "\n".join(f"| {_label(name)} | {_cells(timing)} |" for name, timing in ordered)
    rounds = len(next(iter(outcome.timings.values())).took)
    return f"""A project of {outcome.pages:,} pages with two crawls behind it, and beside every read a crawl of it at
{outcome.crawled_per_second:.1f} pages/s ({HOSTS} hosts, one request a second each). One reader on a kept connection,
{rounds} rounds after one that is not counted; in a round each read comes once, in another order each time.

| | |
|---|--:|
| all reads: p50 | {everything.quantile(0.5):.1f} ms |
| all reads: p99 | {everything.quantile(0.99):.1f} ms |
| reads whose own p99 is {PROMISED_MS} ms or more | {", ".join(late) or "none"} |
| start to first request, workers idle: median, most | {_starts(outcome.starts_idle_ms)} |
| start to first request, beside the crawl: median, most | {_starts(outcome.starts_busy_ms)} |

| read | p50 ms | p99 ms | most ms |
|---|--:|--:|--:|
{lines}"""


def _label(name: str) -> str:
    return f"{name} (until it begins)" if name in BULK else name


def _cells(timing: Timing) -> str:
    return f"{timing.quantile(0.5):.1f} | {timing.quantile(0.99):.1f} | {max(timing.took):.1f}"


def _starts(took: list[float]) -> str:
    return f"{statistics.median(took):.0f} ms, {max(took):.0f} ms"
