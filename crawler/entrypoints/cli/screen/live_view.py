"""Live view of a running crawl: redrawn in place on a terminal, elsewhere a line every few seconds."""

import time
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.crawls.frontier import HostWait, Wait
from crawler.domain.crawls.host_waits import HELD, by_host, seconds_left
from crawler.domain.reason_words import name_of
from crawler.domain.reasons import FAILED, SKIPPED
from crawler.entrypoints.cli.screen.crawl_snapshot import CrawlSnapshot
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.terminal_text import clock, cut, fit, fit_url, path_of

LINE_SECONDS = 5.0
"""Seconds between two lines where nothing can be redrawn."""
NARROW = 60
WIDEST = 110
"""The widest view: columns that are further apart are hard to read."""
HEAD_LINES = 2
MOST_PAGES = 8
MOST_HOSTS = 4

_WHY = {
    Wait.READY: "ready",
    Wait.GAP: "keeping its delay",
    Wait.BLOCKED: "held back after errors",
    Wait.ROBOTS: "robots.txt first",
    Wait.PAUSED: "paused",
    Wait.HOST_CAP: "all its slots are taken",
    Wait.CRAWL_CAP: "all slots are taken",
    Wait.BUDGET: "as many under way as pages may still come",
    Wait.RETRY: "will be tried again",
}


