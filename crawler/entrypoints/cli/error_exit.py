"""How the command ends when something is wrong: one sentence on stderr and an exit status, never a traceback."""

import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import typer

from crawler.entrypoints.cli.input.usage import HELP_WANTED, complaint
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.streams import OutputLost, mend_streams
from crawler.errors import CrawlerError

INTERRUPTED = 130


def guarded(command: Callable[..., Any]) -> None:
    """An error a person can mend is one sentence; one they cannot is one too, with the way to the details."""
    mend_streams()
    status = exit_status(command)
    unprinted = _unprinted()  # or Python finds out at its very end, and says 120
    sys.exit(status or unprinted)


def exit_status(command: Callable[..., Any]) -> int:
    """Of the command, after what is to be said of its end was said."""
    try:
        return int(command(standalone_mode=False) or 0)
    except OutputLost as exc:
        _give_up(1)  # it is said once
        tell(exc.message)
        return exc.exit_code
    except CrawlerError as exc:
        tell(exc.message)
        return exc.exit_code
    except typer.TyperException as exc:
        _tell_usage(exc)
        return exc.exit_code
    except typer.Abort:
        return 1  # somebody said no
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
    """A person reads sentences; the log is for whoever asks for it."""
    level = "debug" if os.environ.get("CRAWLER_LOG_LEVEL") == "debug" else "critical"
    telemetry().configure_logs(level)


def telemetry() -> ModuleType:
    """Imported when it is needed: its own imports would hold up a crawl's first request."""
    return import_module("crawler.telemetry")


def tell(sentence: str) -> None:
    try:
        Stderr().print(telemetry().redact(" ".join(sentence.split())), style="red", soft_wrap=True)
    except BrokenPipeError:
        _give_up(1, 2)


def _unprinted() -> int:
    """1 if something is left that cannot be written; nobody tries again."""
    try:
        sys.stderr.flush()  # complaints nobody hears are no failure of their own
    except BrokenPipeError:
        _give_up(2)
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads any more (`| head`)
        _give_up(1, 2)
        return 1
    except OutputLost as exc:
        _give_up(1)
        tell(exc.message)
        return exc.exit_code
    return 0


def _give_up(*streams: int) -> None:
    """What is still buffered must not fail when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in streams:
        os.dup2(nowhere, number)
