"""Export files, in a directory or in object storage: each appears whole under its name, or not at all.

What is in them: `domain/exports/files.py`. Who writes them: `entrypoints/cli/backend/local_exports.py`.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from crawler.adapters.objects.object_store import ObjectStore, StorageUnavailable
from crawler.errors import CrawlerError, Invalid


class ExportFailed(CrawlerError):
    """The export could not be written."""


class ExportPlace(Protocol):
    """Where exports are written to."""

    def check(self) -> None:
        """Try to write there: better now than after an hour's crawl."""

    def at(self, name: str) -> str:
        """Where the file of that name is."""

    def write(self, name: str, chunks: Iterable[bytes]) -> None: ...

    def write_page(self, name: str, content: bytes) -> None:
        """One of many small files."""


class Folder(NamedTuple):
    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def check(self) -> None:
        check_directory(self.path)

    def at(self, name: str) -> str:
        return str(self.path / name)

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        write_whole(self.path / name, chunks)

    def write_page(self, name: str, content: bytes) -> None:
        write_whole(self.path / name, [content], durable=False, folders=True)


class ObjectFolder(NamedTuple):
    """All below one URL of object storage."""

    url: str

    def __str__(self) -> str:
        return self.url

    def check(self) -> None:
        try:
            ObjectStore(self.url).try_to_write()
        except StorageUnavailable as exc:
            raise Invalid(f"Exports cannot be written to {self.url}: {exc.message}") from exc

    def at(self, name: str) -> str:
        return f"{self.url.rstrip('/')}/{name}"

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        try:
            ObjectStore(self.url).write(name, chunks)
        except StorageUnavailable as exc:
            raise ExportFailed(f"{self.at(name)} could not be written: {exc.message}") from exc

    def write_page(self, name: str, content: bytes) -> None:
        try:
            ObjectStore(self.url).write_small(name, content)
        except StorageUnavailable as exc:
            raise ExportFailed(f"{self.at(name)} could not be written: {exc.message}") from exc


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
