"""Error exits of the command line: one sentence on stderr and an exit status, never a traceback.

The status of an error is its `exit_code` in `crawler/errors.py`.
"""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import typer

from crawler.entrypoints.cli.input.usage import HELP_WANTED, complaint
from crawler.entrypoints.cli.screen.sentences import in_lines
from crawler.entrypoints.cli.screen.streams import OutputLost, mend_streams
from crawler.errors import CrawlerError
from crawler.redaction import redact

INTERRUPTED = 130


def guarded(command: Callable[..., Any]) -> None:
    """Run a command and exit. Every error is one sentence; an unexpected one also says where to find details."""
    mend_streams()
    status = exit_status(command)
    unprinted = _unprinted()  # else Python fails to flush at its end, and exits with 120
    sys.exit(status or unprinted)


def exit_status(command: Callable[..., Any]) -> int:
    """Run the command, print its error if there is one, and return the exit status."""
    try:
        return int(command(standalone_mode=False) or 0)
    except OutputLost as exc:
        _give_up(1)  # so that the same error is not printed again
        tell(exc.message)
        return exc.exit_code
    except CrawlerError as exc:
        tell(exc.message)
        return exc.exit_code
    except typer.TyperException as exc:
        _tell_usage(exc)
        return exc.exit_code
    except typer.Abort:
        return 1  # the user answered no
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _give_up(1, 2)
        return 1
    except Exception as exc:  # noqa: BLE001 - nobody above could say it better
        return _unexpected(exc)


def _tell_usage(wrong: typer.TyperException) -> None:
    if type(wrong).__name__ == HELP_WANTED:
        typer.echo(wrong.format_message(), err=True)
    else:
        tell(complaint(wrong))


def _unexpected(exc: Exception) -> int:
    quiet_logs()
    telemetry().logger(__name__).error("unexpected_error", exc_info=exc)
    tell(
        f"Something went wrong that should not have: {type(exc).__name__}: {exc}. Set CRAWLER_LOG_LEVEL=debug "
        "for the details."
    )
    return 1


def quiet_logs() -> None:
    """Switch logs off unless CRAWLER_LOG_LEVEL is debug: commands print sentences instead."""
    level = "debug" if os.environ.get("CRAWLER_LOG_LEVEL") == "debug" else "critical"
    telemetry().configure_logs(level)


def telemetry() -> ModuleType:
    """Import `crawler.telemetry` on first use: it takes longer than most errors of usage."""
    return import_module("crawler.telemetry")


def tell(sentence: str) -> None:
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    try:
        shown = in_lines(redact(" ".join(sentence.split())), is_terminal=sys.stderr.isatty())
        typer.echo(shown if plain else typer.style(shown, fg="red"), err=True)
    except BrokenPipeError:
        _give_up(1, 2)


def _unprinted() -> int:
    """Flush stdout and stderr. Returns 1 if output cannot be written."""
    try:
        sys.stderr.flush()  # an unwritable stderr is no failure of the command
    except BrokenPipeError:
        _give_up(2)
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader is gone (`| head`)
        _give_up(1, 2)
        return 1
    except OutputLost as exc:
        _give_up(1)
        tell(exc.message)
        return exc.exit_code
    return 0


def _give_up(*streams: int) -> None:
    """Redirect closed streams to /dev/null, so that flushing them at Python's end does not fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in streams:
        os.dup2(nowhere, number)
