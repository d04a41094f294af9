"""One clock for the wikis and for us, which can be moved on: libfaketime shows it to PHP, our crawler asks it."""

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

FAKETIME = "libfaketime.so.1"


class MovedClock:
    """Ticks as real time does, some time away from it."""

    def __init__(self, home: Path, library: Path) -> None:
        self._file = home / "clock"
        self._library = library
        self._offset = timedelta()
        self._tell()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._offset

    def environment(self) -> dict[str, str]:
        """For processes that shall live by this clock, with the times of their files."""
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKE_UTIME": "1",
            "TZ": "UTC",
        }

    def move(self, by: timedelta, folders: Iterable[Path]) -> None:
        """Files in `folders` stay as they are: what these processes see is a file's real time and the offset."""
        back = by.total_seconds()
        for path in (path for folder in folders for path in folder.rglob("*") if not path.is_symlink()):
            with suppress(FileNotFoundError):  # a journal of the wiki's database comes and goes
                seen = path.stat()
                os.utime(path, (seen.st_atime - back, seen.st_mtime - back))
        self._offset += by
        self._tell()

    def _tell(self) -> None:
        """In one step: it is read at any moment."""
        new = self._file.with_suffix(".new")
        new.write_text(f"{self._offset.total_seconds():+.0f}\n")
        new.replace(self._file)
