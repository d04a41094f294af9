"""In a new clone one test process compiles the tests; the others wait for it, and read what it wrote.

pytest writes each assertion of a test anew, which takes longer than all else of collecting. Processes that begin
together would all do that with the same files.
"""

import sys
import time
from pathlib import Path

FIRST = "gw0"
MOST_SECONDS = 300.0
LOOK_SECONDS = 0.1
DONE = Path(__file__).parent / "__pycache__" / "compiled"


def await_compiled(done: Path = DONE, most_seconds: float = MOST_SECONDS) -> bool:
    """Whether there is something to read. Without it this process compiles for itself."""
    until = time.monotonic() + most_seconds
    while not sys.dont_write_bytecode and not done.exists() and time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
    return done.exists()


def note_compiled(done: Path = DONE) -> None:
    if not sys.dont_write_bytecode:
        done.parent.mkdir(exist_ok=True)
        done.touch()
