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
from crawler.lazy_module import LazyModule, on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend import local_exports
else:
    local_exports = LazyModule("crawler.entrypoints.cli.backend.local_exports")

with on_first_use():
    from crawler.domain.exports.files import export_format


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
    with open_crawl(named) as (backend, crawl_id):
        files = backend.export(crawl_id, output, chosen)
    if as_json:
        typer.echo(json.dumps({"crawl_id": str(crawl_id), "files": files}))
    else:
        local_exports.tell_files(files)
