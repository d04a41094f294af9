"""The same project again, with nothing changed: the server answers 304."""

import statistics
from dataclasses import dataclass

from benchmarks.access_log import Served
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.sites import Sites, manual, serve

TITLE = "Unchanged re-crawl"


@dataclass(frozen=True)
class Pair:
    """A first crawl and the next one."""

    site: str
    first: Served
    again: Served

    @property
    def ratio(self) -> float:
        return self.again.pages_per_second / self.first.pages_per_second if self.first.seconds else 0.0


def run(options: Options) -> str:
    pairs = []
    with serve(*(manual(site) for site in options.sites)) as sites, ours() as crawler:
        for site in options.sites:
            crawler.warm(sites.url(site))
            pages = options.size(1_000_000, 200)
            pairs += [_measure(crawler, sites, site, pages) for _ in range(options.repeats)]
    return f"Medians of {options.repeats} repeats, each a new project that is crawled twice.\n\n{table(pairs)}"


def _measure(crawler: Ours, sites: Sites, site: str, max_pages: int) -> Pair:
    project = crawler.project(sites.url(site), max_pages=max_pages)
    served = []
    for _ in range(2):
        mark = sites.mark()
        crawl = crawler.crawl(project)
        served.append(sites.measure(mark))
        # What a crawl leaves to be done when it is over is not part of the next one.
        crawler.tools.crawls.report.ensure(crawl.id)
        crawler.attend(2)
    pair = Pair(site, *served)
    print(
        f"  {site:<12}first {pair.first.pages_per_second:.1f}/s, again {pair.again.pages_per_second:.1f}/s, "
        f"{pair.again.not_modified} of {len(pair.again.pages)} not modified, × {pair.ratio:.2f}",
        flush=True,
    )
    return pair


def table(pairs: list[Pair]) -> str:
    lines = ["| site | pages | answered 304 | first, pages/s | again, pages/s | × first |", "|---|--:|--:|--:|--:|--:|"]
    for site in dict.fromkeys(pair.site for pair in pairs):
        mine = [pair for pair in pairs if pair.site == site]
        cells = (
            site,
            f"{statistics.median(len(pair.again.pages) for pair in mine):.0f}",
            f"{statistics.median(pair.again.not_modified for pair in mine):.0f}",
            f"{statistics.median(pair.first.pages_per_second for pair in mine):.0f}",
            f"{statistics.median(pair.again.pages_per_second for pair in mine):.0f}",
            f"{statistics.median(pair.ratio for pair in mine):.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
