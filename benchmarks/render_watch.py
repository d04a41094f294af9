"""What a render worker holds: its own memory, its browser's processes, and what it needs to drive them."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.ours import Ours
from crawler.domain.crawls.crawl import CrawlJob

EVERY_SECONDS = 1.0
CLOSE_TO = 1.1
"""Memory that is back where it was, allocators being what they are."""
_DRIVER = "node"
"""Playwright's, which speaks to the browser."""


class Look(NamedTuple):
    browsers: int = 0
    """Chromium's processes."""
    browser_megabytes: float = 0.0
    """Private to them."""
    drivers: int = 0
    worker_megabytes: float = 0.0
    """Resident."""


class RenderWatch:
    """Looks now and then, and remembers every process it saw: one that lost its parent is still one too many."""

    def __init__(self, crawler: Ours) -> None:
        self._crawler = crawler
        self._next = 0.0
        self._seen: dict[tuple[int, float], psutil.Process] = {}
        self._workers: set[int] = set()
        self.looks: list[Look] = []

    @property
    def replaced(self) -> int:
        """Workers that came after the first."""
        return max(0, len(self._workers) - 1)

    def __call__(self, crawl: CrawlJob) -> None:
        now = time.monotonic()
        if now >= self._next or crawl.status.is_over:
            self._next = now + EVERY_SECONDS
            self.looks.append(self.look())

    def look(self) -> Look:
        worker = self._crawler.renderer()
        self._workers.add(worker.pid)
        with suppress(psutil.Error):
            self._seen |= {(p.pid, p.create_time()): p for p in worker.children(recursive=True)}
        lives = [p for p in self._seen.values() if _lives(p)]
        browsers = [process for process in lives if _program(process) != _DRIVER]
        private = sum(map(_private, browsers)) / 1e6
        return Look(len(browsers), private, len(lives) - len(browsers), worker.memory_info().rss / 1e6)


@dataclass(frozen=True)
class Held:
    """What a worker held, from moment to moment."""

    before: Look
    """Any render."""
    baseline: Look
    most: Look
    """Of each number by itself, at any time."""
    rested: Look
    """A little after the last of many renders."""
    idle: Look | None
    """Long after; None when nobody waited for it."""
    first_renders: int
    """Before the baseline."""
    renders: int
    """After it."""

    @property
    def is_back(self) -> bool:
        """Nothing grew with the renders, and long after the last there is no browser."""
        fewer = self.rested.browsers <= self.baseline.browsers and self.rested.drivers <= self.baseline.drivers
        slim = self.rested.worker_megabytes <= self.baseline.worker_megabytes * CLOSE_TO
        return fewer and slim and (self.idle is None or self.idle.browsers + self.idle.drivers == 0)


def peak(looks: Sequence[Look]) -> Look:
    return Look(*(max(values) for values in zip(*looks, strict=True))) if looks else Look()


def table(held: Held) -> str:
    moments = {
        "before the first render": held.before,
        f"the baseline: after {held.first_renders} renders, at rest": held.baseline,
        "most of each at any time": held.most,
        f"after {held.renders} more, at rest": held.rested,
        "after more than two idle minutes": held.idle,
    }
    lines = ["| | Chromium's processes | their private MB | Playwright's | the worker's MB |", "|---|--:|--:|--:|--:|"]
    for when, look in moments.items():
        if look is not None:
            sizes = f"{look.browsers} | {look.browser_megabytes:.0f} | {look.drivers} | {look.worker_megabytes:.1f}"
            lines.append(f"| {when} | {sizes} |")
    return "\n".join(lines)


def _lives(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def _program(process: psutil.Process) -> str:
    """Its file: what a process calls itself is another matter."""
    with suppress(psutil.Error):
        return Path(process.exe()).name
    return ""


def _private(process: psutil.Process) -> int:
    with suppress(psutil.Error):
        return int(process.memory_full_info().uss)
    return 0
