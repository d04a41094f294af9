"""Processes in which people's selectors are tried: a few, which are kept, and never all of them for one caller."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.domain import judging

AT_ONCE = 2
FOR_OTHERS = 1
"""One more, for callers whose trials took little time lately."""
BUSY_SECONDS = 10.0
"""How long somebody waits for others' trials."""


class TrialProcesses:
    def __init__(self, start: Callable[[float], ExtractionProcess]) -> None:
        self._start = start
        self._places = JudgePlaces(AT_ONCE, FOR_OTHERS)
        self._idle: dict[float, list[ExtractionProcess]] = {}
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, seconds: float) -> Iterator[ExtractionProcess]:
        """One that may take so long for a page. Raises JudgesBusy when others have all of them."""
        who = judging.caller.get()
        with self._places.place(who, BUSY_SECONDS):
            with self._lock:
                idle = self._idle.setdefault(seconds, [])
                process = idle.pop() if idle else self._start(seconds)
            began = time.monotonic()
            try:
                yield process
            finally:
                self._places.used(who, time.monotonic() - began)
                with self._lock:
                    idle.append(process)
