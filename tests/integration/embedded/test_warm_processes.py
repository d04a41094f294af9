"""Processes that are forked from a warm supervisor, and those that start when somebody calls, tried for real."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from crawler.supervisor import ProcessState, Troubles, read_troubles
from crawler.supervisor.warm import WarmProcess

# A module that says what it finds, and how it was ended.
TELLS = """
import json, os, pathlib, signal, sys
print(json.dumps({
    "argv": sys.argv, "pid": os.getpid(), "group": os.getpgid(0), "session": os.getsid(0),
    "place": os.environ.get("PLACE"), "home": "HOME" in os.environ, "term": signal.getsignal(15) is signal.SIG_DFL,
    "warm": "pytest" in sys.modules, "input": os.read(0, 10).decode(),
    "open": [str(file.readlink()) for file in pathlib.Path("/proc/self/fd").iterdir() if file.exists()],
}), flush=True)
if "stay" in sys.argv:
    signal.pause()
sys.exit({"fine": 0, "code": 3}.get(sys.argv[1], "it went wrong"))
"""
# A supervisor in a process of its own, of a process that is only started when somebody calls.
SUPERVISES = """
import sys
from crawler.supervisor import ProcessSpec, Supervisor, TerminalOutput
argv, address = (sys.executable, "-m", "shown"), ("127.0.0.1", int(sys.argv[1]))
spec = ProcessSpec("part", argv, warm="tells", address=address)
print("exit", Supervisor([spec], TerminalOutput(["part"], sys.stdout)).run_forever(), flush=True)
"""
# Answers one call at the socket it was started for, and ends.
ANSWERS = """
import os, socket
listening = socket.socket(fileno=int(os.environ["SUPERVISOR_SOCKET"]))
listening.setblocking(True)
connection, _ = listening.accept()
connection.sendall(str(os.getpid()).encode())
connection.close()
"""


@contextmanager
def warm(directory: Path, *arguments: str) -> Iterator[WarmProcess]:
    (directory / "tells.py").write_text(TELLS)
    sys.path.insert(0, str(directory))
    try:
        argv = (sys.executable, "-m", "shown", *arguments)
        process = WarmProcess("tells", argv, {"PLACE": "here"}, None, dies_with_us=False)
    finally:
        sys.path.remove(str(directory))
    with process.stdout:
        yield process


def test_a_warm_process_begins_like_a_new_one_but_for_what_was_imported(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w"), warm(tmp_path, "code") as process:
        said = json.loads(process.stdout.readline())
        assert process.wait() == 3
    assert said["argv"][1:] == ["code"]
    assert said["group"] == said["session"] == said["pid"] == process.pid
    assert (said["place"], said["home"], said["term"], said["input"]) == ("here", False, True, "")
    assert said["warm"]
    assert not any(str(tmp_path) in name for name in said["open"])


def test_a_warm_process_shows_its_own_command_line_and_tells_why_it_ended(tmp_path: Path) -> None:
    with warm(tmp_path, "wrong", "stay") as process:
        process.stdout.readline()
        assert " ".join(psutil.Process(process.pid).cmdline()).split()[1:] == ["-m", "shown", "wrong", "stay"]
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait() == -signal.SIGTERM
    with warm(tmp_path, "fine") as process:
        assert process.wait() == 0
    with warm(tmp_path, "wrong") as process:
        assert process.stdout.read().decode().splitlines()[-1] == "it went wrong"
        assert process.wait() == 1


def test_the_first_call_starts_a_process_that_sleeps_and_the_next_one_finds_another(tmp_path: Path) -> None:
    (tmp_path / "tells.py").write_text(ANSWERS)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, "-c", SUPERVISES, str(port)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as supervisor:
        try:
            first = eventually(lambda: call(port))
            second = eventually(lambda: call(port))
            assert first != second
            assert first != str(supervisor.pid)
        finally:
            supervisor.send_signal(signal.SIGTERM)
            out, _ = supervisor.communicate(timeout=30)
    assert out.splitlines()[-1] == "exit 0"
    assert "again in" not in out, "it ended because nobody needed it"


def call(port: int) -> str:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            return connection.recv(100).decode()
    except ConnectionError:
        return ""


def eventually(what: Callable[[], str], seconds: float = 30) -> str:
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def test_troubles_are_told_while_they_last_and_while_their_supervisor_lives(tmp_path: Path) -> None:
    well = ProcessState("api", 1, ready=True, deaths=0, last_exit=None)
    ill = ProcessState("fetch", None, ready=False, deaths=4, last_exit=1, trouble="fetch does not stay up: no memory")
    tell = Troubles(tmp_path)
    tell([well, ill])
    assert read_troubles(tmp_path) == {"fetch": "fetch does not stay up: no memory"}
    tell([well])
    assert read_troubles(tmp_path) == {}
    tell([ill])
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    file = tmp_path / "troubles.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "supervisor": int(ended.stdout)}))
    assert read_troubles(tmp_path) == {}
