"""Start of the `crawler` command: sets signal handlers and repairs closed streams before anything heavy is imported."""

import os
import signal
import sys

from crawler.entrypoints.cli.interrupts import SIGNALS
from crawler.lazy_module import load


def main() -> None:
    _open_closed_streams()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # replaced as soon as there is something to clean up
    run = load("crawler.entrypoints.cli.app").main
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in SIGNALS[1:]:
        signal.signal(number, _interrupt)
    run()


def _open_closed_streams() -> None:
    """Open /dev/null for closed standard streams: else the next file we open would get the number of stdout."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it gets the lowest free number, which is the closed stream's
        if getattr(sys, name) is None:  # Python sets a stream it found closed to None
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)  # keeps it open when `sys.stdout` is wrapped


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt
