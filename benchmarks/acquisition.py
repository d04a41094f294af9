"""The acquisition queue: a million rows of CSV in and out, and 2,000 hosts worked off, read and handed on."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.polite import pages
from benchmarks.sites import Mount, Sites, serve
from crawler.bootstrap import build
from crawler.config import load_settings
from crawler.domain.acquisition.entries import ACQUISITION_ID, QueueFilter
from crawler.domain.acquisition.entry_choices import Sort
from crawler.domain.acquisition.queue_csv import as_csv

TITLE = "The acquisition queue"
ROWS = 1_000_000
HOSTS = 2_000
PER_HOST = 3
DELAY_SECONDS = 5.0
"""Between two requests to a host: the whole queue cannot be done sooner than the gaps of one host."""
DEAD = "http://127.255.255.254:9"
_CHUNK = 64 * 1024


@dataclass(frozen=True)
class Outcome:
    rows: int
    megabytes: float
    import_seconds: float
    again_seconds: float
    import_peak_mb: float
    export_seconds: float
    list_ms: dict[str, float]
    hosts: int
    entries: int
    work_seconds: float
    done_seconds: float
    dead_left: int
    smallest_gap: float


def run(options: Options) -> str:
    rows, hosts = options.size(ROWS, 20_000), options.size(HOSTS, 50)
    with tempfile.TemporaryDirectory(prefix="bench-queue-") as folder, ours(up=True) as crawler:
        file = write_rows(Path(folder) / "rows.csv", rows)
        size = file.stat().st_size / 1e6
        first, again = (import_file(crawler, file) for _ in range(2))
        assert (first["added"], again["duplicates"]) == (rows, rows)
        export_seconds = export(crawler)
        list_ms = {sort.value: list_milliseconds(crawler, sort) for sort in Sort}
    with (
        pages() as root,
        serve(Mount("queue", root, hosts)) as sites,
        ours(up=True, ingest=True, queue_concurrency=10_000) as crawler,
    ):
        entries, seconds, done, dead, gap = work_off(crawler, sites, options.size(PER_HOST, 2))
    return table(
        Outcome(
            rows, size, first["seconds"], again["seconds"], max(first["peak_mb"], again["peak_mb"]), export_seconds,
            list_ms, hosts, entries, seconds, done, dead, gap,
        )
    )  # fmt: skip


def write_rows(file: Path, rows: int) -> Path:
    with file.open("w") as out:
        out.write("url,category,priority\n")
        out.writelines(
            f"https://host{number % 50_000}.example/places/{number}?id={number},{('hotel', 'bar')[number % 2]},"
            f"{number % 10}\n"
            for number in range(rows)
        )
    return file


def import_file(crawler: Ours, file: Path) -> dict[str, float]:
    """In a process of its own: its memory is what is measured."""
    url = crawler.tools.settings.database_url
    assert url is not None
    command = [sys.executable, "-m", "benchmarks.acquisition", url.get_secret_value(), str(file)]
    told: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    print(f"  {told}", flush=True)
    return told


def _import_here(database_url: str, file: str) -> None:
    tools = build(load_settings(database_url=database_url, redis_url="redis://127.0.0.1:1/0"))
    began = time.monotonic()
    with Path(file).open("rb") as opened:
        report = tools.acquisition.fill_queue.whole_file(iter(lambda: opened.read(_CHUNK), b""))
    seconds = time.monotonic() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**report.model_dump(exclude={"problems"}), "seconds": seconds, "peak_mb": peak}))


def export(crawler: Ours) -> float:
    began = time.monotonic()
    assert sum(map(len, as_csv(crawler.tools.acquisition.queue.rows(QueueFilter())))) > 0
    return time.monotonic() - began


def list_milliseconds(crawler: Ours, sort: Sort) -> float:
    """The slowest of ten first pages of the list."""
    times = []
    for _ in range(10):
        began = time.monotonic()
        assert len(crawler.tools.acquisition.queue.list_entries(QueueFilter(), sort, None, 51)) == 51
        times.append(time.monotonic() - began)
    return max(times) * 1000


def work_off(crawler: Ours, sites: Sites, per_host: int) -> tuple[int, float, float, int, float]:
    """All hosts at once, one of them dead; the time until all others are fetched, and until all of those are read."""
    tools = crawler.tools
    urls = [f"{url.rstrip('/')}/?part={number}" for url in sites.urls("queue") for number in range(per_host)]
    dead = [f"{DEAD}/{number}" for number in range(per_host)]
    tools.acquisition.fill_queue.add(dead, priority=0)
    tools.acquisition.fill_queue.add(urls)
    settings = {"render": "never", "delay_seconds": DELAY_SECONDS}
    tools.projects.manage.change(ACQUISITION_ID, {"settings": settings})
    mark, began = sites.mark(), time.monotonic()
    tools.acquisition.run_queue()
    counts = _wait(crawler, began, len(urls), "fetched", "extracting", "done")
    seconds = time.monotonic() - began
    dead_left = counts["fetching"] + counts["failed"] + counts["pending"]
    _wait(crawler, began, len(urls), "done")
    done = time.monotonic() - began
    return len(urls), seconds, done, dead_left, _smallest_gap(sites, mark)


def _wait(crawler: Ours, began: float, entries: int, *states: str) -> dict[str, int]:
    while sum((counts := crawler.tools.acquisition.queue.counts())[state] for state in states) < entries:
        if time.monotonic() - began > 300:
            raise SystemExit(f"The queue was not worked off: {counts}")
        crawler.attend(0.2)
    return counts


def _smallest_gap(sites: Sites, mark: int) -> float:
    by_host: dict[str, list[float]] = {}
    for line in sites.lines(mark):
        by_host.setdefault(line.host, []).append(line.started_ms / 1000)
    return min((_gap(times) for times in by_host.values()), default=float("inf"))


def _gap(times: Sequence[float]) -> float:
    ordered = sorted(times)
    return min((b - a for a, b in pairwise(ordered)), default=float("inf"))


def table(outcome: Outcome) -> str:
    listed = ", ".join(f"{outcome.list_ms[sort.value]:.0f}" for sort in Sort)
    return f"""{outcome.rows:,} rows of CSV ({outcome.megabytes:.0f} MB, 50,000 hosts) into an empty queue, the same
file once more, and all of it out again. Then {outcome.entries:,} entries of {outcome.hosts:,} hosts and of one that is
dead, with {DELAY_SECONDS:g} s between two requests to a host (robots.txt counts as one).

| | |
|---|--:|
| import | {outcome.import_seconds:.1f} s |
| the same file again: all duplicates | {outcome.again_seconds:.1f} s |
| memory of the importing process, most | {outcome.import_peak_mb:.0f} MB |
| export | {outcome.export_seconds:.1f} s |
| first page of the list, slowest of ten: oldest, newest, by priority | {listed} ms |
| all entries of living hosts fetched after | {outcome.work_seconds:.1f} s |
| all of them read by the default extractor, `done` | {outcome.done_seconds:.1f} s |
| the least the gaps allow | {DELAY_SECONDS * outcome.entries / outcome.hosts:.0f} s |
| entries of the dead host not done by then | {outcome.dead_left} |
| smallest gap at a host, by the server's log | {outcome.smallest_gap:.2f} s |"""


if __name__ == "__main__":
    _import_here(*sys.argv[1:])
