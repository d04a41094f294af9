"""One supervised process: start, output, exit status, restarts."""

import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from crawler import launch
from crawler.supervisor.output import Output, read_lines
from crawler.supervisor.warm import WarmProcess

SOCKET = "SUPERVISOR_SOCKET"
"""Environment variable with the number of the socket that a process was called by."""
MANY_QUICK_DEATHS = 3
"""A process that died so many times in a row does not stay up."""
LIVES_WELL_SECONDS = 60.0


@dataclass(frozen=True)
class ProcessSpec:
    """A process to keep running. Without `ready` it counts as ready as soon as it runs."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] | None = None  # None: our own environment
    ready: Callable[[], bool] | None = None
    warm: str | None = None  # the module to run in a fork of this process, which has imported what it needs
    address: tuple[str, int] | None = None
    """Where it serves, if it runs only while it is needed: the first connection there starts it, and finds it later
    under the number in `SOCKET`. When it ends by itself with status 0, it waits for the next one."""


@dataclass(frozen=True)
class ProcessState:
    """The present state of a process."""

    name: str
    pid: int | None
    ready: bool
    deaths: int
    last_exit: int | None
    trouble: str | None = None
    """What is wrong with a process that does not stay up."""
    asleep: bool = False
    """It does not run, because nobody needs it."""


class Child:
    """A process that may be restarted many times."""

    def __init__(self, spec: ProcessSpec, output: Output) -> None:
        self.spec = spec
        self.started_at = 0.0
        self.restart_at: float | None = None
        self.delay_seconds = 0.0
        self.quick_deaths = 0
        self._output = output
        self._process: subprocess.Popen[bytes] | WarmProcess | None = None
        self._reader: threading.Thread | None = None
        self._last_lines: deque[str] = deque(maxlen=5)
        self._last_words = ""
        self._listener: socket.socket | None = None
        self._ready = False
        self._deaths = 0
        self._last_exit: int | None = None

    @property
    def group(self) -> int | None:
        """The process group, while the process runs."""
        return self._process.pid if self._process else None

    @property
    def state(self) -> ProcessState:
        asleep = self.call is not None
        return ProcessState(
            self.spec.name, self.group, self._ready or asleep, self._deaths, self._last_exit, self._trouble(), asleep
        )

    def _trouble(self) -> str | None:
        if self.quick_deaths < MANY_QUICK_DEATHS or self._lives_well():
            return None
        return f"{self.spec.name} does not stay up ({self.exit_reason}): {self._last_words}"

    def _lives_well(self) -> bool:
        return self._process is not None and time.monotonic() - self.started_at > LIVES_WELL_SECONDS

    @property
    def exit_reason(self) -> str:
        status = self._last_exit or 0
        return f"exit status {status}" if status >= 0 else signal.strsignal(-status) or f"signal {-status}"

    def listen(self) -> None:
        """Wait for somebody who needs the process, at its address."""
        assert self.spec.address is not None
        host, port = self.spec.address
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, port), family=family, backlog=128)
        self._listener.setblocking(False)  # noqa: FBT003

    @property
    def call(self) -> socket.socket | None:
        """Where somebody may call a process that does not run."""
        return None if self._process is not None or self.restart_at is not None else self._listener

    @property
    def is_called(self) -> bool:
        return self.call is not None and bool(select.select([self.call], [], [], 0)[0])

    @property
    def may_sleep(self) -> bool:
        """Whether the process that has ended is only needed when somebody calls."""
        return self._listener is not None and self._last_exit == 0

    def stop_listening(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None

    @property
    def last_words(self) -> str:
        """The last line the process printed before it died."""
        self.finish_reading()
        return next((line for line in reversed(self._last_lines) if line.strip()), "it said nothing")

    def spawn(self) -> None:
        self.restart_at, self.started_at = None, time.monotonic()
        # The parent-death signal is sent when the *thread* that started the child ends.
        of_main_thread = threading.current_thread() is threading.main_thread()
        number = self._listener.fileno() if self._listener else None
        env = dict(os.environ if self.spec.env is None else self.spec.env)
        env |= {} if number is None else {SOCKET: str(number)}
        if self.spec.warm:
            self._process = WarmProcess(self.spec.warm, self.spec.argv, env, number, dies_with_us=of_main_thread)
        else:
            words = (f"die-with={os.getpid()}",) if of_main_thread else ()
            self._process = self._started_cold(words, env, () if number is None else (number,))
        self._last_lines.clear()
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def _started_cold(
        self, words: tuple[str, ...], env: Mapping[str, str], keep: tuple[int, ...]
    ) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - the caller's own command line
            launch.command(words, self.spec.argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=env,
            pass_fds=keep,
            start_new_session=True,  # a process group of its own: Ctrl-C reaches only us, our kill also its children
        )

    def collect(self) -> int | None:
        """If the process has died: kill the rest of its group and return the group's id."""
        if self._process is None or not _has_exited(self._process.pid):
            return None
        group = self._process.pid
        self.kill()  # before the process id is free for others
        self._last_exit = self._process.wait()
        self._process, self._ready = None, False
        self._last_words = self.last_words
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

    def _read(self, process: subprocess.Popen[bytes] | WarmProcess) -> None:
        if process.stdout is not None:
            read_lines(process.stdout, self._take)

    def _take(self, line: str) -> None:
        self._last_lines.append(line)
        self._output(self.spec.name, line)


def _has_exited(pid: int) -> bool:
    """Whether the process has exited, without reaping it: so its id stays taken."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
