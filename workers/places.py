"""Limits how many tasks of one kind a worker does at once: of a queue, if it takes several, of vectors and of reports.

So tasks that wait for something outside, or take long, cannot take all processes of the pool from the others. A place
is a lock of the kernel on one byte of a file that all processes of the pool have open: it is free again when its
process ends, however that happens.
"""

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

AGAIN_SECONDS = 1
MOST_TRIES = 100_000
EMBED = "embed"
"""Of the queue of documents what waits for a service outside: text waits neither for it nor behind it."""
REPORT = "report"


class Places:
    def __init__(self, most: Mapping[str, int]) -> None:
        self._most = dict(most)
        self._file: int | None = None

    def open(self) -> None:
        """In a worker's main process, before those of its pool are forked: they share the file.

        Not when this is imported: a worker that is forked from a warmed process begins without open files.
        """
        with tempfile.TemporaryFile() as file:
            self._file = os.dup(file.fileno())

    def limit(self, most: Mapping[str, int]) -> None:
        """Further limits, also before the fork. What is not named has no limit."""
        self._most.update(most)

    @contextmanager
    def take(self, queue: str) -> Iterator[bool]:
        """Whether there was a place. It is free again at the end of the block."""
        if queue not in self._most:
            yield True
            return
        first = 1000 * sorted(self._most).index(queue)
        taken = next((n for n in range(first, first + self._most[queue]) if self._lock(n)), None)
        try:
            yield taken is not None
        finally:
            if taken is not None:
                fcntl.lockf(self._shared, fcntl.LOCK_UN, 1, taken)

    @contextmanager
    def place(self, task: Any, queue: str, latest_seconds: int = AGAIN_SECONDS) -> Iterator[None]:
        """A place for a task of this queue. If there is none, the task comes again in a moment, and then ever less
        often, if it may be later than that."""
        with self.take(queue) as is_free:
            if not is_free:
                seconds = min(AGAIN_SECONDS + task.request.retries, latest_seconds)
                raise task.retry(countdown=seconds, max_retries=MOST_TRIES)
            yield

    @property
    def _shared(self) -> int:
        if self._file is None:  # no pool: this process is alone
            self.open()
        assert self._file is not None
        return self._file

    def _lock(self, number: int) -> bool:
        try:
            fcntl.lockf(self._shared, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except BlockingIOError:
            return False
        return True


places = Places({REPORT: 1})
"""Reports read every link of a crawl: comparisons, and whoever waits for their notices, do not wait for them."""
