"""Advisory file locks (flock). The kernel releases a lock with the last process that holds the open file."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.errors import Unavailable

POLL_SECONDS = 0.01


@contextmanager
def exclusive(path: Path, seconds: float) -> Iterator[None]:
    """Hold the lock exclusively. Others wait for it until a timeout."""
    deadline = time.monotonic() + seconds
    while (held := try_exclusive(path)) is None:
        if time.monotonic() > deadline:
            raise Unavailable(f"Another process has been starting or stopping servers for {seconds:g} s; try again.")
        time.sleep(POLL_SECONDS)
    try:
        yield
    finally:
        os.close(held)


def try_exclusive(path: Path) -> int | None:
    """The locked file's descriptor, or None while another process holds the lock."""
    return _flock(path, fcntl.LOCK_EX)


def try_shared(path: Path) -> int | None:
    return _flock(path, fcntl.LOCK_SH)


def _flock(path: Path, kind: int) -> int | None:
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(opened, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        return None
    return opened
