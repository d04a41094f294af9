"""Canaries: a small task is sent through each queue now and then; that it was run shows that the queue is consumed."""

from typing import NamedTuple

EVERY_SECONDS = 60.0
PATIENCE_SECONDS = 120.0
"""A busy worker takes a canary between two shifts; a queue that takes longer than this counts as not consumed.

After so long another is sent, because messages can be lost, unless the queue is seen to hold the first one still: where
nobody works they must not pile up.
"""


class Canary(NamedTuple):
    """Of one queue, None if never: since when one is to be run, when one was last sent, when one was last run."""

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
        """Since the queue was last seen to be consumed."""
        return None if self.run_at is None else max(0.0, now - self.run_at)

    def waits(self, now: float) -> float:
        """For how long the queue owes an answer."""
        return max(0.0, now - self.sent_at) if self.is_out and self.sent_at is not None else 0.0
