"""What a whole system takes when nobody uses it: memory by process, CPU at rest, and how soon it is ready."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.children import child
from benchmarks.options import Options
from benchmarks.ours import server_pids

TITLE = "A whole system at rest"
SETTLE_SECONDS = 75
"""Until canaries have been through every queue once."""
REST_SECONDS = 120
READY = b"Ctrl-C"
_SIZE = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_WORKER = re.compile(r" -n (\w+)-")


class Part(NamedTuple):
    name: str
    processes: int
    megabytes: float
    """The proportional set size: of what processes share, each counts its share."""
    cpu_percent: float
    """Of one core."""


def run(options: Options) -> str:
    settle, rest = options.size(SETTLE_SECONDS, 5), options.size(REST_SECONDS, 5)
    with tempfile.TemporaryDirectory(prefix="crawler-bench-") as folder:
        data = Path(folder) / "data"
        with stack(data) as (_, cold):
            pass
        with stack(data) as (root, warm):
            time.sleep(settle)
            parts = at_rest(root, data, rest)
    return f"""`crawler up` with everything on, on embedded servers; nobody uses it. Memory is the proportional set size
(PSS) of all processes: what several share is counted once. CPU is that of {rest} s, {settle} s after the start.

{table(parts)}

Ready after {warm:.1f} s; in a new data directory after {cold:.1f} s. Flower runs only while somebody looks at it."""


def table(parts: list[Part]) -> str:
    total = Part(
        "all",
        sum(part.processes for part in parts),
        sum(part.megabytes for part in parts),
        sum(part.cpu_percent for part in parts),
    )
    lines = ["| process | processes | MB (PSS) | CPU, % of a core |", "|---|--:|--:|--:|"]
    rows = [*sorted(parts, key=lambda part: -part.megabytes), total]
    return "\n".join([*lines, *(f"| {name} | {count} | {size:.1f} | {cpu:.2f} |" for name, count, size, cpu in rows)])


@contextmanager
def stack(data: Path) -> Iterator[tuple[psutil.Process, float]]:
    """A running `crawler up`, and how many seconds it took to be ready."""
    command = [sys.executable, "-m", "crawler.entrypoints.cli", "up", "--port", str(_free_port())]
    env = {**os.environ, "CRAWLER_DATA_DIR": str(data), "CRAWLER_FLOWER_PORT": str(_free_port())}
    began = time.monotonic()
    with child(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        if not any(READY in line for line in process.stderr):
            raise RuntimeError(f"It did not start; see {data / 'logs'}.")
        yield psutil.Process(process.pid), time.monotonic() - began
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def at_rest(root: psutil.Process, data: Path, seconds: float) -> list[Part]:
    before = {name: sum(map(_cpu, processes)) for name, processes in _by_name(root, data).items()}
    time.sleep(seconds)
    return [
        Part(
            name,
            len(processes),
            sum(map(_megabytes, processes)),
            100 * (sum(map(_cpu, processes)) - before.get(name, 0.0)) / seconds,
        )
        for name, processes in _by_name(root, data).items()
        if processes
    ]


def _by_name(root: psutil.Process, data: Path) -> dict[str, list[psutil.Process]]:
    """The processes of a system, by what they are."""
    found: dict[str, list[psutil.Process]] = {"supervisor": [root]}
    for process in root.children():
        found.setdefault(_name(process), []).extend([process, *process.children(recursive=True)])
    for name, pid in server_pids(data).items():
        main = psutil.Process(pid)
        found[name] = [main, *main.children(recursive=True)]
    return found


def _name(process: psutil.Process) -> str:
    line = " ".join(process.cmdline())
    if named := _WORKER.search(line):
        return named.group(1)
    return next((name for name in ("api", "beat", "flower", "reaper") if name in line), "other")


def _cpu(process: psutil.Process) -> float:
    """With what its ended children used: a pool that shrinks meanwhile loses nothing from the sum."""
    return float(sum(process.cpu_times()[:4]))


def _megabytes(process: psutil.Process) -> float:
    found = _SIZE.search(Path(f"/proc/{process.pid}/smaps_rollup").read_text("ascii"))
    return int(found.group(1)) / 1024 if found else 0.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
