"""Downloads a service's exports to files on this machine."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn

from crawler.adapters.pages.export_files import ExportPlace
from crawler.client import Client, NotAService
from crawler.domain.exports.files import MARKDOWN_PAGES, ExportedMarkdown, ExportFormat, read_markdown_line
from crawler.entrypoints.cli.backend.local_exports import Written, write_pages
from crawler.entrypoints.cli.screen.stderr import Stderr

LONGEST_LINE = 256 * 2**20
"""A page's Markdown, which is held in memory."""


def fetch_exports(client: Client, crawl_id: UUID, place: ExportPlace, formats: Sequence[ExportFormat]) -> list[Written]:
    return [_fetch(client, crawl_id, place, each) for each in formats]


def _fetch(client: Client, crawl_id: UUID, place: ExportPlace, chosen: ExportFormat) -> Written:
    name, sent = chosen.file_name, MARKDOWN_PAGES if chosen.page_files else chosen
    title = f"Writing {place.at(name)}{' and a file for each page' if chosen.page_files else ''}"
    with client.crawls.export_pieces(crawl_id, sent.name) as pieces, _counted(title, pieces) as counted:
        if chosen.page_files is None:
            place.write(name, counted)
            return Written(place.at(name))
        return write_pages(place, chosen, map(_page, _lines(counted)))


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    begun: list[bytes] = []
    size = 0
    for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            yield b"".join((*begun, end))
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if size > LONGEST_LINE:
            raise NotAService(f"The export has a page of more than {LONGEST_LINE} bytes.")


def _page(line: bytes) -> ExportedMarkdown:
    try:
        return read_markdown_line(line)
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise NotAService("The export has a line that is no page.") from exc


@contextmanager
def _counted(title: str, pieces: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """Show how much was downloaded. The service does not say how much is to come."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), DownloadColumn())
    console = Stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)

        def counted() -> Iterator[bytes]:
            for piece in pieces:
                progress.advance(task, len(piece))
                yield piece

        yield counted()
