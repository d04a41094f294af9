"""Where the command begins: before anything heavy is imported, signals mean what a person expects."""

import gc
import os
import signal
import sys
from collections.abc import Callable


def main() -> None:
    _open_closed_streams()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until there is something to tidy up
    run = _imported()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        # A closed terminal or a `timeout` ends a command as tidily as Ctrl-C does.
        signal.signal(number, _interrupt)
    run()


def _imported() -> Callable[[], None]:
    """Imports leave no garbage; not to look for any, then or at the end, saves a second."""
    gc.disable()
    try:
        if sys.argv[1:2] == ["run"]:
            from crawler.entrypoints.cli.run_alone import main as run  # noqa: PLC0415 - half a second of imports
        else:
            from crawler.entrypoints.cli.app import main as run  # noqa: PLC0415 - a second of imports
    finally:
        gc.freeze()
        gc.enable()
    return run


def _open_closed_streams() -> None:
    """Whoever closed one must not have our files take its number: what is printed would go there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
        if getattr(sys, name) is None:  # Python found it closed
            setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
