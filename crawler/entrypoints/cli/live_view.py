"""What a person sees while a crawl runs, and when it is over."""

from types import TracebackType
from typing import Any, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from crawler.bootstrap import App
from crawler.domain.crawls import CrawlJob
from crawler.telemetry import redact

HOSTS_SHOWN = 5


class LiveView:
    """On a terminal it redraws in place; piped, or asked to be quiet, it prints nothing until the summary."""

    def __init__(self, tools: App, crawl: CrawlJob, *, quiet: bool) -> None:
        self._tools = tools
        self._crawl = crawl
        self._console = Console(stderr=True)
        self._on = self._console.is_terminal and not quiet
        self._live = Live(console=self._console, refresh_per_second=5, transient=True) if self._on else None
        self._highest = 0.0

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
            self._live.update(Text(f"Starting a crawl of {self._crawl.seed_url} …"))
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        if self._live:
            self._live.stop()

    def show(self, crawl: CrawlJob) -> None:
        if self._live:
            self._live.update(self._draw(crawl))

    def _draw(self, crawl: CrawlJob) -> RenderableType:
        stats = self._tools.frontier.stats(crawl.id)
        queued = stats.queued if stats else 0
        leased = stats.leased if stats else 0
        total = min(crawl.config.max_pages, crawl.pages_crawled + queued + leased) or crawl.config.max_pages
        self._highest = max(self._highest, min(crawl.pages_crawled / total * 100, 99.9))
        seconds = (self._tools.clock() - crawl.started_at).total_seconds() if crawl.started_at else 0.0
        rate = crawl.pages_crawled / seconds if seconds > 0 else 0.0
        line = Text.assemble(
            (f"{crawl.pages_crawled}", "bold"), " pages  ",
            f"{rate:.1f}/s  {queued} queued  {leased} under way  ",
            (f"{crawl.pages_failed} failed", "red" if crawl.pages_failed else "dim"),
            f"  {crawl.pages_skipped} skipped",
        )  # fmt: skip
        bar = Table.grid()  # a bare bar would not end its line
        bar.add_row(ProgressBar(100, self._highest, width=min(60, self._console.width)))
        return Group(Text(redact(crawl.seed_url), "bold"), bar, line, *self._hosts(crawl))

    def _hosts(self, crawl: CrawlJob) -> list[RenderableType]:
        rows = [wait for wait in self._tools.frontier.waiting(crawl.id, HOSTS_SHOWN) if wait.queued]
        lines: list[RenderableType] = []
        for wait in rows:
            due = f" for {wait.due_seconds:.0f} s" if wait.due_seconds and wait.due_seconds >= 1 else ""
            lines.append(Text(f"  {wait.host}  {wait.queued} waiting: {wait.why.value}{due}", "dim"))
        return lines


def summary_table(summary: dict[str, Any]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in summary.items():
        told = _changes(value) if name == "change_summary" else value
        if told is not None:
            table.add_row(name.replace("_", " "), escape(str(told)))
    return table


def _changes(change: dict[str, Any] | None) -> str | None:
    if change is None:
        return None
    counts = change["summary"]
    told = [f"{counts[f'{kind}_pages']} {kind}" for kind in ("new", "changed", "removed", "unchanged")]
    return ", ".join(told)
