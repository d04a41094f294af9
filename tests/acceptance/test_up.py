"""`crawler up`: everything runs, what dies comes back, and all of it ends when asked."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
import requests

from tests.acceptance.cli import Cli


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(what: Callable[[], object], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.2)
    return False


def get(url: str, key: str = "") -> int:
    try:
        return requests.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=5).status_code
    except requests.ConnectionError:
        return 0


def words_of(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it ends this very moment
        return []


def workers(stack: psutil.Process, name: str) -> list[psutil.Process]:
    """The main process of a worker: its children carry the same command line."""
    children = stack.children(recursive=True)
    named = [p for p in children if any(word.startswith(f"{name}-") for word in words_of(p))]
    return [p for p in named if p.ppid() not in {q.pid for q in named}]


def until(command: "subprocess.Popen[str]", words: str) -> list[str]:
    """What it says, up to the line with these words."""
    assert command.stdout
    lines = []
    for line in command.stdout:
        lines.append(line)
        if words in line:
            return lines
    raise AssertionError("".join(lines))


def test_the_whole_stack_runs_heals_and_stops(tmp_path: Path) -> None:
    port, flower = free_port(), free_port()
    cli = Cli(tmp_path, CRAWLER_FLOWER_PORT=str(flower))
    command = cli.start("up", "--port", str(port))
    try:
        stack = psutil.Process(command.pid)
        told = " ".join(" ".join(until(command, "Ctrl-C")).split())
        for words in (
            f"dashboard http://127.0.0.1:{port}/login#crt_",
            f"health http://127.0.0.1:{port}/api/v1/health",
            f"metrics http://127.0.0.1:{port}/api/v1/metrics",
            f"Flower http://127.0.0.1:{flower}/",
            f"key {tmp_path / 'api-key'}",
            f"logs {tmp_path / 'logs'}",
            "Ctrl-C stops everything",
        ):
            assert words in told, told
        assert "celery@" not in told, "banners go to the logs"
        assert " ready." in (tmp_path / "logs" / "control.log").read_text()
        assert get(f"http://127.0.0.1:{port}/api/v1/health/live") == 200, "it says so when it is true"
        service = f"http://127.0.0.1:{port}/api/v1"
        assert eventually(lambda: get(f"{service}/health/live") == 200, 60)
        key = (tmp_path / "api-key").read_text().strip()
        assert (tmp_path / "api-key").stat().st_mode & 0o777 == 0o600
        assert get(f"{service}/health") == 401
        assert get(f"{service}/health", "wrong") == 401
        assert get(f"{service}/metrics") == 401
        assert get(f"{service}/no/such/path") == 401, "an unknown path tells a stranger nothing"
        assert get(f"{service}/health", key) == 200
        assert get(f"{service}/metrics", key) == 200
        assert eventually(lambda: get(f"http://127.0.0.1:{flower}/") == 200, 60)
        for name in ("control", "notify", "fetch", "render", "ingest"):
            assert eventually(partial(workers, stack, name), 30), name

        (victim,) = workers(stack, "fetch")
        os.kill(victim.pid, signal.SIGKILL)
        assert eventually(lambda: [p.pid for p in workers(stack, "fetch")] not in ([], [victim.pid]), 30)

        everything = stack.children(recursive=True)
        listening = [
            connection.laddr.ip
            for process in [stack, *everything]
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert set(listening) == {"127.0.0.1"}
        began = time.monotonic()
        command.send_signal(signal.SIGTERM)
        output, _ = command.communicate(timeout=45)
        assert time.monotonic() - began < 40
        assert command.returncode == 0, output
        _, alive = psutil.wait_procs(everything, timeout=5)
        assert not alive
    finally:
        if command.poll() is None:
            command.kill()
            command.communicate()
