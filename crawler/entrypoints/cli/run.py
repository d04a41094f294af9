"""`crawler run`: one crawl end to end on this machine."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from crawler.bootstrap import App
from crawler.domain.crawls import CrawlJob, CrawlStatus, IncludeMode, QueryParams
from crawler.domain.projects import Project
from crawler.domain.urls import Url, parse
from crawler.entrypoints.cli.live_view import LiveView, summary_table
from crawler.entrypoints.cli.projects import valid_project
from crawler.entrypoints.cli.session import session
from crawler.entrypoints.stack import crawl_processes
from crawler.errors import CrawlRunning, Invalid
from crawler.handlers.start_crawl import valid_config
from crawler.supervisor import FileOutput, Supervisor

LOOK_SECONDS = 0.2
RUN_SECONDS = 3600
"""One hour, unlike a scheduled crawl's day: somebody is waiting."""
DIFF_PATIENCE_SECONDS = 20.0
SUMMARY_FIELDS = (
    "status", "end_reason", "pages_crawled", "pages_failed", "pages_skipped", "total_discovered", "lightweight",
    "rendered",
)  # fmt: skip


def run(
    url: Annotated[str, typer.Argument(help="Where the crawl begins, e.g. https://example.org/", show_default=False)],
    max_pages: Annotated[int | None, typer.Option(help="Stop after so many stored pages [default: 200].")] = None,
    depth: Annotated[int | None, typer.Option(help="Follow links so far from URL [default: no limit].")] = None,
    include: Annotated[list[str] | None, typer.Option(help="Crawl only URLs that match; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(help="Never crawl URLs that match; may be repeated.")] = None,
    include_mode: Annotated[IncludeMode | None, typer.Option(help="'prefer': others too, but later.")] = None,
    query_params: Annotated[QueryParams | None, typer.Option(help="Which query parameters tell pages apart.")] = None,
    delay: Annotated[float | None, typer.Option(help="Seconds between requests to a host [default: 0.5].")] = None,
    concurrency: Annotated[int | None, typer.Option(help="Requests in flight at most [default: 5].")] = None,
    ignore_robots: Annotated[bool, typer.Option("--ignore-robots", help="Do not ask robots.txt.")] = False,
    urls_file: Annotated[Path | None, typer.Option(help="Fetch just the URLs in this file, one a line.")] = None,
    project: Annotated[str | None, typer.Option(help="Name of the project [default: the URL].")] = None,
    workers: Annotated[int | None, typer.Option(min=1, max=64, help="Fetch processes [default: one a core].")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object for programs.")] = False,
) -> None:
    """Crawl one website on this machine: starts what is not configured, shows progress, stops what it started.

    The same URL (or --project) again crawls the same project again and tells what changed.
    """
    seed = parse(url)
    given: dict[str, Any] = {
        "max_pages": max_pages,
        "max_depth": depth,
        "include_patterns": include,
        "exclude_patterns": exclude,
        "include_mode": include_mode,
        "query_params": query_params,
        "delay_seconds": delay,
        "max_concurrent": concurrency,
        "respect_robots_txt": False if ignore_robots else None,
    }
    config = {name: value for name, value in given.items() if value is not None}
    valid_config(config)  # before anything is started or made
    urls = _read_urls(urls_file) if urls_file else []
    with session() as tools:
        crawl = _start(tools, _project(tools, project or seed.href, seed), seed, config, urls)
        view = LiveView(tools, crawl, quiet=as_json)
        with _workers(tools, workers or tools.settings.fetch_concurrency or os.cpu_count() or 1) as supervisor:
            crawl = _watch(tools, supervisor, crawl, view)
        _tell(crawl, as_json=as_json)
    if crawl.status is not CrawlStatus.COMPLETED:
        raise typer.Exit(1)


def _typed(seed: Url) -> tuple[str, int]:
    """The host and port the user typed: it may be reached, whatever its address. Nothing else is opened."""
    port = seed.host.removeprefix(seed.hostname).removeprefix(":")
    return seed.hostname, int(port or (443 if seed.scheme == "https" else 80))


def _read_urls(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise Invalid(f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'it is not UTF-8 text'}.") from exc
    urls = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not urls:
        raise Invalid(f"{path} names no URL; write one a line.")
    return urls


def _project(tools: App, name: str, seed: Url) -> Project:
    name = name[:200]
    new = valid_project(name, seed.href, tools.clock())
    return tools.store.find_project(name) or tools.store.add_project(new)


def _start(tools: App, project: Project, seed: Url, config: dict[str, Any], urls: list[str]) -> CrawlJob:
    """A crawl of this project that was interrupted goes on; otherwise a new one begins."""
    try:
        return tools.start_crawl(
            project.id, seed_url=seed.href, config=config, urls=urls, opened=_typed(seed), max_seconds=RUN_SECONDS
        )
    except CrawlRunning:
        running = tools.store.find_running(project.id)
        if running is None:
            return tools.start_crawl(
                project.id, seed_url=seed.href, config=config, urls=urls, opened=_typed(seed), max_seconds=RUN_SECONDS
            )
        if running.paused:
            tools.control_crawl.resume(running.id)
            Console(stderr=True).print("Going on with the paused crawl, with the options it was started with.")
        return running


@contextmanager
def _workers(tools: App, fetchers: int) -> Iterator[Supervisor]:
    supervisor = Supervisor(crawl_processes(tools.settings, fetchers), FileOutput(tools.settings.data_dir / "logs"))
    supervisor.start()
    try:
        yield supervisor
    finally:
        supervisor.stop(grace_seconds=10)


def _watch(tools: App, supervisor: Supervisor, crawl: CrawlJob, view: LiveView) -> CrawlJob:
    """Until the crawl is over and compared with the one before. Ctrl-C pauses it."""
    try:
        with view:
            while not crawl.status.is_over:
                time.sleep(LOOK_SECONDS)
                _look_after(tools, supervisor)
                crawl = tools.store.get_crawl(crawl.id)
                view.show(crawl)
            return _await_diff(tools, crawl)
    except KeyboardInterrupt:
        tools.control_crawl.pause(crawl.id)
        Console(stderr=True).print(
            f"Paused after {crawl.pages_crawled} pages; the same command goes on where it stopped.", style="yellow"
        )
        raise


def _look_after(tools: App, supervisor: Supervisor) -> None:
    supervisor.poll()
    if tools.frontier.reconcile_allowed(tools.settings.reconcile_seconds):
        tools.reconcile()


def _await_diff(tools: App, crawl: CrawlJob) -> CrawlJob:
    deadline = time.monotonic() + DIFF_PATIENCE_SECONDS
    while time.monotonic() < deadline and not tools.store.is_diffed(crawl.id):
        time.sleep(LOOK_SECONDS / 2)
    return tools.store.get_crawl(crawl.id)


def _tell(crawl: CrawlJob, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(summary(crawl)))
        return
    console = Console(highlight=False)
    console.print(summary_table(summary(crawl)))
    if crawl.error_message:
        Console(stderr=True, highlight=False, markup=False).print(crawl.error_message, style="red")


def summary(crawl: CrawlJob) -> dict[str, Any]:
    started, ended = crawl.started_at, crawl.completed_at
    seconds = (ended - started).total_seconds() if started and ended else 0.0
    row = crawl.model_dump(mode="json")
    return {
        "crawl_id": row["id"],
        "project_id": row["project_id"],
        **{name: row[name] for name in SUMMARY_FIELDS},
        "duration_seconds": round(seconds, 3),
        "pages_per_second": round(crawl.pages_crawled / seconds, 2) if seconds else 0.0,
        "change_summary": crawl.change_summary,
    }
