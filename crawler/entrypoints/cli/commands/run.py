"""`crawler run`: crawl one website on this machine, from start to summary.

The options are checked in `entrypoints/cli/input/run_options.py`; the crawl is started and watched by
`entrypoints/cli/watching/watch_crawl.py`.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from crawler.adapters.pages.export_files import check_directory
from crawler.config import load_settings
from crawler.domain.crawls.crawl import IncludeMode, QueryParams, RenderMode
from crawler.domain.crawls.project import checked_name, name_after
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.input.directory import directory
from crawler.entrypoints.cli.input.run_options import (
    Order,
    check_origin,
    checked_config,
    read_formats,
    read_headers,
    read_urls,
)
from crawler.entrypoints.cli.watching.early_start import workers_begun

ERASE = "\r\x1b[K"
"""ANSI code that erases the current line."""


def run(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the crawl begins, e.g. https://example.org/")],
    max_pages: Annotated[
        int | None, typer.Option(metavar="N", help="Stop after so many stored pages [default: 200].")
    ] = None,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="Follow links so far from URL [default: no limit].")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="RE", help="Crawl only URLs that match; may be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="RE", help="Never crawl URLs that match; may be repeated.")
    ] = None,
    include_mode: Annotated[IncludeMode | None, typer.Option(help="'prefer': others too, but later.")] = None,
    query_params: Annotated[QueryParams | None, typer.Option(help="Which query parameters tell pages apart.")] = None,
    delay: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Seconds between requests to a host [default: 0.5].")
    ] = None,
    concurrency: Annotated[
        int | None, typer.Option(metavar="N", help="Requests in flight at most [default: 5].")
    ] = None,
    render: Annotated[
        RenderMode | None, typer.Option(help="Whether pages go through a browser [default: auto, where they need it].")
    ] = None,
    ignore_robots: Annotated[bool, typer.Option("--ignore-robots", help="Do not ask robots.txt.")] = False,
    urls_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Fetch just the URLs in this file, one a line.")
    ] = None,
    project: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the project [default: the URL].")] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, max=64, help="Fetch processes [default: one a core].")
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HEADER", help="'Name: value', sent to URL's own origin and kept encrypted; 'Name:' forgets it."
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", parser=directory, help="Write the pages to files in this directory."),
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", metavar="NAME", help="jsonl, csv, markdown or warc; may be repeated [default: jsonl]."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object for programs.")] = False,
) -> None:
    """Crawl one website on this machine: starts what is not configured, shows progress, stops what it started.

    The same URL (or --project) again crawls the same project again and tells what changed.
    """
    settings = load_settings()
    seed = parse(url)
    given = {
        "max_pages": max_pages,
        "max_depth": depth,
        "include_patterns": include,
        "exclude_patterns": exclude,
        "include_mode": include_mode,
        "query_params": query_params,
        "delay_seconds": delay,
        "max_concurrent": concurrency,
        "render": render,
        "respect_robots_txt": False if ignore_robots else None,
    }
    urls = read_urls(urls_file) if urls_file else ()
    headers = read_headers(header or ())
    check_origin(seed, urls, headers)
    order = Order(
        seed=seed,
        project=name_after(seed.href) if project is None else checked_name(project),
        config=checked_config(given, settings.max_pages_ceiling),
        urls=urls,
        urls_file=urls_file,
        headers=headers,
        export_to=export,
        formats=read_formats(export, formats or ()),
    )
    if export is not None:
        check_directory(export)
    fetchers = workers or settings.fetch_concurrency or os.cpu_count() or 1
    renders = render is not RenderMode.NEVER
    with _starting(), workers_begun(settings, fetchers, render=renders) as supervisor:
        # Imported while servers and workers start: it takes a second.
        from crawler.entrypoints.cli.watching.watch_crawl import watch_crawl  # noqa: PLC0415

        status = watch_crawl(order, supervisor, as_json=as_json)
    raise typer.Exit(status)


@contextmanager
def _starting() -> Iterator[None]:
    """Show "Starting …" until there is more to show. The next output overwrites it."""
    redraws = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    try:
        if redraws:
            _write("Starting …\r")
        yield
    except BaseException:
        if redraws:
            with suppress(BrokenPipeError):  # stderr is closed: the error itself matters more
                _write(ERASE)  # no other output may follow that would overwrite it
        raise


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
