"""Child processes that never outlive the benchmark, however it ends."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from crawler.supervisor.guard import Guard

GRACE_SECONDS = 10.0


@contextmanager
def child(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own: ended with the block, or by the guard if we are killed in it."""
    with guarded() as guard:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True, **options)
        guard.add(process.pid)
        try:
            yield process
        finally:
            _end(process)
            guard.remove(process.pid)


@contextmanager
def guarded() -> Iterator[Guard]:
    """Process groups told to the guard are killed when we are."""
    guard = Guard()
    try:
        yield guard
    finally:
        guard.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    until = time.monotonic() + GRACE_SECONDS
    # Asked without taking note of the end, so that the group's number stays taken until it was killed.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if time.monotonic() > until:
            break
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
