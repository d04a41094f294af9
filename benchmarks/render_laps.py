"""Single crawls with and without a browser, and the table of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.ours import Ours
from benchmarks.render_watch import RenderWatch
from benchmarks.sites import Sites
from benchmarks.usage import Usage
from crawler.domain.crawls.crawl import CrawlJob

AUTO, ALWAYS = "auto", "always"


@dataclass(frozen=True)
class Lap:
    """One crawl."""

    site: str
    mode: str
    pages: int
    rendered: int
    seconds: float
    """From the first page's request until the crawl had ended: a rendered page takes longer than its request."""
    cpu_seconds: float = 0.0

    @property
    def speed(self) -> float:
        return self.pages / self.seconds if self.seconds else 0.0

    def __str__(self) -> str:
        return f"{self.site:<12}{self.mode:<8}{self.pages:>6} pages,{self.rendered:>4} in a browser{self.speed:>9.1f}/s"


def lap(
    crawler: Ours, sites: Sites, site: str, mode: str, max_pages: int, watch: RenderWatch | None = None
) -> tuple[Lap, CrawlJob]:
    mark = sites.mark()
    project = crawler.project(sites.url(site), render=mode, max_pages=max_pages)
    with Usage(crawler.pids) as usage:
        crawl = crawler.crawl(project, watch=watch)
    began_ms = min((line.started_ms for line in sites.lines(mark) if line.is_page), default=0)
    ended_ms = 1000 * crawl.completed_at.timestamp() if crawl.completed_at else 0
    seconds = max(0, ended_ms - began_ms) / 1000
    done = Lap(site, mode, crawl.pages_crawled, crawl.rendered, seconds, usage.cpu_seconds)
    print(f"  {done}", flush=True)
    return done, crawl


def ratios(laps: Sequence[Lap]) -> dict[Lap, float]:
    """How many times as fast as `always` on the same site; sites without that are left out."""
    always = {one.site: one.speed for one in laps if one.mode == ALWAYS and one.speed}
    return {one: one.speed / always[one.site] for one in laps if one.site in always}


def table(laps: Sequence[Lap]) -> str:
    known = ratios(laps)
    head = ("site", "render", "pages", "in a browser", "pages/s", "× always", "CPU ms/page")
    lines = [f"| {' | '.join(head)} |", "|---|---|--:|--:|--:|--:|--:|"]
    for one in laps:
        ratio = f"{known[one]:,.0f}" if one in known else "–"
        cpu = f"{1000 * one.cpu_seconds / max(1, one.pages):,.1f}"
        cells = (one.site, one.mode, f"{one.pages:,}", f"{one.rendered:,}", f"{one.speed:,.1f}", ratio, cpu)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
