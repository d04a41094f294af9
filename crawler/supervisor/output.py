"""Output of supervised processes: to the terminal, or to log files of limited size."""

import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Protocol, TextIO

MAX_LINE_BYTES = 16_384
MAX_FILE_BYTES = 5 * 1024 * 1024
COLOURS = (36, 33, 35, 32, 34, 31)  # colours of ANSI terminals
# Log lines contain crawled text: remove control characters that could change the terminal.
CONTROLS = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "�")


class Output(Protocol):
    """Takes one line of the named process. Called from several threads."""

    def __call__(self, name: str, line: str) -> None: ...


class TerminalOutput:
    """Prints each line after its process's name, in colour on a terminal."""

    def __init__(self, names: Iterable[str], stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._names = tuple(names)
        self._width = max(map(len, self._names), default=0)
        self._colours = self._stream.isatty()
        self._lock = threading.Lock()

    def __call__(self, name: str, line: str) -> None:
        prefix = f"{name:<{self._width}} |"
        if self._colours:
            number = self._names.index(name) if name in self._names else 0
            prefix = f"\x1b[{COLOURS[number % len(COLOURS)]}m{prefix}\x1b[0m"
        try:
            with self._lock:
                self._stream.write(f"{prefix} {line}\n")
                self._stream.flush()
        except (OSError, ValueError):  # the terminal is closed; the processes go on
            return


class FileOutput:
    """Writes to `NAME.log`; when that is full, it becomes `NAME.log.1`."""

    def __init__(self, directory: Path, max_bytes: int = MAX_FILE_BYTES) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def __call__(self, name: str, line: str) -> None:
        path = self._directory / f"{name}.log"
        try:
            with self._lock, path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
                full = file.tell() > self._max_bytes
            if full:
                path.replace(path.with_suffix(".log.1"))
        except OSError:  # a full disk loses lines, but ends no process
            return


def read_lines(pipe: IO[bytes], take: Callable[[str], None]) -> None:
    """Pass on each line of a pipe until all its writers have ended. Lines that are too long are cut."""
    with pipe:
        while raw := pipe.readline(MAX_LINE_BYTES):
            take(raw.decode("utf-8", "replace").rstrip("\r\n").translate(CONTROLS))
