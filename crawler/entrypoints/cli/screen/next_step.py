"""The next useful command after a result: one dim line on a terminal, nothing in pipes and files."""

import shlex
import sys

from rich.console import Console
from rich.text import Text

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.crawls.project import Project

_COUNTS = ("new_pages", "changed_pages", "removed_pages")


def suggest(*words: str, to: str) -> None:
    """Name a command, its arguments quoted for a shell, and what it is good for."""
    if sys.stdout.isatty():
        screen = Console(highlight=False, markup=False)
        screen.print(Text(f"Next: {shlex.join(('crawler', *words))}  ({to})", "dim"), soft_wrap=True)


def after_crawl(crawl: CrawlJob, name: str) -> None:
    """What to look at when a crawl is over, or what to do while it is not. `name`: how the crawl was named."""
    named = () if name == "latest" else (name,)
    if not crawl.status.is_over:
        if crawl.paused:
            suggest("crawl", "resume", str(crawl.id), to="go on with it")
        else:
            suggest("crawl", "watch", *named, to="look on until it is over")
    elif crawl.status is CrawlStatus.FAILED:
        suggest("explain", str(crawl.id), crawl.seed_url, to="why the first page could not be fetched")
    elif _has_changes(crawl):
        suggest("changes", *named, to="what changed in their text")
    elif crawl.pages_crawled:
        suggest("report", *named, to="broken links, redirects, titles and more")


def after_changes(crawl: CrawlJob, project: Project, *, scheduled: bool) -> None:
    """`scheduled`: whether the project is crawled again by itself."""
    if _has_changes(crawl) and not scheduled:
        daily = ("schedule", "set", project.name, "--frequency", "daily", "--email", "ADDRESS")
        suggest(*daily, to="check it every day, and mail what changed")
    elif _has_changes(crawl):
        suggest("noise", "add", project.name, "--selector", "CSS", to="leave out what changes by itself")
    elif crawl.compared_to is None and crawl.status.is_over:
        again = ("run", crawl.seed_url) if project.name == crawl.seed_url else ("schedule", "run-now", project.name)
        suggest(*again, to="crawl it again, to compare")


def _has_changes(crawl: CrawlJob) -> bool:
    found = crawl.change_summary
    return found is not None and bool(found.get("moved_pages") or any(found["summary"].get(name) for name in _COUNTS))