class LiveView:
    """Writes to stderr, because stdout is for the command's result."""

    def __init__(
        self, title: str, *, quiet: bool, console: Console | None = None, opening: str = "Starting a crawl of"
    ) -> None:
        self._title = title
        self._opening = opening
        self._quiet = quiet
        self._console = console or Stderr()
        redraws = self._console.is_terminal and not self._console.is_dumb_terminal
        self._lines = not redraws and not quiet
        self._live = Live(console=self._console, auto_refresh=False, transient=True) if redraws else None
        self._next_line = time.monotonic() + LINE_SECONDS

    def __enter__(self) -> Self:
        self.say(f"{self._opening} {self._title} …")
        if self._live:
            self._live.start()
            self._live.update(Text(f"{self._opening} {fit_url(self._title, 60)} …", "dim"), refresh=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        if self._live:
            self._live.update(Text(""))
            self._live.stop()

    def say(self, sentence: str) -> None:
        """Print a sentence, only where the view is not redrawn."""
        if self._lines:
            self._console.print(fit(sentence, 10_000), soft_wrap=True)

    def warn(self, sentence: str) -> None:
        """Print a sentence that stays above the view."""
        self._console.print(fit(sentence, 10_000), style="yellow", soft_wrap=True)

    def note(self, sentence: str) -> None:
        """As a warning, of something that is as it should be."""
        if not self._quiet:
            self._console.print(fit(sentence, 10_000), style="dim", soft_wrap=True)

    def show(self, seen: CrawlSnapshot) -> None:
        if self._live:
            self._live.update(draw(seen, self._console.width, self._console.height, self._title), refresh=True)
        elif time.monotonic() >= self._next_line:
            self._next_line = time.monotonic() + LINE_SECONDS
            self.say(one_line(seen))


def one_line(seen: CrawlSnapshot) -> str:
    crawl = seen.crawl
    parts = [
        f"{clock(seen.seconds)}: {crawl.pages_crawled} pages ({seen.pages_per_second:.1f}/s)",
        f"{seen.queued} queued",
        f"{crawl.pages_failed} failed",
        f"{crawl.pages_skipped} skipped",
    ]
    held = [wait for wait in seen.waits if wait.why in HELD]
    if held and not seen.under_way:
        parts.append(f"{held[0].host} {_why(held[0], crawl.config)}")
    return ", ".join(parts)


def draw(seen: CrawlSnapshot, width: int, height: int, title: str | None = None) -> RenderableType:
    """Draw the view. No line is longer than `width`. If `height` is too small, the pages are left out first."""
    width = min(width, WIDEST)
    counts = _counts(seen, width)
    room = height - HEAD_LINES - 1 - counts.plain.count("\n") - 1
    reasons = _reasons(seen, width)[: max(0, room)]
    room -= len(reasons)
    hosts = _spaced(_hosts(seen, width), room)
    room -= len(hosts)
    pages = _spaced(_pages(seen, width, min(MOST_PAGES, room - 1)), room)
    return Group(_head(seen, width, title or seen.crawl.seed_url), counts, *reasons, *hosts, *pages)


def _spaced(lines: list[RenderableType], room: int) -> list[RenderableType]:
    """The lines after an empty one, if there is room for both."""
    return [Text(), *lines][:room] if lines and room > 1 else []


def _head(seen: CrawlSnapshot, width: int, title: str) -> RenderableType:
    """The head: site and elapsed time, and below them the progress."""
    time_spent = clock(seen.seconds)
    head = Table.grid(expand=False)
    head.width = width
    head.add_column(ratio=1, no_wrap=True)
    head.add_column(justify="right", no_wrap=True)
    head.add_row(Text(fit_url(title, width - len(time_spent) - 2), "bold"), Text(time_spent, "dim"))
    share = f" {int(seen.percentage):3d} %"
    bar = ProgressBar(100, seen.percentage, width=width - len(share), complete_style="cyan", finished_style="cyan")
    head.add_row(bar, Text(share))
    return head


def _counts(seen: CrawlSnapshot, width: int) -> Text:
    crawl = seen.crawl
    known = seen.estimated_total if crawl.pages_crawled else 0
    pages = (f"{crawl.pages_crawled}", "bold"), (f" of {known}" if known > crawl.pages_crawled else "", "dim"), " pages"
    parts = [
        Text.assemble(*pages),
        Text(f"{seen.pages_per_second:.1f}/s"),
        Text(f"{seen.queued} queued"),
        Text(f"{seen.under_way} under way"),
        Text(f"{crawl.pages_failed} failed", "red" if crawl.pages_failed else "dim"),
        Text(f"{crawl.pages_skipped} skipped", "" if crawl.pages_skipped else "dim"),
    ]
    gap = "   " if width > NARROW + 10 else "  "
    return _joined(parts, gap, width)


def _joined(parts: list[Text], gap: str, width: int) -> Text:
    """Join parts on one line, or on several if the width is too small."""
    lines, line = [], Text()
    for part in parts:
        if line and len(line) + len(gap) + len(part) > width:
            lines.append(line)
            line = Text()
        line = Text.assemble(line, gap, part) if line else part
    return Text("\n").join([*lines, line])


def _reasons(seen: CrawlSnapshot, width: int) -> list[RenderableType]:
    lines: list[RenderableType] = []
    for word, style, group in (("failed", "red", FAILED), ("skipped", "dim", SKIPPED)):
        told = {reason: n for reason, n in seen.reasons.items() if reason in group}
        most = sorted(told.items(), key=lambda item: (-item[1], item[0]))
        if most:
            text = ", ".join(f"{n} {name_of(reason)}" for reason, n in most)
            lines.append(Text(fit(f"{word}: {text}", width), style, no_wrap=True, overflow="crop"))
    return lines


def _hosts(seen: CrawlSnapshot, width: int) -> list[RenderableType]:
    """The hosts with queued URLs. Blocked and paused hosts come first, because people ask why nothing happens there."""
    waits = by_host(seen.waits)[:MOST_HOSTS]
    longest = min(max((len(wait.host) for wait in waits), default=0), width // 3)
    return [_host(wait, seen.crawl.config, longest, width) for wait in waits]


def _host(wait: HostWait, config: CrawlConfig, longest: int, width: int) -> RenderableType:
    name = f"{fit(wait.host, longest):<{longest}}"
    waiting = f"{wait.queued:>5} waiting" if width >= NARROW else f"{wait.queued:>4}"
    line = cut(f"{name}  {waiting}  {_why(wait, config)}", width)
    return Text(line, "yellow" if wait.why in HELD else "dim", no_wrap=True, overflow="crop")


def _why(wait: HostWait, config: CrawlConfig) -> str:
    left = seconds_left(wait, config.delay_seconds)
    why = _WHY[wait.why]
    if wait.why in (Wait.BLOCKED, Wait.RETRY):
        why += f", for {clock(config.patience_seconds)} at most"
    return why if left is None else f"{clock(left)} left: {why}"


def _pages(seen: CrawlSnapshot, width: int, room: int) -> list[RenderableType]:
    """The latest pages, always the same number of lines, so that the view does not jump."""
    if room < 1:
        return []
    own = urlsplit(seen.crawl.seed_url).netloc
    lines: list[RenderableType] = [_page(page, width, own) for page in seen.pages[-room:]]
    return lines + [Text() for _ in range(room - len(lines))] if lines else []


def _page(page: dict[str, Any], width: int, own: str) -> Text:
    """A page with status, URL and title or reason. A narrow terminal shows no title."""
    code = str(page["http_status"] or "–")
    url = path_of(page["url"]) if urlsplit(page["url"]).netloc == own else page["url"]
    said = page["title"] or (name_of(page["reason"]) if page["reason"] else "")
    room = width - 5
    if width < NARROW or not said:
        return Text.assemble((f"{code:>3}  ", _colour(page)), fit_url(url, room), no_wrap=True, overflow="crop")
    left = room * 3 // 5
    where = fit_url(url, left)
    what = fit(said, room - max(len(where), min(left, 40)) - 2)
    gap = " " * (max(len(where), min(left, 40)) - len(where) + 2)
    return Text.assemble((f"{code:>3}  ", _colour(page)), where, gap, (what, "dim"), no_wrap=True, overflow="crop")


def _colour(page: dict[str, Any]) -> str:
    return {"success": "green", "failed": "red"}.get(page["status"], "yellow")
