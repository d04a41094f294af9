"""Output of `crawler up`: URLs once everything is ready, and errors of its processes."""

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from rich.text import Text

from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.supervisor import FileOutput, ProcessState, TerminalOutput
from crawler.supervisor.supervisor import NAME

PATIENCE_SECONDS = 30.0
"""Seconds after which the URLs are printed, even if a process is not ready."""


class UpOutput:
    """Writes each process's lines to its log file. The terminal shows the supervisor's lines, or all with --verbose."""

    def __init__(self, names: Iterable[str], logs: Path, *, verbose: bool) -> None:
        self._files = FileOutput(logs)
        self._terminal = TerminalOutput((*names, NAME))
        self._verbose = verbose
        self._heard: set[str] = set()

    def __call__(self, name: str, line: str) -> None:
        self._files(name, line)
        if "ready." in line:
            self._heard.add(name)
        if self._verbose or name == NAME:
            self._terminal(name, line)

    def is_ready(self, name: str) -> bool:
        """Whether a worker logged that it is ready. Workers with few logs never do: see `Announcement`."""
        return name in self._heard


class Announcement:
    """Prints the URLs once, when all processes are ready."""

    def __init__(self, essential: str, tell: Callable[[Sequence[str]], None]) -> None:
        self._essential = essential
        self._tell = tell
        self._began = time.monotonic()
        self._told = False

    def __call__(self, states: Sequence[ProcessState]) -> None:
        missing = [state.name for state in states if not state.ready]
        late = time.monotonic() - self._began > PATIENCE_SECONDS and self._essential not in missing
        if not self._told and (not missing or late):
            self._told = True
            self._tell([state.name for state in states if state.pid is None and not state.asleep])


class Places(NamedTuple):
    """URLs and paths to print when the system is up."""

    service: str
    flower: str
    broker: str
    key_file: Path
    logs: Path
    way_in: Callable[[], str]
    """Makes the dashboard's URL with a sign-in ticket."""


def tell_addresses(places: Places, missing: Sequence[str]) -> None:
    service = places.service
    screen = Stderr()
    screen.print(f"Everything is up but {', '.join(missing)}." if missing else "Everything is up.", style="bold")
    pairs = [
        ("dashboard", places.way_in()),
        ("service", f"{service}/api/v1"),
        ("health", f"{service}/api/v1/health  (without a key: /api/v1/health/live)"),
        ("metrics", f"{service}/api/v1/metrics  (for Prometheus)"),
        ("key", f"{places.key_file}  (sent as 'Authorization: Bearer …')"),
        ("Flower", places.flower),
        ("broker", f"{places.broker}  (for other programs' tasks: docs/reference/tasks.md)"),
        ("logs", str(places.logs)),
    ]
    for name, words in pairs:  # never shortened or broken, because they are copied
        address, gap, note = words.partition("  ")
        if screen.is_terminal and 11 + len(words) > screen.width:
            gap = f"\n{'':<11}"
        screen.print(Text.assemble((f"{name:<11}", "dim"), address, gap if note else "", note), soft_wrap=True)
    screen.print("Next, in another terminal: crawler watch URL --webhook URL  (or open the dashboard)", soft_wrap=True)
    screen.print("Ctrl-C stops everything; 'crawler run' and the other commands work meanwhile.", style="dim")
