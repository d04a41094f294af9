"""The command as a real process without the seconds that its imports take.

One process imports the command and forks for each call. A fork is a process of its own, with environment, streams and
exit status like any other; only the imports are shared. `Cli.cold` starts it as a person's shell does.
"""

import atexit
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import TracebackType
from typing import Any, Self

from crawler.entrypoints.cli import start

ROOT = Path(__file__).parents[2]
ENDED = b""


class Forked:
    """A command under way, to be used like a `subprocess.Popen`; what it prints and complains of is one pipe."""

    def __init__(self, arguments: Sequence[str], news: socket.socket, output: int | None) -> None:
        self.arguments = ["crawler", *arguments]
        self.returncode: int | None = None
        self.stdout = None if output is None else os.fdopen(output, encoding="utf-8")
        self._news = news
        self.pid = self._hear()

    def poll(self) -> int | None:
        if self.returncode is None and select.select([self._news], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._news], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
            self.returncode = self._hear()
            self._news.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, None]:
        assert self.stdout, "somebody else reads it"
        said: list[str] = []
        reading = threading.Thread(target=lambda: said.append(self.stdout.read()), daemon=True)  # type: ignore[union-attr]
        reading.start()
        reading.join(timeout)
        if reading.is_alive():
            raise subprocess.TimeoutExpired(self.arguments, timeout or 0)
        self.wait(timeout)
        self.stdout.close()
        return said[0], None

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None) -> None:
        if self.stdout:
            self.stdout.close()
        self.wait()

    def _hear(self) -> int:
        number = self._news.recv(100)
        if number == ENDED:
            raise RuntimeError("The process that runs commands has ended; standard error tells why.")
        return int(number)


class WarmCommand:
    """Ends with whoever started it: then nobody is at the other end of its socket."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.acceptance.warm", str(theirs.fileno())]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
        self._asking = threading.Lock()

    def run(
        self, arguments: list[str], environment: dict[str, str], timeout: float, out_to: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        with out_to.open("wb") if out_to else tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            command = self._start(arguments, environment, (out.fileno(), err.fileno()))
            try:
                status = command.wait(timeout)
            except subprocess.TimeoutExpired:
                command.kill()
                command.wait()
                raise
            said = ["" if out_to else _read(out), _read(err)]
        return subprocess.CompletedProcess(command.arguments, status, *said)

    def start(self, arguments: list[str], environment: dict[str, str]) -> Forked:
        ours, theirs = os.pipe()
        try:
            return self._start(arguments, environment, (theirs, theirs), ours)
        finally:
            os.close(theirs)

    def stop(self) -> None:
        self._socket.close()
        self._process.wait(10)

    def _start(
        self,
        arguments: list[str],
        environment: dict[str, str],
        streams: tuple[int, int],
        output: int | None = None,
    ) -> Forked:
        job = {"arguments": arguments, "environment": environment, "directory": str(Path.cwd())}
        news, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with Path(os.devnull).open("rb") as nothing, theirs, self._asking:
            given = [nothing.fileno(), *streams, theirs.fileno()]
            socket.send_fds(self._socket, [json.dumps(job).encode() + b"\n"], given)
            theirs.close()  # or nobody would be missed at the other end
            return Forked(arguments, news, output)


def _read(stream: Any) -> str:
    stream.seek(0)
    read: str = stream.read().decode()
    return read


@cache
def warm_command() -> WarmCommand:
    """The one of this process."""
    started = WarmCommand()
    atexit.register(started.stop)
    return started


class _Server:
    """Forks for each job, and tells who asked how its child ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._askers: dict[int, socket.socket] = {}
        self._woken, self._wakes = socket.socketpair()
        self._wakes.settimeout(0)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes.fileno())

    def serve(self) -> dict[str, Any] | None:
        """The job in a child, and None when nobody asks any more."""
        while True:
            ready, _, _ = select.select([self._control, self._woken], [], [])
            if self._woken in ready:
                self._woken.recv(1000)
                self._bury()
            if self._control in ready:
                line, fds, _, _ = socket.recv_fds(self._control, 1 << 20, 4)
                if line == ENDED:
                    self._end_children()
                    return None
                while not line.endswith(b"\n"):
                    line += self._control.recv(1 << 20)
                if self._is_child(fds):
                    job: dict[str, Any] = json.loads(line)
                    return job

    def _is_child(self, fds: list[int]) -> bool:
        child = os.fork()
        *streams, news = fds
        if not child:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            self._leave()
        for stream in streams:
            os.close(stream)
        if not child:
            os.close(news)
            return True
        self._askers[child] = socket.socket(fileno=news)
        self._askers[child].send(b"%d" % child)
        return False

    def _leave(self) -> None:
        """A child has nothing of its parent's but the imports."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for connection in (self._control, self._woken, self._wakes, *self._askers.values()):
            connection.close()

    def _end_children(self) -> None:
        """Those of a killed test run: nobody else knows of them."""
        self._bury()
        for child in self._askers:
            os.kill(child, signal.SIGTERM)

    def _bury(self) -> None:
        while self._askers:
            child, status = os.waitpid(-1, os.WNOHANG)
            if not child:
                return
            with self._askers.pop(child) as asker, suppress(OSError):  # who asked may not care any more
                asker.send(b"%d" % os.waitstatus_to_exitcode(status))


def _open_streams() -> None:
    """As Python does when it starts; those there are were made for other files."""
    sys.stdin = sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stdout = sys.__stdout__ = open(1, "w", closefd=False)  # type: ignore[misc] # noqa: SIM115
    errors = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.stderr = sys.__stderr__ = errors  # type: ignore[misc]


def _main() -> None:
    for package in ("input", "screen", "commands", "actions", "backend", "watching"):
        for module in iter_modules([str(Path(start.__file__).with_name(package))]):
            import_module(f"crawler.entrypoints.cli.{package}.{module.name}")
    import_module("workers.warm").prepare()
    gc.freeze()  # or every child copies and clears what all of them share
    with socket.socket(fileno=int(sys.argv[1])) as control:
        job = _Server(control).serve()
    if job:
        os.environ.clear()
        os.environ.update(job["environment"])
        os.chdir(job["directory"])
        _open_streams()
        sys.argv = [str(Path(start.__file__).with_name("__main__.py")), *job["arguments"]]
        _end(_status())


def _status() -> int:
    try:
        start.main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0
    return 0


def _end(status: int) -> None:
    """As Python ends, but it does not take apart all that was imported: that takes longer than most commands."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)  # Python has something to say about it
    os._exit(status)


if __name__ == "__main__":
    _main()
