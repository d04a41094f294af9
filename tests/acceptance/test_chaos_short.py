"""The short part of `make chaos`: real servers, workers and a site, one fault of each kind, judged by the truth.

`CHAOS_SEED=n` does other harm in another order; all scenarios: `python -m tests.chaos --list`.
"""

import os
from pathlib import Path

import pytest

from tests.chaos.nemesis import short
from tests.chaos.scenario import REGISTRY, run

pytestmark = pytest.mark.slow
SEED = int(os.environ.get("CHAOS_SEED", "1"))


def test_crawls_end_exact_and_polite_whatever_is_killed_meanwhile(tmp_path: Path) -> None:
    report = run(REGISTRY[short.__name__], SEED, tmp_path / "run")
    assert report.ok, f"CHAOS_SEED={SEED}: {report.problems}"
