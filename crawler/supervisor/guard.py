"""Starts the reaper and tells it which process groups to kill if the supervisor itself is killed."""

import subprocess
import sys
from pathlib import Path
from typing import IO

REAPER = Path(__file__).with_name("reaper.py")


class Guard:
    """A reaper process and its list of process groups. If the reaper dies, the next call replaces it."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._reaper: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def remove(self, group: int) -> None:
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def check(self) -> None:
        """Replace a reaper that has died."""
        if self._reaper is not None and self._reaper.poll() is not None:
            self._begin()

    def close(self) -> None:
        """Close the reaper's input. It kills groups that are still on its list, normally none, and ends."""
        if self._reaper is not None:
            _input(self._reaper).close()
            self._reaper.wait()
            self._reaper = None

    def _tell(self, line: str) -> None:
        if self._reaper is None or not _write(self._reaper, line):
            self._begin()

    def _begin(self) -> None:
        if self._reaper is not None:
            self.close()
        self._reaper = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-I", "-S", str(REAPER)], stdin=subprocess.PIPE, bufsize=0, start_new_session=True
        )
        _write(self._reaper, "".join(f"+{group}\n" for group in self._groups))


def _input(reaper: subprocess.Popen[bytes]) -> IO[bytes]:
    if reaper.stdin is None:
        raise RuntimeError("the reaper was started without an input")
    return reaper.stdin


def _write(reaper: subprocess.Popen[bytes], text: str) -> bool:
    try:
        _input(reaper).write(text.encode("ascii"))
    except BrokenPipeError:
        return False
    return True
