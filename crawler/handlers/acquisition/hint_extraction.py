"""After the engine's commit: somebody reads the pages of the entries that were fetched. Once a second is enough.

The pages are read by `extract_entries.py`.
"""

from typing import Protocol

SECONDS = 1.0


class Allowed(Protocol):
    def __call__(self, seconds: float) -> bool: ...


class Hint(Protocol):
    def __call__(self, countdown_seconds: float) -> None: ...


class HintExtraction:
    """The first of a second sends a hint that is read at its end: it is good for all that is committed until then."""

    def __init__(self, allowed: Allowed, hint: Hint) -> None:
        self._allowed = allowed
        self._hint = hint

    def __call__(self) -> None:
        if self._allowed(SECONDS):
            self._hint(SECONDS)
