"""The process that serves sites: one for all tests of a test process, for starting Python costs more than a test."""

import atexit
import json
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class SiteProcess:
    """Ends with whoever started it, however that one ends: its standard input is ours."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.site", "--empty", "--until-eof"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("The process for sites did not start; standard error tells why.")
        self._control = socket.create_connection(("127.0.0.1", json.loads(line)["control"]))

    @property
    def pid(self) -> int:
        return self._process.pid

    def order(self, name: str, **arguments: Any) -> Any:
        self._control.sendall(json.dumps({"do": name, **arguments}).encode() + b"\n")
        with self._control.makefile("rb") as lines:
            answer = json.loads(lines.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["result"]

    def stop(self) -> None:
        self._control.close()
        self._process.terminate()
        self._process.communicate(timeout=10)


@cache
def site_process() -> SiteProcess:
    """The one of this process."""
    started = SiteProcess()
    atexit.register(started.stop)
    return started
