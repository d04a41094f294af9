"""`crawler crawl`: show, list, pause, resume, cancel and retry crawls.

Decided in `control_crawl.py`, `retry_failed.py` and `rebuild_frontier.py` in `handlers/crawls`.
"""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import open_crawl, project_named
from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.input.names import LATEST, CrawlName, ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import LazyModule, on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import watch as watching
else:
    watching = LazyModule("crawler.entrypoints.cli.actions.watch")

with on_first_use():
    from rich.text import Text

    from crawler.domain.changes.listed_summary import short_changes
    from crawler.domain.crawls.crawl import CrawlJob
    from crawler.entrypoints.cli.screen.crawl_page import crawl_lines, state
    from crawler.entrypoints.cli.screen.next_step import after_crawl
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_pairs, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count


crawls = typer.Typer(no_args_is_help=True)

MOST_CRAWLS = 50
AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]


@crawls.command()
def status(named: CrawlName = LATEST, as_json: AsJson = False) -> None:
    """Where a crawl stands."""
    with open_crawl(named) as (backend, crawl_id):
        crawl = backend.get_crawl(crawl_id)
        queued = backend.queued(crawl)
    if as_json:
        row = crawl.model_dump(mode="json", exclude={"config", "change_summary"})
        echo(json.dumps({**row, "queued": queued}, indent=2))
        return
    print_pairs(console(), crawl_lines(crawl, queued, datetime.now(UTC)))
    after_crawl(crawl, named)


@crawls.command("list")
def list_crawls(
    project: ProjectName = "",
    as_json: AsJson = False,
) -> None:
    """A project's crawls, or those of all projects, newest first."""
    with open_backend() as backend:
        found = backend.list_crawls(project_named(backend, project)) if project else backend.newest_crawls(MOST_CRAWLS)
    if as_json:
        echo(json.dumps([_shown(crawl) for crawl in found], indent=2))
        return
    if not found:
        echo("This project has not been crawled yet." if project else "There is no crawl yet.")
        return
    headings = ("id", "type", "status", "pages", "failed", "skipped", "started", "website")[: 7 if project else 8]
    rows = (_row(crawl)[: len(headings)] for crawl in found)
    print_rows(console(), headings, rows, right=("pages", "failed", "skipped"), cut=("website",))
    after_crawl(found[0], project or LATEST)


def _shown(crawl: CrawlJob) -> dict[str, Any]:
    """A crawl as JSON without long lists of URLs: 'crawler changes' shows those."""
    row = crawl.model_dump(mode="json", exclude={"config"})
    return {**row, "change_summary": short_changes(crawl.change_summary)}


def _row(crawl: CrawlJob) -> "list[str | Text | UUID]":
    counts = (f"{n:,}" for n in (crawl.pages_crawled, crawl.pages_failed, crawl.pages_skipped))
    began, website = moment(crawl.started_at)[:-3], clean(crawl.seed_url)
    return [crawl.id, crawl.crawl_type.replace("_", " "), state(crawl), *counts, began, website]


@crawls.command()
def cancel(named: CrawlName) -> None:
    """End a crawl now; its pages are kept."""
    with open_crawl(named) as (backend, crawl_id):
        crawl = backend.cancel(crawl_id)
    echo(f"Crawl {crawl_id} is cancelled after {count(crawl.pages_crawled, 'page')}.")


@crawls.command()
def pause(named: CrawlName) -> None:
    """Start no request until it is resumed."""
    with open_crawl(named) as (backend, crawl_id):
        backend.pause(crawl_id)
    echo(f"Crawl {crawl_id} is paused.")


@crawls.command()
def resume(named: CrawlName) -> None:
    """Go on with a paused crawl."""
    with open_crawl(named) as (backend, crawl_id):
        backend.resume(crawl_id)
    echo(f"Crawl {crawl_id} goes on where workers run ('crawler up', or the same 'crawler run').")


@crawls.command("retry-failed")
def retry_failed(named: CrawlName) -> None:
    """Give failed URLs another chance: in their crawl while it runs, else in a new one that fetches just them."""
    with open_crawl(named) as (backend, crawl_id):
        retried = backend.retry_failed(crawl_id)
    if retried.urls == 0:
        echo(f"Nothing failed in crawl {crawl_id}.")
    else:
        verb = "is" if retried.urls == 1 else "are"
        echo(f"{count(retried.urls, 'URL')} {verb} queued again in crawl {retried.crawl_id}.")


def rebuild_frontier(named: CrawlName) -> None:
    """Fill a running crawl's frontier in Redis anew, from Postgres alone."""
    with open_crawl(named) as (backend, crawl_id):
        queued = backend.rebuild_frontier(crawl_id)
    echo(f"The frontier of crawl {crawl_id} is rebuilt: {queued} URLs wait.")


@crawls.command(short_help="Look on until it is over.")
def watch(named: CrawlName = LATEST, as_json: AsJson = False) -> None:
    """Watch a crawl until it is over; Ctrl-C ends the watching, not the crawl.

    With --json each event is a line, from the first one that is still kept to the last.
    """
    watching.watch_crawl(named, as_json=as_json)
