"""One server of a data directory: launched into the background, found again, stopped.

The server and all its children inherit an open, locked file. So the lock tells, without trusting any
process number, whether anything of it is still alive; the kernel frees it with the last of them.
"""

import os
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar

import psutil

from crawler import launch
from crawler.embedded.data_dir import disk_full
from crawler.embedded.identity import ServerUser
from crawler.embedded.locks import try_exclusive
from crawler.errors import CrawlerError, Unavailable

# What the caller's environment says about Postgres or locales must not reach the servers.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
LOG_TAIL_BYTES = 4_000
LOG_MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Place:
    """Where the servers of one data directory live, and as whom."""

    data_dir: Path
    sockets: Path
    user: ServerUser


class Server(ABC):
    """What Postgres and Valkey have in common."""

    name: ClassVar[str]
    title: ClassVar[str]
    error: ClassVar[type[Unavailable]]
    # The first asks for a clean end, the next ones ask less and less politely.
    stop_signals: ClassVar[tuple[signal.Signals, ...]]

    def __init__(self, place: Place) -> None:
        self.place = place
        self.home = place.data_dir / self.name
        self.log_file = place.data_dir / "logs" / f"{self.name}.log"
        self._lock = place.data_dir / "servers" / f"{self.name}.lock"
        self._log_start = 0
        self._stopping = 0
        self._launcher: subprocess.Popen[bytes] | None = None

    @property
    @abstractmethod
    def socket(self) -> Path: ...

    @property
    @abstractmethod
    def pid_file(self) -> Path: ...

    @property
    @abstractmethod
    def mark(self) -> str:
        """What the command line of each of its processes shows, and no other's."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def prepare(self) -> None:
        """Make the server's home, the first time."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it takes requests now."""

    @property
    def alive(self) -> bool:
        """Whether any of its processes is."""
        lock = try_exclusive(self._lock)
        if lock is not None:
            os.close(lock)
        return lock is None

    @property
    def launched(self) -> bool:
        """Whether it was started from here, not found."""
        return self._launcher is not None

    def launch(self) -> None:
        """Start it unless it is alive."""
        lock = try_exclusive(self._lock)
        if lock is None:
            return
        try:
            self.prepare()
            # What a killed server left; the process number in it may be anyone's by now.
            for path in (self.pid_file, self.socket, self.socket.with_name(f"{self.socket.name}.lock")):
                path.unlink(missing_ok=True)
            with self._open_log() as log:
                words = ("daemon", *self.place.user.become)
                self._launcher = self._run(words, self.command(), self.home, log, keep=(lock,))
        finally:
            os.close(lock)

    def settle(self) -> None:
        """The launcher has left the server behind; take note of its end."""
        if self._launcher is not None:
            self._launcher.wait()

    def main_process(self) -> psutil.Process | None:
        try:
            pid = int(self.pid_file.read_text("ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return self._ours(pid)

    def clear_the_way(self) -> None:
        """For a new start, when what is alive cannot serve."""
        main = self.main_process()
        if main is None:  # children of a killed server may outlive it, and keep its place taken
            self._kill_all()
        elif not self.socket.exists():  # someone tidied up
            _send(main, self.stop_signals[0])

    def signal_stop(self, attempt: int) -> bool:
        """Past the last polite signal everything is killed. Whether there was anyone to signal."""
        main = self.main_process()
        if main is None or attempt >= len(self.stop_signals):
            return self._kill_all()
        self._stopping = main.pid
        _send(main, self.stop_signals[attempt])
        return True

    def bury(self) -> None:
        """Without an init, as the first process of a container, we are the one who must."""
        if self._stopping:
            with suppress(ChildProcessError):
                os.waitpid(self._stopping, 0)

    def failure(self, problem: str, **details: object) -> CrawlerError:
        """What to raise when it does not run, with the end of its log."""
        log = self._log_tail()
        # a full disk may have no room for the line that says so
        if "No space left on device" in log or shutil.disk_usage(self.home.parent).free < 2**20:
            return disk_full(self.place.data_dir)
        if os.geteuid() == 0 and launch.NOT_PERMITTED in log:
            problem = "cannot run as root, who may not become another user here; run as an ordinary user"
        return self.error(f"{self.title} {problem}; its log is {self.log_file}.", log=log, **details)

    def _run(
        self, words: tuple[str, ...], argv: list[str], home: Path, log: IO[bytes], keep: tuple[int, ...] = ()
    ) -> subprocess.Popen[bytes]:
        reach = (f"reach={argv[0]}", f"reach={home}")
        return subprocess.Popen(  # noqa: S603 - our own command line
            launch.command((*words, *reach), argv),
            pass_fds=keep,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,  # Ctrl-C in the terminal is not meant for the servers
        )

    def _kill_all(self) -> bool:
        ours = [process for process in map(self._ours, psutil.pids()) if process]
        for process in ours:
            _send(process, signal.SIGKILL)
        return bool(ours)

    def _ours(self, pid: int) -> psutil.Process | None:
        """Told by its command line, which anyone may read: numbers are reused and names are shared."""
        try:
            process = psutil.Process(pid)
            ours = process.name() == Path(self.command()[0]).name and self.mark in " ".join(process.cmdline())
        except psutil.Error:
            return None
        return process if ours else None

    def _open_log(self) -> IO[bytes]:
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_MAX_BYTES:
            self.log_file.replace(self.log_file.with_suffix(".log.1"))
        log = self.log_file.open("ab")
        self._log_start = log.tell()
        return log

    def _log_tail(self) -> str:
        try:
            with self.log_file.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(self._log_start, size - LOG_TAIL_BYTES))
                return log.read().decode("utf-8", "replace").strip()
        except OSError:
            return ""


def _send(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return
