"""CPU and memory of a set of processes while something runs."""

import resource
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from types import TracebackType
from typing import Self

import psutil

EVERY_SECONDS = 0.5
"""Each look costs a few ms of the CPU that is being measured."""


class Usage:
    """`with Usage(pids) as usage:` … then `cpu_seconds` and `peak_megabytes` of them and all their children.

    Processes that end meanwhile are counted with their parent, or as ours if we are it.
    """

    def __init__(self, roots: Callable[[], Iterable[int]]) -> None:
        self._roots = roots
        self._cpu: dict[tuple[int, float], float] = {}
        self._before: dict[tuple[int, float], float] = {}
        self._reaped = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak_megabytes = 0.0

    def __enter__(self) -> Self:
        self._sample()
        self._before = dict(self._cpu)
        self._reaped = -_of_ended_children()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self._sample()
        self._reaped += _of_ended_children()
        self._cpu = {key: seconds for key, seconds in self._cpu.items() if psutil.pid_exists(key[0])}

    @property
    def cpu_seconds(self) -> float:
        return self._reaped + sum(self.by_process.values())

    @property
    def by_process(self) -> dict[int, float]:
        """CPU seconds of those that still live."""
        return {key[0]: seconds - self._before.get(key, 0.0) for key, seconds in self._cpu.items()}

    def _watch(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self._sample()

    def _sample(self) -> None:
        total = 0
        for process in with_children(self._roots()):
            with suppress(psutil.Error):
                # With what its ended children used, so that dead ones can be left out.
                self._cpu[process.pid, process.create_time()] = sum(process.cpu_times()[:4])
                total += process.memory_info().rss
        self.peak_megabytes = max(self.peak_megabytes, total / 1e6)


def with_children(pids: Iterable[int]) -> list[psutil.Process]:
    """In one look at all processes: one for each of several roots takes a tenth of a core from what is measured."""
    everybody: dict[int, psutil.Process] = {}
    children: dict[int, list[int]] = defaultdict(list)
    for process in psutil.process_iter(["ppid"]):
        everybody[process.pid] = process
        children[process.info["ppid"]].append(process.pid)
    waiting, found = list(pids), {}
    while waiting:
        pid = waiting.pop()
        if pid in everybody and pid not in found:
            found[pid] = everybody[pid]
            waiting += children[pid]
    return list(found.values())


def _of_ended_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
