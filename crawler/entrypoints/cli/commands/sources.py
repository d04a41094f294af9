"""`crawler source`: crawl the pages near a URL and add them to a project as documents.

Its settings: `domain/crawls/source_crawl.py`. Which pages become documents: `handlers/engine/batch_rows.py`.
"""

import json
import shlex
from typing import Annotated
from uuid import UUID

import typer

from crawler.domain.crawls.crawl_choices import SOURCE_DEPTH, SOURCE_PAGES
from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import InvalidConfig
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.domain.crawls.source_crawl import SourceCrawl
    from crawler.domain.urls.typed_url import page_url
    from crawler.entrypoints.cli.input.checked_values import checked
    from crawler.handlers.crawls.start_crawl import valid_config


sources = typer.Typer(no_args_is_help=True)


@sources.callback()
def _group() -> None:
    """A group, although it has one command so far."""


@sources.command()
def crawl(
    project: ProjectName,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the crawl begins; its domain is the scope.")],
    depth: Annotated[int, typer.Option(metavar="N", min=1, max=1000, help="Follow links so far.")] = SOURCE_DEPTH,
    max_pages: Annotated[int, typer.Option(metavar="N", min=1, help="Stop after so many stored pages.")] = SOURCE_PAGES,
    include: Annotated[str | None, typer.Option(metavar="RE", help="Only URLs that match.")] = None,
    exclude: Annotated[str | None, typer.Option(metavar="RE", help="No URLs that match.")] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Fetch URLs again that have a document.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Crawl the pages near a URL and ingest each as a document of the project."""
    given = {
        "url": page_url(url).href,
        "max_depth": depth,
        "max_pages": max_pages,
        "url_include_pattern": include,
        "url_exclude_pattern": exclude,
        "refresh": refresh,
    }
    order = checked(SourceCrawl, given)
    crawl_id = _started(project, order)
    if as_json:
        echo(json.dumps({"crawl_id": str(crawl_id)}))
        return
    echo(f"Crawl {crawl_id} is queued for the workers that 'crawler up' runs.")
    echo(f"'crawler crawl status {crawl_id}' shows where it stands.")
    echo(f"'crawler search {shlex.quote(project)} WORDS' finds its pages as soon as they are ingested.")


def _started(project: str, order: SourceCrawl) -> UUID:
    try:
        valid_config(order.config())
        with open_project(project) as (backend, project_id):
            return backend.start_source(project_id, order)
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc
