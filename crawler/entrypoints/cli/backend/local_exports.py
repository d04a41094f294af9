"""Exports a crawl's pages to files, directly from this machine's Postgres.

The formats are in `domain/exports/files.py`, the queries in `adapters/pages/export.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar
from uuid import UUID

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from crawler.adapters.pages.export_files import ExportPlace
from crawler.bootstrap import App
from crawler.domain.exports.files import PAGES_FOLDER, ExportedMarkdown, ExportFormat, PageFile
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.terminal_text import count

EVERY = 50
"""Pages between two updates of the progress bar."""

Page = TypeVar("Page")


class Written(NamedTuple):
    file: str
    page_files: int = 0
    """Files of single pages beside it."""
    folder: str = ""
    """Where those are."""


def write_exports(tools: App, crawl_id: UUID, place: ExportPlace, formats: Sequence[ExportFormat]) -> list[Written]:
    """Write one file per format.

    The crawl is read once for each, because pages are streamed and never held in memory.
    """
    return [_write_export(tools, crawl_id, place, each) for each in formats]


def _write_export(tools: App, crawl_id: UUID, place: ExportPlace, chosen: ExportFormat) -> Written:
    export = tools.pages.export
    title = f"Writing {place.at(chosen.file_name)}{' and a file for each page' if chosen.page_files else ''}"
    total = export.count(crawl_id, chosen.rows)
    # Close the query at the end of the block, even if writing fails.
    with _bar(title, total) as counted, closing(export.rows(crawl_id, chosen.rows)) as rows:
        pages = counted(rows)
        return write_pages(place, chosen, pages)


def write_pages(place: ExportPlace, chosen: ExportFormat, pages: Iterable[Any]) -> Written:
    """Write all pages to one file and, where the format has them, each to a file of its own beside it."""
    number = 0

    def each_written(page_file: Callable[[ExportedMarkdown], PageFile]) -> Iterator[ExportedMarkdown]:
        nonlocal number
        for page in pages:
            file = page_file(page)
            place.write_page(file.path, file.content)
            number += 1
            yield page

    rows = each_written(chosen.page_files()) if chosen.page_files else pages
    place.write(chosen.file_name, chosen.render(rows))
    return Written(place.at(chosen.file_name), number, place.at(PAGES_FOLDER))


def tell_files(files: Iterable[Written]) -> None:
    for file, number, folder in files:
        beside = f", and {count(number, 'file')} of single pages in {folder}" if number else ""
        Stderr().print(f"Wrote {file}{beside}", soft_wrap=True)


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
