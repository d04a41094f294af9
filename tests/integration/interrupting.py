"""End what a test does as Celery ends a task whose time is over: by a signal, wherever it is."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Over(Exception):
    """The time is over."""


@contextmanager
def interrupted(seconds: float) -> Iterator[None]:
    """The block must take longer."""

    def end(_: int, __: FrameType | None) -> None:
        raise Over

    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    except Over:
        return
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    raise AssertionError("it was done before")
