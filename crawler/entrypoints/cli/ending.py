"""How the command ends when something is wrong: one sentence on stderr and an exit status, never a traceback."""

import io
import os
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

from crawler.entrypoints.cli.stderr import Stderr
from crawler.errors import CrawlerError


def guarded(command: Callable[[], None]) -> None:
    """An error a person can mend is one sentence; one they cannot is one too, with the way to the details."""
    _never_choke_on_letters()
    try:
        command()
    except CrawlerError as exc:
        tell(exc.message)
        sys.exit(exc.exit_code)
    except KeyboardInterrupt:
        _flush()
        _give_up_output()  # all is said
        sys.exit(130)
    except BrokenPipeError:
        _give_up_output()
        sys.exit(1)
    except Exception as exc:  # noqa: BLE001 - nobody above could say it better
        quiet_logs()
        telemetry().logger(__name__).exception("unexpected_error")
        tell(
            f"Something went wrong that should not have: {type(exc).__name__}: {exc}. Set CRAWLER_LOG_LEVEL=debug "
            "for the details."
        )
        sys.exit(1)


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
        _give_up_output()


def _never_choke_on_letters() -> None:
    """A page's title may hold letters this terminal has not."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _flush() -> None:
    """Or Python does so at its very end, and says 120 when nobody reads any more."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        _give_up_output()


def _give_up_output() -> None:
    """Nobody reads any more (`| head`): what is still buffered must not fail when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
