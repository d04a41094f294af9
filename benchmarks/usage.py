"""CPU and memory of a set of processes while something runs."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

import psutil

_EVERY_SECONDS = 0.05


class Usage:
    """`with Usage(pids) as usage:` … then `cpu_seconds` and `peak_megabytes` of them and all their children."""

    def __init__(self, roots: Callable[[], Iterable[int]]) -> None:
        self._roots = roots
        self._cpu: dict[tuple[int, float], float] = {}
        self._before: dict[tuple[int, float], float] = {}
        self._stop = threading.Event()
        self.peak_megabytes = 0.0

    def __enter__(self) -> Self:
        self._sample()
        self._before = dict(self._cpu)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join()
        self._sample()

    @property
    def cpu_seconds(self) -> float:
        return sum(seconds - self._before.get(key, 0.0) for key, seconds in self._cpu.items())

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._sample()
            time.sleep(_EVERY_SECONDS)

    def _sample(self) -> None:
        total = 0
        for process in self._processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                self._cpu[process.pid, process.create_time()] = times.user + times.system
                total += process.memory_info().rss
        self.peak_megabytes = max(self.peak_megabytes, total / 1e6)

    def _processes(self) -> list[psutil.Process]:
        found: dict[int, psutil.Process] = {}
        for pid in self._roots():
            with suppress(psutil.Error):
                root = psutil.Process(pid)
                found.update({p.pid: p for p in [root, *root.children(recursive=True)]})
        return list(found.values())
