"""A service's exports, written to files here."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from rich.progress import DownloadColumn, Progress, SpinnerColumn, TextColumn

from crawler.adapters.export_files import write_whole
from crawler.client import Client
from crawler.domain.exports import ExportFormat
from crawler.entrypoints.cli.stderr import Stderr

ONLY_THERE = "A file for each page is written only on the service's own machine; the whole site is in site.md."


def fetch_exports(client: Client, crawl_id: UUID, directory: Path, formats: Sequence[ExportFormat]) -> list[Path]:
    return [_fetch(client, crawl_id, directory / each.file_name, each) for each in formats]


def _fetch(client: Client, crawl_id: UUID, path: Path, chosen: ExportFormat) -> Path:
    with client.crawls.export_pieces(crawl_id, chosen.name) as pieces, _counted(f"Writing {path}", pieces) as counted:
        write_whole(path, counted)
    if chosen.page_file is not None:
        Stderr().print(ONLY_THERE, style="yellow", soft_wrap=True)
    return path


@contextmanager
def _counted(title: str, pieces: Iterator[bytes]) -> Iterator[Iterator[bytes]]:
    """How much is to come nobody says; how much came is shown."""
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), DownloadColumn())
    console = Stderr()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)

        def counted() -> Iterator[bytes]:
            for piece in pieces:
                progress.advance(task, len(piece))
                yield piece

        yield counted()
