import os
import secrets

import pytest


@pytest.fixture
def fuzzing_seed() -> int:
    """Another one each time, unless FUZZING_SEED says which; a failure prints it."""
    seed = int(os.environ.get("FUZZING_SEED") or secrets.randbelow(10**6))
    print(f"again: FUZZING_SEED={seed}, or python -m tests.unit.changes.fuzzing --seed {seed}")
    return seed
