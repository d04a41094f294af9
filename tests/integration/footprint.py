"""How much memory this process takes while something happens."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

MEGABYTE = 1024 * 1024
_EVERY_SECONDS = 0.003


@dataclass
class Footprint:
    grown: int = 0
    """Bytes by which it grew at most."""


@contextmanager
def footprint() -> Iterator[Footprint]:
    """Sampled: the peak the system keeps may be that of an earlier test."""
    process, seen, stop = psutil.Process(), Footprint(), threading.Event()
    before = process.memory_info().rss

    def watch() -> None:
        while not stop.wait(_EVERY_SECONDS):
            seen.grown = max(seen.grown, process.memory_info().rss - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        stop.set()
        watcher.join()
