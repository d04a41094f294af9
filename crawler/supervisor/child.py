"""One supervised process: start, output, exit status, restarts."""

import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from crawler import launch
from crawler.supervisor.output import Output, read_lines


@dataclass(frozen=True)
class ProcessSpec:
    """A process to keep running. Without `ready` it counts as ready as soon as it runs."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] | None = None  # None: our own environment
    ready: Callable[[], bool] | None = None
    essential: bool = False  # if it keeps dying, the supervisor stops everything


@dataclass(frozen=True)
class ProcessState:
    """The present state of a process."""

    name: str
    pid: int | None
    ready: bool
    deaths: int
    last_exit: int | None


class Child:
    """A process that may be restarted many times."""

    def __init__(self, spec: ProcessSpec, output: Output) -> None:
        self.spec = spec
        self.started_at = 0.0
        self.restart_at: float | None = None
        self.delay_seconds = 0.0
        self.quick_deaths = 0
        self._output = output
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._last_lines: deque[str] = deque(maxlen=5)
        self._ready = False
        self._deaths = 0
        self._last_exit: int | None = None

    @property
    def group(self) -> int | None:
        """The process group, while the process runs."""
        return self._process.pid if self._process else None

    @property
    def state(self) -> ProcessState:
        return ProcessState(self.spec.name, self.group, self._ready, self._deaths, self._last_exit)

    @property
    def exit_reason(self) -> str:
        status = self._last_exit or 0
        return f"exit status {status}" if status >= 0 else signal.strsignal(-status) or f"signal {-status}"

    @property
    def last_words(self) -> str:
        """The last line the process printed before it died."""
        self.finish_reading()
        return next((line for line in reversed(self._last_lines) if line.strip()), "it said nothing")

    def spawn(self) -> None:
        self.restart_at, self.started_at = None, time.monotonic()
        # The parent-death signal is sent when the *thread* that started the child ends.
        of_main_thread = threading.current_thread() is threading.main_thread()
        words = (f"die-with={os.getpid()}",) if of_main_thread else ()
        self._process = subprocess.Popen(  # noqa: S603 - the caller's own command line
            launch.command(words, self.spec.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.spec.env,
            start_new_session=True,  # a process group of its own: Ctrl-C reaches only us, our kill also its children
        )
        self._last_lines.clear()
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def collect(self) -> int | None:
        """If the process has died: kill the rest of its group and return the group's id."""
        if self._process is None or not _has_exited(self._process.pid):
            return None
        group = self._process.pid
        self.kill()  # before the process id is free for others
        self._last_exit = self._process.wait()
        self._process, self._ready = None, False
        self._deaths += 1
        return group

    def terminate(self) -> None:
        """Send SIGTERM to the process alone: it stops its own children in the right order."""
        if self._process is not None:
            # Not Popen.terminate: it would reap the process, which `collect` must do.
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def check_ready(self) -> None:
        if self._process is not None and not self._ready:
            self._ready = self.spec.ready is None or self.spec.ready()

    def finish_reading(self) -> None:
        if self._reader is not None:
            self._reader.join(timeout=1)

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        if process.stdout is not None:
            read_lines(process.stdout, self._take)

    def _take(self, line: str) -> None:
        self._last_lines.append(line)
        self._output(self.spec.name, line)


def _has_exited(pid: int) -> bool:
    """Whether the process has exited, without reaping it: so its id stays taken."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
