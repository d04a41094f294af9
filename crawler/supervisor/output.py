"""Where the lines that supervised processes print go: the terminal or files of bounded size."""

import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Protocol, TextIO

MAX_LINE_BYTES = 16_384
MAX_FILE_BYTES = 5 * 1024 * 1024
COLOURS = (36, 33, 35, 32, 34, 31)  # of ANSI terminals
# Pages choose parts of what is logged; they do not get to steer the terminal.
CONTROLS = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "�")


class Output(Protocol):
    """Takes one line of the process of that name. Called from several threads."""

    def __call__(self, name: str, line: str) -> None: ...


class TerminalOutput:
    """Each line after its process's name, in colour if a person is looking."""

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
        except (OSError, ValueError):  # the terminal is gone; the processes need not go with it
            return


class FileOutput:
    """`NAME.log` and, when that is full, `NAME.log.1`."""

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
        except OSError:  # a full disk costs lines, not processes
            return


def read_lines(pipe: IO[bytes], take: Callable[[str], None]) -> None:
    """Until every process that could write is gone. A line without an end is cut."""
    with pipe:
        while raw := pipe.readline(MAX_LINE_BYTES):
            take(raw.decode("utf-8", "replace").rstrip("\r\n").translate(CONTROLS))
