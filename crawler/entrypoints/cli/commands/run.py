"""`crawler run`: crawl one website on this machine, from start to summary.

Done in `entrypoints/cli/actions/run.py`.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.adapters.pages.export_files import ExportPlace
from crawler.domain.crawls.crawl_choices import IncludeMode, QueryParams, RenderMode
from crawler.entrypoints.cli.input.export_place import export_place
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import run as crawling
else:
    crawling = LazyModule("crawler.entrypoints.cli.actions.run")


def run(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the crawl begins, such as example.org.")],
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
            metavar="HEADER",
            help="@FILE with lines 'Name: value', or NAME to be asked for its value; sent to URL's own origin and kept "
            "encrypted. 'Name:' forgets it.",
        ),
    ] = None,
    header_env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VARIABLE", help="A header whose value is in an environment variable."),
    ] = None,
    export: Annotated[
        ExportPlace | None,
        typer.Option(
            metavar="DIR",
            parser=export_place,
            help="Write the pages to files in this directory, or s3://bucket/folder.",
        ),
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
    status = crawling.crawl_site(
        url,
        given,
        urls_file=urls_file,
        header=header or (),
        header_env=header_env or (),
        project=project,
        workers=workers,
        export=export,
        formats=formats or (),
        as_json=as_json,
    )
    raise typer.Exit(status)
