"""A thousand hosts at one request a second each, judged by nginx's log."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.access_log import Line, Manners, count_between, everyone_asked_ms, manners
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.sites import Mount, Sites, serve
from benchmarks.usage import Usage

TITLE = "1,000 polite hosts"
HOSTS = 1000
SECONDS = 60
GAP_MS = 1000
FETCHERS = 2
PAGES = 300
"""Of one host: more than can be asked for in the time."""
START_SECONDS = 60.0
BUSY = 0.01
"""A slot that used less of a core than this did nothing."""

_PAGE = "<html><head><title>Page {n}</title></head><body><h1>Page {n}</h1><p>Some words.</p>{links}</body></html>\n"


@dataclass(frozen=True)
class Outcome:
    hosts: int
    seconds: int
    start_seconds: float
    """From the first request to the first one of the last host."""
    in_time: int
    manners: Manners
    slots: tuple[float, ...]
    """Each fetch process's share of a core."""
    cores: float
    """Used by all of ours together."""

    @property
    def share(self) -> float:
        return self.in_time * GAP_MS / 1000 / (self.hosts * self.seconds)

    @property
    def busy(self) -> int:
        return sum(share >= BUSY for share in self.slots)


def run(options: Options) -> str:
    hosts, seconds = options.size(HOSTS, 40), options.size(SECONDS, 8)
    with pages() as root, serve(Mount("polite", root, hosts)) as sites, ours(FETCHERS) as crawler:
        outcome = _measure(crawler, sites, hosts, seconds)
    return table(outcome)


def _measure(crawler: Ours, sites: Sites, hosts: int, seconds: int) -> Outcome:
    named = sites.hosts("polite")
    project = crawler.project(
        sites.portal, allowed_hosts=tuple(named), delay_seconds=GAP_MS / 1000, max_concurrent=256
    )  # fmt: skip
    mark = sites.mark()
    crawl = crawler.tools.crawls.start(project.id)
    began_ms = await_start(crawler, sites, set(named), mark)
    print(f"  all {hosts} hosts were asked; now {seconds} s …", flush=True)
    with Usage(crawler.pids) as usage:
        slots, measured_from = crawler.slots(), time.monotonic()
        if not slots:
            raise SystemExit("The processes that fetch were not found.")
        crawler.attend(seconds + 1)
        measured = time.monotonic() - measured_from
    crawler.tools.crawls.control.cancel(crawl.id)
    crawler.attend(2)
    lines = of_hosts(sites.lines(mark), set(named))
    return Outcome(
        hosts, seconds, (began_ms - min(line.started_ms for line in lines)) / 1000,
        count_between(lines, began_ms, began_ms + 1000 * seconds), manners(lines, GAP_MS),
        tuple(usage.by_process.get(pid, 0.0) / measured for pid in slots.values()), usage.cpu_seconds / measured,
    )  # fmt: skip


def await_start(crawler: Ours, sites: Sites, named: set[str], mark: int) -> int:
    until = time.monotonic() + START_SECONDS
    while (at := everyone_asked_ms(of_hosts(sites.lines(mark), named), len(named))) is None:
        if time.monotonic() > until:
            raise SystemExit(f"After {START_SECONDS:g} s not every one of {len(named)} hosts had been asked.")
        crawler.attend(0.5)
    return at


def of_hosts(lines: list[Line], hosts: set[str]) -> list[Line]:
    """Without the page that only links to the hosts."""
    return [line for line in lines if line.host in hosts]


@contextmanager
def pages() -> Iterator[Path]:
    """Each page links to the next three: there is always something to do, and never much at once."""
    with tempfile.TemporaryDirectory(prefix="bench-polite-") as folder:
        root = Path(folder)
        root.chmod(0o755)
        for n in range(PAGES):
            links = " ".join(f'<a href="/{next_}.html">{next_}</a>' for next_ in range(n + 1, min(n + 4, PAGES)))
            (root / (f"{n}.html" if n else "index.html")).write_text(_PAGE.format(n=n, links=links))
        yield root


def table(outcome: Outcome) -> str:
    told = outcome.manners
    cpu = " + ".join(f"{share:.0%}" for share in outcome.slots)
    rows = {
        "hosts × requests/s × seconds": f"{outcome.hosts:,} × 1 × {outcome.seconds}",
        "requests in that time": f"{outcome.in_time:,}",
        "share of the ideal": f"{outcome.share:.1%}",
        "smallest gap at any host": f"{(told.smallest_gap_ms or 0) / 1000:.3f} s",
        "violations (a gap below 1.000 s)": f"{told.violations} of {told.requests:,} requests",
        "most requests at one host at once": f"{told.parallel}",
        "busy fetch processes": f"{outcome.busy} of {len(outcome.slots)}",
        "their CPU, of a core each": cpu,
        "CPU of workers, Postgres and Valkey together": f"{outcome.cores:.2f} cores",
        "from the first request until every host was asked": f"{outcome.start_seconds:.1f} s",
    }
    lines = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    return f"""One crawl over all hosts, one request a second each. The time begins when every host has been asked once;
gaps are those of the whole crawl, robots.txt included, at the resolution of nginx's log (1 ms).

| | |
|---|--:|
{lines}"""
