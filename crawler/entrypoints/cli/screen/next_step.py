"""The next useful command after a result: one dim line on a terminal, nothing in pipes and files."""

import shlex
import sys

from rich.cells import cell_len
from rich.text import Text

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType
from crawler.domain.crawls.project import Project
from crawler.entrypoints.cli.screen.clean_console import CleanConsole

_COUNTS = ("new_pages", "changed_pages", "removed_pages")


def command_line(*words: str) -> str:
    """A command with its arguments quoted for a shell."""
    return shlex.join(("crawler", *words))


def suggest(*words: str, to: str) -> None:
    """Name a command and what it is good for, on a line of its own where both do not fit: it is copied whole."""
    if sys.stdout.isatty():
        screen = CleanConsole()
        command, use = f"Next: {command_line(*words)}", f"({to})"
        gap = "  " if cell_len(command) + len(use) + 2 <= screen.width else f"\n{'':<6}"
        screen.print(Text(f"{command}{gap}{use}", "dim"), soft_wrap=True)


def after_crawl(crawl: CrawlJob, name: str, changed: str = "what changed, line by line") -> None:
    """What to look at when a crawl is over, or what to do while it is not. `name`: how the crawl was named."""
    named = () if name == "latest" else (name,)
    if not crawl.status.is_over:
        if crawl.paused:
            suggest("crawl", "resume", name, to="go on with it")
        else:
            suggest("crawl", "watch", *named, to="look on until it is over")
    elif crawl.status is CrawlStatus.FAILED:
        suggest("explain", name, crawl.seed_url, to="why the first page could not be fetched")
    elif _has_changes(crawl):
        suggest("changes", *named, to=changed)
    elif crawl.pages_crawled:
        suggest("report", *named, to="broken links, redirects, titles and more")


def after_run(crawl: CrawlJob) -> None:
    """After 'crawler run': its first crawl has nothing to compare with, so it says how a change is noticed."""
    if crawl.compared_to is None and crawl.pages_crawled and crawl.crawl_type is not CrawlType.FETCH_ONLY:
        daily = "check it daily, and be told; or run it again later to see what changed"
        suggest("watch", crawl.seed_url, "--site", to=daily)
    else:
        after_crawl(crawl, "latest", changed="all that changed, line by line")


def after_changes(crawl: CrawlJob, project: Project, *, scheduled: bool) -> None:
    """`scheduled`: whether the project is crawled again by itself."""
    if _has_changes(crawl) and not scheduled:
        by_name = ("schedule", "set", project.name, "--frequency", "daily")
        by_url = ("watch", crawl.seed_url, "--site")  # what 'crawler run' names, too
        daily = by_url if project.name == crawl.seed_url else by_name
        suggest(*daily, "--email", "ADDRESS", to="check it every day, and mail what changed")
    elif _has_changes(crawl):
        suggest("noise", "add", project.name, "--selector", "CSS", to="leave out what changes by itself")
    elif crawl.compared_to is None and crawl.status.is_over:
        again = ("run", crawl.seed_url) if project.name == crawl.seed_url else ("schedule", "run-now", project.name)
        suggest(*again, to="crawl it again, to compare")


def _has_changes(crawl: CrawlJob) -> bool:
    found = crawl.change_summary
    return found is not None and bool(found.get("moved_pages") or any(found["summary"].get(name) for name in _COUNTS))
