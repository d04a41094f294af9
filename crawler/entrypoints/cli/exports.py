"""`crawler export`, and the end of `crawler run --export`: a crawl's pages as files."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from crawler.adapters.export_files import check_directory, write_whole
from crawler.bootstrap import App
from crawler.domain.exports import ExportedPage, ExportFormat, export_format
from crawler.entrypoints.cli.session import session
from crawler.entrypoints.cli.stderr import Stderr

EVERY = 50
"""Pages between two movements of the bar."""

Formats = Annotated[list[str], typer.Option("--format", metavar="NAME", help="jsonl or csv; may be repeated.")]


def export(
    crawl_id: Annotated[UUID, typer.Argument(help="From 'crawler crawl list'.")],
    formats: Formats = ["jsonl"],  # noqa: B006 - Typer shows it as the default and never changes it
    output: Annotated[Path, typer.Option(metavar="DIR", help="Directory to write to.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Write a crawl's pages, as they were then, to pages.jsonl or pages.csv."""
    chosen = [export_format(name) for name in dict.fromkeys(formats)]
    check_directory(output)
    with session() as tools:
        tools.store.get_crawl(crawl_id)
        files = write_exports(tools, crawl_id, output, chosen)
    if as_json:
        typer.echo(json.dumps({"crawl_id": str(crawl_id), "files": [str(file) for file in files]}))
    else:
        tell_files(files)


def write_exports(tools: App, crawl_id: UUID, directory: Path, formats: Sequence[ExportFormat]) -> list[Path]:
    """One pass over the crawl for each: it is streamed, never held."""
    total = tools.page_export.count(crawl_id)
    written: list[Path] = []
    for each in formats:
        path = directory / each.file_name
        # Closed here and now: a cursor must not outlive a full disk.
        with _bar(f"Writing {path}", total) as counted, closing(tools.page_export(crawl_id)) as pages:
            write_whole(path, each.render(counted(pages)))
        written.append(path)
    return written


def tell_files(files: Iterable[Path]) -> None:
    for file in files:
        Stderr().print(f"Wrote {file}", soft_wrap=True)


@contextmanager
def _bar(title: str, total: int) -> Iterator[Callable[[Iterable[ExportedPage]], Iterator[ExportedPage]]]:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)

        def counted(pages: Iterable[ExportedPage]) -> Iterator[ExportedPage]:
            for number, page in enumerate(pages):
                if number % EVERY == 0:
                    progress.update(task, completed=number)
                yield page

        yield counted
