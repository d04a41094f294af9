"""One embedded server (Postgres or Valkey): start in the background, find again, stop.

The server and all its children inherit an open, locked file. So the lock tells whether any of them is still alive,
without trusting a process id. The kernel releases it with the last of them.
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

# Environment variables for Postgres or locales must not reach the servers.
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"}
LOG_TAIL_BYTES = 4_000
LOG_MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True)
class Place:
    """The directories of one data directory's servers, and the user they run as."""

    data_dir: Path
    sockets: Path
    user: ServerUser


class Server(ABC):
    """What the embedded Postgres and Valkey have in common."""

    name: ClassVar[str]
    title: ClassVar[str]
    error: ClassVar[type[Unavailable]]
    # The first signal asks for a clean end, the next ones for faster ends.
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
        """Text in the command line of each of the server's processes, and of no other process."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def prepare(self) -> None:
        """Create the server's data the first time."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether the server accepts requests now."""

    @property
    def alive(self) -> bool:
        """Whether any of the server's processes is alive, by its lock."""
        lock = try_exclusive(self._lock)
        if lock is not None:
            os.close(lock)
        return lock is None

    @property
    def launched(self) -> bool:
        """Whether this process started the server, instead of finding it running."""
        return self._launcher is not None

    def launch(self) -> None:
        """Start the server unless it is alive."""
        lock = try_exclusive(self._lock)
        if lock is None:
            return
        try:
            self.prepare()
            # The pid file of a killed server: its process id may belong to another process by now.
            for path in (self.pid_file, self.socket, self.socket.with_name(f"{self.socket.name}.lock")):
                path.unlink(missing_ok=True)
            with self._open_log() as log:
                words = ("daemon", *self.place.user.become)
                self._launcher = self._run(words, self.command(), self.home, log, keep=(lock,))
        finally:
            os.close(lock)

    def settle(self) -> None:
        """Wait for the launcher to end, which leaves the server running in the background."""
        if self._launcher is not None:
            self._launcher.wait()

    def main_process(self) -> psutil.Process | None:
        try:
            pid = int(self.pid_file.read_text("ascii").split()[0])
        except (OSError, ValueError, IndexError):
            return None
        return self._ours(pid)

    def clear_the_way(self) -> None:
        """Stop processes of the server that are alive but cannot serve, so that it can be started again."""
        main = self.main_process()
        if main is None:  # children of a killed server may outlive it and hold its lock
            self._kill_all()
        elif not self.socket.exists():  # the socket was deleted, for instance by a cleanup of temporary files
            _send(main, self.stop_signals[0])

    def signal_stop(self, attempt: int) -> bool:
        """Send the stop signal of this attempt; after the last one kill all processes.

        Returns whether there was any process.
        """
        main = self.main_process()
        if main is None or attempt >= len(self.stop_signals):
            return self._kill_all()
        self._stopping = main.pid
        _send(main, self.stop_signals[attempt])
        return True

    def bury(self) -> None:
        """Reap the stopped server (waitpid): as the first process of a container we are its parent."""
        if self._stopping:
            with suppress(ChildProcessError):
                os.waitpid(self._stopping, 0)

    def failure(self, problem: str, **details: object) -> CrawlerError:
        """The error for a server that does not run, with the end of its log."""
        log = self._log_tail()
        # on a full disk the log may lack the line that says so
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
            start_new_session=True,  # Ctrl-C in the terminal must not reach the servers
        )

    def _kill_all(self) -> bool:
        ours = [process for process in map(self._ours, psutil.pids()) if process]
        for process in ours:
            _send(process, signal.SIGKILL)
        return bool(ours)

    def _ours(self, pid: int) -> psutil.Process | None:
        """The process with this id, if its command line has our mark: process ids are reused, and names are shared."""
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
