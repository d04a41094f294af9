"""Send a hint for a task unless one is on its way.

Several kinds of work share a queue. If each commit of a large crawl sent a hint, the hints of others would wait behind
all of them. What is lost on the way, the reconciler hints at again.
"""

from collections.abc import Callable
from typing import Protocol

from crawler.adapters.operating.celery_queue import WORK_EXPIRES_SECONDS


class TaskBook(Protocol):
    def acquire_task(self, task: str, seconds: float) -> bool: ...


class HintOnce:
    def __init__(self, task: str, book: TaskBook, send: Callable[[], None]) -> None:
        self._task = task
        self._book = book
        self._send = send

    def __call__(self) -> None:
        if self._book.acquire_task(self._task, WORK_EXPIRES_SECONDS):
            self._send()
