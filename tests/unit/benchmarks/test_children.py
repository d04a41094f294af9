"""Nothing a benchmark starts outlives it."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from benchmarks.children import child

ROOT = Path(__file__).parents[3]
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
KILLED = f"""
import os, signal
from benchmarks.children import child
with child({SLEEP!r}) as process:
    print(process.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_child_ends_with_its_block_even_when_the_block_fails() -> None:
    with pytest.raises(KeyboardInterrupt), child(SLEEP) as process:
        raise KeyboardInterrupt
    assert process.returncode == -signal.SIGTERM


@pytest.mark.slow
def test_a_child_ends_when_the_benchmark_is_killed() -> None:
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    until = time.monotonic() + 10
    while psutil.pid_exists(int(done.stdout)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not psutil.pid_exists(int(done.stdout))


def test_a_child_that_ended_by_itself_is_left_as_it_is() -> None:
    with child([sys.executable, "-c", "raise SystemExit(3)"]) as process:
        assert process.wait(30) == 3
    assert process.returncode == 3
