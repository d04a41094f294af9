"""Ctrl-C while libraries are imported."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""A closed terminal (SIGHUP) and `timeout` (SIGTERM) end a command like Ctrl-C."""


@contextmanager
def interrupted_afterwards() -> Iterator[None]:
    """Interrupt only at the end of the block, not inside: some libraries go on after any error of their imports."""
    received: list[int] = []
    before = {number: signal.signal(number, lambda got, _: received.append(got)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if received:
        raise KeyboardInterrupt
