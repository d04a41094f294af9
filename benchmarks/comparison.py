"""Crawlers one after the other on the same pages, and the table of how they did."""

import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks import peers
from benchmarks.access_log import Served
from benchmarks.ours import Ours
from benchmarks.peers import HERE, Run
from benchmarks.sites import Sites
from benchmarks.usage import Usage

OURS, BARE, SCRAPY, TUNED, CRAWLEE = "ours", "bare-loop", "scrapy", "scrapy-by-hand", "crawlee"
CRAWLERS = (OURS, BARE, SCRAPY, TUNED, CRAWLEE)

Attempt = Callable[[str], Run]


@dataclass(frozen=True)
class Result:
    crawler: str
    site: str
    pages_per_second: float
    megabytes_per_second: float
    cpu_ms_per_page: float
    peak_megabytes: float
    written: int
    pages: frozenset[tuple[str, str]] = field(repr=False)

    @classmethod
    def of(cls, crawler: str, site: str, served: Served, run: Run) -> "Result":
        cpu = 1000 * run.usage.cpu_seconds / max(len(served.pages), 1)
        return cls(
            crawler, site, served.pages_per_second, served.megabytes_per_second, cpu, run.usage.peak_megabytes,
            run.written, served.pages,
        )  # fmt: skip

    def __str__(self) -> str:
        return (
            f"{self.site:<12}{self.crawler:<16}{len(self.pages):>6} pages{self.pages_per_second:>9.1f}/s"
            f"{self.cpu_ms_per_page:>9.2f} ms/page{self.peak_megabytes:>8.0f} MB"
        )


def attempts(crawler: Ours, wanted: Sequence[str], scrapy: Sequence[str] = (), **config: object) -> dict[str, Attempt]:
    """How each crawler crawls from a seed; `scrapy` are further options of its script, `config` is ours."""

    def us(seed: str) -> Run:
        with Usage(crawler.pids) as usage:
            crawl = crawler.crawl(crawler.project(seed, **config))
        return Run(usage, crawl.pages_crawled)

    def bare(seed: str) -> Run:
        return bare_loop(crawler, seed)

    def peer(script: str, *options: str) -> Attempt:
        def run(seed: str) -> Run:
            with crawler.frozen():
                return peers.run(script, seed, *options)

        return run

    known: Mapping[str, Attempt] = {
        OURS: us,
        BARE: bare,
        SCRAPY: peer("scrapy_spider.py", *scrapy),
        TUNED: peer("scrapy_spider.py", "--by-hand", *scrapy),
        CRAWLEE: peer("crawlee_spider.py"),
    }
    return {name: known[name] for name in wanted}


def bare_loop(crawler: Ours, seed: str) -> Run:
    """It stores in our Postgres, whose work counts as its own."""
    url = crawler.tools.database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    command = [sys.executable, "-m", "benchmarks.bare_loop", seed, url]
    with crawler.frozen():
        usage = peers.watched(command, HERE.parent, also=lambda: [crawler.postgres_pid()])
    with crawler.tools.database.connect() as connection:
        return Run(usage, connection.exec_driver_sql("SELECT count(*) FROM bare_pages").scalar_one())


def measure(name: str, attempt: Attempt, sites: Sites, site: str, seed: str) -> Result:
    mark = sites.mark()
    run = attempt(seed)
    result = Result.of(name, site, sites.measure(mark), run)
    print(f"  {result}", flush=True)
    return result


def table(results: Sequence[Result]) -> str:
    """Medians of the repeats; the ratios are to Scrapy and to the bare loop on the same site in the same run."""
    rows = [
        _row([result for result in results if result.site == site], site, crawler)
        for site, crawler in dict.fromkeys((result.site, result.crawler) for result in results)
    ]
    columns = list(rows[0]) if rows else []
    lines = [columns, ["---", "---", *["--:"] * (len(columns) - 2)], *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _row(results: Sequence[Result], site: str, crawler: str) -> dict[str, str]:
    """`results` are all of the site."""
    mine = [result for result in results if result.crawler == crawler]

    def median(of: Callable[[Result], float]) -> float:
        return statistics.median(map(of, mine))

    speed = median_speed(results, crawler)
    return {
        "site": site,
        "crawler": crawler,
        "pages": f"{median(lambda r: len(r.pages)):,.0f}",
        "pages/s": f"{speed:,.0f}",
        "× Scrapy": ratio(speed, median_speed(results, SCRAPY)),
        "× bare loop": ratio(speed, median_speed(results, BARE)),
        "MB of HTML/s": f"{median(lambda r: r.megabytes_per_second):.1f}",
        "CPU ms/page": f"{median(lambda r: r.cpu_ms_per_page):.2f}",
        "peak MB": f"{median(lambda r: r.peak_megabytes):,.0f}",
    }


def median_speed(rows: Sequence[Result], name: str) -> float:
    speeds = [row.pages_per_second for row in rows if row.crawler == name]
    return statistics.median(speeds) if speeds else 0.0


def ratio(speed: float, other: float) -> str:
    return f"{speed / other:.2f}" if other else "–"


def agreement(results: Sequence[Result]) -> str:
    """Whether all crawled the same pages and wrote each of them down, in sentences."""
    sentences = []
    for site in dict.fromkeys(result.site for result in results):
        rows = [result for result in results if result.site == site]
        told = [_difference(row, rows[0]) for row in rows]
        told += [_unwritten(row) for row in rows]
        odd = list(dict.fromkeys(sentence for sentence in told if sentence))
        who = "all fetched the same" if len({row.crawler for row in rows}) > 1 else f"{rows[0].crawler} fetched"
        same = f"{site}: {who} {len(rows[0].pages):,} pages and wrote down each of them."
        sentences.append(f"{site}: {' '.join(odd)}" if odd else same)
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _difference(row: Result, first: Result) -> str:
    more, fewer = sorted(row.pages - first.pages), sorted(first.pages - row.pages)
    parts = [
        f"{len(pages)} {word} than {first.crawler} (such as {pages[0][1]})"
        for pages, word in ((more, "more"), (fewer, "fewer"))
        if pages
    ]
    return f"{row.crawler} fetched {' and '.join(parts)}." if parts else ""


def _unwritten(row: Result) -> str:
    short = len(row.pages) - row.written
    return f"{row.crawler} wrote down {short} fewer than it fetched." if short > 0 else ""
