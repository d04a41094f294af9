"""The command as a real process without the seconds that its imports take.

One process imports the command and forks for each call. A fork is a process of its own, with environment, streams and
exit status like any other; only the imports are shared. `Cli.cold` starts it as a person's shell does.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from crawler.entrypoints.cli import start

ROOT = Path(__file__).parents[2]
ENDED = b""


class WarmCommand:
    """Ends with whoever started it: then nobody is at the other end of its socket."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.acceptance.warm", str(theirs.fileno())]
            self._process = subprocess.Popen(command, cwd=ROOT, pass_fds=[theirs.fileno()])
        self._lines = self._socket.makefile("rb")

    def run(
        self, arguments: list[str], environment: dict[str, str], timeout: float
    ) -> "subprocess.CompletedProcess[str]":
        with Path(os.devnull).open("rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            job = {"arguments": arguments, "environment": environment, "directory": str(Path.cwd())}
            streams = [stream.fileno() for stream in (nothing, out, err)]
            socket.send_fds(self._socket, [json.dumps(job).encode() + b"\n"], streams)
            pid = self._answer(None)
            try:
                status = self._answer(timeout)
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                self._answer(None)
                raise
            said = [_read(stream) for stream in (out, err)]
        return subprocess.CompletedProcess(["crawler", *arguments], status, *said)

    def stop(self) -> None:
        self._lines.close()
        self._socket.close()
        self._process.wait(10)

    def _answer(self, timeout: float | None) -> int:
        self._socket.settimeout(timeout)
        try:
            line = self._lines.readline()
        finally:
            self._socket.settimeout(None)
        if line == ENDED:
            raise RuntimeError("The process that runs commands has ended; standard error tells why.")
        return int(line)


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


def _serve(control: socket.socket) -> dict[str, Any] | None:
    """Forks for each job; returns the job in the child, and None when nobody asks any more."""
    while True:
        line, streams, _, _ = socket.recv_fds(control, 1 << 20, 3)
        if line == ENDED:
            return None
        while not line.endswith(b"\n"):
            line += control.recv(1 << 20)
        child = os.fork()
        if not child:
            control.close()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
        for stream in streams:
            os.close(stream)
        if not child:
            job: dict[str, Any] = json.loads(line)
            return job
        control.sendall(b"%d\n" % child)
        _, status = os.waitpid(child, 0)
        control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _main() -> None:
    import_module("crawler.entrypoints.cli.app")
    import_module("crawler.entrypoints.cli.run_alone")
    gc.freeze()  # or every child copies and clears what all of them share
    with socket.socket(fileno=int(sys.argv[1])) as control:
        job = _serve(control)
    if job:
        os.environ.clear()
        os.environ.update(job["environment"])
        os.chdir(job["directory"])
        sys.argv = [str(Path(start.__file__).with_name("__main__.py")), *job["arguments"]]
        start.main()


if __name__ == "__main__":
    _main()
