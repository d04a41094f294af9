import os

import pytest


@pytest.fixture
def fuzzing_seed() -> int:
    """The same each time, unless FUZZING_SEED says which; `python -m tests.unit.changes.fuzzing` looks for more."""
    seed = int(os.environ.get("FUZZING_SEED", "2"))
    print(f"again: FUZZING_SEED={seed}, or python -m tests.unit.changes.fuzzing --seed {seed}")
    return seed
