"""Export files: each appears whole under its name, or not at all.

What is in them: `domain/exports/files.py`. Who writes them: `entrypoints/cli/backend/local_exports.py`.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from crawler.errors import CrawlerError, Invalid


class ExportFailed(CrawlerError):
    """The export could not be written."""


def check_directory(directory: Path) -> None:
    """Make it and try to write there: better now than after an hour's crawl."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = _draft(directory / "probe")
        probe.touch()
        probe.unlink()
    except OSError as exc:
        raise Invalid(f"Exports cannot be written to {directory}: {_why(exc)}; name another directory.") from exc


def write_whole(path: Path, chunks: Iterable[bytes], *, durable: bool = True, folders: bool = False) -> None:
    """Under a name of its own until it is complete and on the disk; many small files need not wait for the disk."""
    draft = _draft(path)
    try:
        path.parent.mkdir(exist_ok=True, parents=folders)
        with draft.open("wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        draft.replace(path)
    except OSError as exc:
        raise ExportFailed(f"{path} could not be written: {_why(exc)}; no part of it is kept.") from exc
    finally:
        with suppress(OSError):
            draft.unlink()


def _draft(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _why(exc: OSError) -> str:
    return (exc.strerror or str(exc)).lower()
