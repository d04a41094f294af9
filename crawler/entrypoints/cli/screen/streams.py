"""Makes stdout and stderr safe: full disks, closed pipes, and characters that the terminal's encoding lacks."""

import io
import sys
from typing import NoReturn, TextIO

import typer

from crawler.errors import CrawlerError
from crawler.redaction import printable


class OutputLost(CrawlerError):
    """What should be printed cannot be written."""


class ResultStream(io.TextIOWrapper):
    """Stdout: a result that cannot be written is an error."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as exc:
            _tell(exc)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as exc:
            _tell(exc)


class NewsStream(io.TextIOWrapper):
    """Stderr: a failed write does not end a crawl, because only progress is lost. A closed pipe still does."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            raise
        except OSError:
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            raise
        except OSError:
            return


def _tell(exc: OSError) -> NoReturn:
    if isinstance(exc, BrokenPipeError):
        raise exc
    raise OutputLost(f"What should be printed cannot be written: {(exc.strerror or str(exc)).lower()}.") from exc


def mend_streams() -> None:
    """Wrap stdout and stderr. Characters that the terminal's encoding lacks are replaced, not an error."""
    sys.stdout = _over(sys.stdout, ResultStream)
    sys.stderr = _over(sys.stderr, NewsStream)


def _over(stream: TextIO, kind: type[io.TextIOWrapper]) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    return kind(
        stream.buffer,
        encoding=stream.encoding,
        errors="replace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def echo(text: object, *, err: bool = False) -> None:
    """Print a line, on a terminal without the characters that it would obey.

    Tables and whatever has colours go through a `CleanConsole`, all other lines through here.
    """
    stream, line = sys.stderr if err else sys.stdout, str(text)
    typer.echo(printable(line) if stream.isatty() else line, err=err)


def print_bytes(result: bytes) -> None:
    """Print a result: into files and pipes as it is, on a terminal as text, because that obeys what pages say."""
    if sys.stdout.buffer.isatty():
        result = printable(result.decode("utf-8", "replace").replace("\r\n", "\n")).encode()
    sys.stdout.buffer.write(result)
    sys.stdout.flush()
