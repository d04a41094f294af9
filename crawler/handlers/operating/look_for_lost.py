"""Look for lost work, one process at a time and for a bounded time: whoever looks holds a place that others wait for.

A look that did not come to all has a coordinator go on at once. What is looked for: `handlers/crawls/reconcile.py`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

GLANCE_SECONDS = 1.0
"""So long a shift looks before it fetches."""
LOOK_SECONDS = 5.0
"""So long a coordinator looks before others have their turn."""


class Turns(Protocol):
    def acquire_reconcile(self, seconds: float) -> bool: ...
    def release_reconcile(self) -> None: ...


class LookForLost:
    def __init__(
        self,
        turns: Turns,
        reconcile: Callable[[float], bool],
        recover: Sequence[Callable[[], object]],
        ask: Callable[[], None],
    ) -> None:
        self._turns = turns
        self._reconcile = reconcile
        self._recover = recover
        self._ask = ask

    def __call__(self, seconds: float, every_seconds: float) -> bool:
        """Look for so long, if nobody did in the last `every_seconds`. Whether it was this one's turn."""
        if not self._turns.acquire_reconcile(every_seconds):
            return False
        self.now(seconds)
        return True

    def now(self, seconds: float) -> None:
        """Look, whoever else does."""
        is_whole = self._reconcile(seconds)
        for recover in self._recover:
            recover()
        if not is_whole:
            self._turns.release_reconcile()
            self._ask()
