"""How comparisons of several projects share a worker: short ones come at once, long ones one at a time and in turn.

Nobody knows beforehand how long a comparison takes. So each begins at once and goes on for a moment. One that takes
longer needs the only *long turn*. If another has it, it ends, waits, and begins anew when it is its turn; then it may
go on for twice as long as the last time before it has to let others go first. Without others it goes on to its end.
"""

from contextlib import AbstractContextManager
from enum import StrEnum
from typing import NamedTuple, Protocol
from uuid import UUID

SHORT_SECONDS = 0.5
"""CPU time for which a comparison goes on at once."""
LONG_SECONDS = 20.0
"""CPU time of the first long turn while others wait; each further one is twice as long."""
MOST_ATTEMPTS = 3
"""A comparison that was begun so often and never ended has failed: it ends whoever makes it."""


class Start(StrEnum):
    NOW = "now"
    LATER = "later"
    """Another crawl of the project is being compared, or others go first."""
    ELSEWHERE = "elsewhere"
    """Somebody else compares this crawl, or will."""


class Turn(NamedTuple):
    start: Start
    attempts: int = 0
    """How often it was begun and not ended in order, with this time."""
    is_long: bool = False
    yields: int = 0
    """How many long turns it has given up for others."""

    @property
    def seconds(self) -> float:
        """CPU time until it asks whether others wait."""
        return float(LONG_SECONDS * 2**self.yields) if self.is_long else SHORT_SECONDS


class Turns(Protocol):
    def begin(self, project_id: UUID, crawl_id: UUID, asked_by: str = "") -> Turn: ...
    def go_on(self, project_id: UUID, crawl_id: UUID) -> None: ...
    def held(self, project_id: UUID, crawl_id: UUID) -> AbstractContextManager[None]:
        """Says that it is still being made for as long as its process works, also where nobody asks it."""

    def take_long(self, crawl_id: UUID) -> bool: ...
    def others_wait(self, crawl_id: UUID) -> bool: ...
    def put_off(self, project_id: UUID, crawl_id: UUID, *, was_long: bool) -> None: ...
    def leave(self, project_id: UUID, crawl_id: UUID, *, is_over: bool) -> None: ...
