"""Ends a worker whose consumer broke, by an error that nobody foresaw.

Celery then waits for the processes of its pool, and they may wait for orders: such a worker does nothing any more, and
whoever starts workers anew does not see it, because it never ends.
"""

import os
import signal
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from celery import bootsteps
from celery.platforms import EX_FAILURE

GRACE_SECONDS = 10.0
"""For what is being done. What it does not finish is done again."""
_exit = os._exit


class EndBroken(bootsteps.StartStopStep):  # type: ignore[misc]
    """A bootstep of Celery's worker, which is stopped before the pool."""

    requires = ("celery.worker.components:Pool",)

    def start(self, worker: Any) -> None: ...

    def stop(self, worker: Any) -> None:
        if worker.exitcode == EX_FAILURE:
            processes = worker.pool.info.get("processes", ())
            threading.Thread(target=_end, args=(processes,), name="end of a broken worker", daemon=True).start()


def _end(processes: Sequence[int]) -> None:
    time.sleep(GRACE_SECONDS)
    for number in processes:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    time.sleep(GRACE_SECONDS)
    _exit(EX_FAILURE)
