"""`crawler export`: write a crawl's pages to files.

The formats are in `domain/exports/files.py`; the files are written by `entrypoints/cli/backend/local_exports.py`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.adapters.pages.export_files import ExportPlace, Folder
from crawler.entrypoints.cli.backend.naming import open_crawl
from crawler.entrypoints.cli.input.export_place import export_place
from crawler.entrypoints.cli.input.names import LATEST, CrawlName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import NotFound
from crawler.lazy_module import LazyModule, on_first_use

if TYPE_CHECKING:
    from crawler.domain.crawls.crawl import CrawlJob
    from crawler.entrypoints.cli.backend import local_exports
    from crawler.entrypoints.cli.backend.backend import Backend
else:
    local_exports = LazyModule("crawler.entrypoints.cli.backend.local_exports")

with on_first_use():
    from crawler.domain.crawls.crawl import CrawlStatus
    from crawler.domain.exports.files import export_format
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, moment


Formats = Annotated[
    list[str], typer.Option("--format", metavar="NAME", help="jsonl, csv, markdown or warc; may be repeated.")
]


def export(
    named: CrawlName = LATEST,
    formats: Formats = ["jsonl"],  # noqa: B006 - Typer shows it as the default and never changes it
    output: Annotated[
        ExportPlace,
        typer.Option(metavar="DIR", parser=export_place, help="Directory to write to, or s3://bucket/folder."),
    ] = Folder(Path()),  # noqa: B008 - it never changes
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Write a crawl's pages, as they were then: pages.jsonl, pages.csv, or site.md and a file for each page."""
    chosen = [export_format(name) for name in dict.fromkeys(formats)]
    output.check()
    with open_crawl(named) as (backend, asked):
        crawl = backend.get_crawl(asked)
        if not crawl.pages_crawled:
            crawl = _with_pages(backend, crawl, by_id=str(asked).startswith(named.lower()))
        crawl_id = crawl.id
        files = backend.export(crawl_id, output, chosen)
    if as_json:
        echo(json.dumps({"crawl_id": str(crawl_id), "files": [each.file for each in files]}))
    else:
        local_exports.tell_files(files)


def _with_pages(backend: "Backend", crawl: "CrawlJob", *, by_id: bool) -> "CrawlJob":
    """The newest completed crawl of its project that has pages, for one that has none; not where that is named."""
    why = f"Crawl {crawl.id} has no pages: {(crawl.error_message or f'it is {crawl.status}').rstrip('.')}."
    others = () if by_id else backend.list_crawls(crawl.project_id)
    found = next((one for one in others if one.pages_crawled and one.status is CrawlStatus.COMPLETED), None)
    if found is None:
        raise NotFound(why)
    Stderr().print(clean(f"{why} These are the pages of {moment(found.started_at)[:-3]}."), style="yellow")
    return found
