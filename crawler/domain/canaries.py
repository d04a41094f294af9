"""Canary tasks: a small task is sent through each queue now and then. When it runs, the queue has a live consumer."""

from typing import NamedTuple

EVERY_SECONDS = 60.0
PATIENCE_SECONDS = 120.0
"""After so many seconds without a run, a queue counts as not consumed. A busy worker runs canaries between two shifts.

Then another canary is sent, because messages can be lost. If the queue still holds the first one, none is sent: without
a worker they must not pile up.
"""


class Canary(NamedTuple):
    """A queue's canary: since when one is pending, when one was last sent, when one last ran. None: never."""

    sent_at: float | None = None
    tried_at: float | None = None
    run_at: float | None = None

    @property
    def is_out(self) -> bool:
        return self.sent_at is not None and (self.run_at is None or self.run_at < self.sent_at)

    def is_due(self, now: float) -> bool:
        if self.tried_at is None:
            return True
        return now - self.tried_at >= (PATIENCE_SECONDS if self.is_out else EVERY_SECONDS)

    def age(self, now: float) -> float | None:
        """Seconds since the queue was last seen to be consumed."""
        return None if self.run_at is None else max(0.0, now - self.run_at)

    def waits(self, now: float) -> float:
        """Seconds for which the queue's canary has been pending."""
        return max(0.0, now - self.sent_at) if self.is_out and self.sent_at is not None else 0.0
