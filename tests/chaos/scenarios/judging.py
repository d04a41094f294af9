"""Pages of strangers against what compares them."""

import subprocess
import sys

from tests.chaos.scenario import Arena, scenario

SECONDS = 600


@scenario(starts=False, judged=False, seconds=5)
def random_pages(arena: Arena) -> None:
    """Ten minutes of random and hostile pairs of pages, by seed: none crashes what judges them, or takes long."""
    command = [sys.executable, "-m", "tests.unit.changes.fuzzing", "--seed", str(arena.seed), "--seconds", str(SECONDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * SECONDS, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    arena.note(done.stdout.splitlines()[-1])
