"""CPU of what runs, and of what has ended meanwhile."""

import subprocess
import sys
import time

import pytest

from benchmarks.usage import Usage

BURN = "import time\nwhile time.process_time() < {}: pass"


@pytest.mark.slow
def test_cpu_of_a_process_that_ended_and_of_its_children_is_counted() -> None:
    nested = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(0.4)!r}])\n{BURN.format(0.4)}"
    process = subprocess.Popen([sys.executable, "-c", nested])
    with Usage(lambda: [process.pid]) as usage:
        process.wait(60)
    assert 0.8 <= usage.cpu_seconds < 3
    assert usage.peak_megabytes > 1


@pytest.mark.slow
def test_cpu_before_the_block_is_not_counted() -> None:
    process = subprocess.Popen([sys.executable, "-c", f"{BURN.format(0.5)}\nprint(flush=True)\ninput()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    with Usage(lambda: [process.pid]) as usage:
        time.sleep(0.1)
    assert usage.cpu_seconds < 0.3
    assert set(usage.by_process) == {process.pid}
    process.communicate(b"\n", timeout=30)
