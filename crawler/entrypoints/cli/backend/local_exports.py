"""Exports a crawl's pages to files, directly from this machine's Postgres.

The formats are in `domain/exports/files.py`, the queries in `adapters/pages/export.py`.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import UUID

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from crawler.adapters.pages.export_files import write_whole
from crawler.bootstrap import App
from crawler.domain.exports.files import ExportedMarkdown, ExportFormat, PageFile
from crawler.entrypoints.cli.screen.stderr import Stderr

EVERY = 50
"""Pages between two updates of the progress bar."""

Page = TypeVar("Page")


def write_exports(tools: App, crawl_id: UUID, directory: Path, formats: Sequence[ExportFormat]) -> list[Path]:
    """Write one file per format.

    The crawl is read once for each, because pages are streamed and never held in memory.
    """
    return [_write_export(tools, crawl_id, directory, each) for each in formats]


def _write_export(tools: App, crawl_id: UUID, directory: Path, chosen: ExportFormat) -> Path:
    path = directory / chosen.file_name
    export = tools.pages.export
    title = f"Writing {path}{' and a file for each page' if chosen.page_files else ''}"
    total = export.count(crawl_id, chosen.rows)
    # Close the query at the end of the block, even if writing fails.
    with _bar(title, total) as counted, closing(export.rows(crawl_id, chosen.rows)) as rows:
        pages = counted(rows)
        if chosen.page_files is not None:
            pages = each_written(pages, directory, chosen.page_files())
        write_whole(path, chosen.render(pages))
    return path


def each_written(
    pages: Iterable[ExportedMarkdown], directory: Path, page_file: Callable[[ExportedMarkdown], PageFile]
) -> Generator[ExportedMarkdown]:
    """Write each page to a file of its own, then pass it on."""
    for page in pages:
        file = page_file(page)
        write_whole(directory / file.path, [file.content], durable=False, folders=True)
        yield page


def tell_files(files: Iterable[Path]) -> None:
    for file in files:
        Stderr().print(f"Wrote {file}", soft_wrap=True)


class _Counted(Protocol):
    def __call__(self, pages: Iterable[Page], /) -> Iterator[Page]: ...


@contextmanager
def _bar(title: str, total: int) -> Iterator[_Counted]:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    console = Stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=total)

        def counted(pages: Iterable[Page]) -> Iterator[Page]:
            for number, page in enumerate(pages):
                if number % EVERY == 0:
                    progress.update(task, completed=number)
                yield page

        yield counted
