"""`make bench`: real sites, peers at their best, one after the other in one run; the table goes to RESULTS.md."""

import argparse
import importlib.metadata
import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import peers
from benchmarks.ours import Ours, ours
from benchmarks.sites import PACKAGES, Served, Sites, serve
from benchmarks.usage import Usage

RESULTS = Path(__file__).parent / "RESULTS.md"


_DOCUMENT = """# Results

Made by `make bench` on {date}: medians of {repeats} repeats, one crawler after the other in one run. Pages per second
are counted in nginx's own log, from the first request to the last; CPU and memory are those of every process that
works for the crawl (ours: workers, Postgres and Valkey, everything durable).

{table}

Machine: {machine}. Ours with {versions}; 32 requests in flight, one fetch process per core.
Peers: {pinned}; no delay, 32 requests in flight, writing JSON lines.
"""


@dataclass(frozen=True)
class Result:
    crawler: str
    site: str
    served: Served
    usage: Usage

    @property
    def cpu_ms_per_page(self) -> float:
        return 1000 * self.usage.cpu_seconds / max(self.served.pages, 1)


Attempt = Callable[[str], Usage]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks")
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument("--sites", nargs="*", choices=list(PACKAGES), default=list(PACKAGES))
    options.add_argument("--crawlers", nargs="*", default=["ours", "bare loop", "scrapy", "crawlee"])
    options.add_argument("--no-save", action="store_true")
    given = options.parse_args()
    results: list[Result] = []
    with serve() as sites, ours() as crawler:
        attempts = {name: attempt for name, attempt in _attempts(crawler).items() if name in given.crawlers}
        for site in given.sites:
            for _ in range(given.repeats):
                for name, attempt in attempts.items():
                    results.append(_measure(name, attempt, sites, site))
                    _print(results[-1])
    table = _table(results)
    print(f"\n{table}")
    if not given.no_save:
        RESULTS.write_text(_document(table, given.repeats))


def _attempts(crawler: Ours) -> dict[str, Attempt]:
    url = crawler.tools.engine.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def us(seed: str) -> Usage:
        with Usage(crawler.pids) as usage:
            crawler.crawl(crawler.project(seed))
        return usage

    return {
        "ours": us,
        "bare loop": lambda seed: peers.run_bare(seed, url),
        "scrapy": lambda seed: peers.run("scrapy_spider.py", seed),
        "crawlee": lambda seed: peers.run("crawlee_spider.py", seed),
    }


def _measure(name: str, attempt: Attempt, sites: Sites, site: str) -> Result:
    mark = sites.mark()
    usage = attempt(sites.url(site))
    return Result(name, site, sites.measure(mark), usage)


def _print(result: Result) -> None:
    print(
        f"{result.site:<12}{result.crawler:<12}{result.served.pages:>6} pages{result.served.pages_per_second:>9.1f}/s"
        f"{result.cpu_ms_per_page:>9.2f} ms/page{result.usage.peak_megabytes:>8.0f} MB",
        flush=True,
    )


def _table(results: list[Result]) -> str:
    """Medians of the repeats; the ratio is to Scrapy on the same site in the same run."""
    lines = [
        "| site | crawler | pages | pages/s | × Scrapy | CPU ms/page | peak MB | MB of HTML/s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for site in dict.fromkeys(result.site for result in results):
        rows = [result for result in results if result.site == site]
        baseline = _median(rows, "scrapy", lambda r: r.served.pages_per_second)
        for name in dict.fromkeys(result.crawler for result in rows):
            speed = _median(rows, name, lambda r: r.served.pages_per_second) or 0.0
            ratio = f"{speed / baseline:.1f}" if baseline else ""
            cells = (
                site, name,
                f"{_median(rows, name, lambda r: r.served.pages):.0f}",
                f"{speed:.0f}", ratio,
                f"{_median(rows, name, lambda r: r.cpu_ms_per_page):.2f}",
                f"{_median(rows, name, lambda r: r.usage.peak_megabytes):.0f}",
                f"{_median(rows, name, lambda r: r.served.megabytes / (r.served.seconds or 1)):.1f}",
            )  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _median(rows: list[Result], name: str, of: Callable[[Result], float]) -> float | None:
    values = [of(row) for row in rows if row.crawler == name]
    return statistics.median(values) if values else None


def _document(table: str, repeats: int) -> str:
    used = ("celery", "pycurl", "selectolax", "psycopg2-binary")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in used)
    pinned = ", ".join((Path(__file__).parent / "requirements.txt").read_text().split())
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    return _DOCUMENT.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}", repeats=repeats, table=table, machine=machine, versions=versions,
        pinned=pinned,
    )  # fmt: skip


if __name__ == "__main__":
    main()
