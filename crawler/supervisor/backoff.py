"""Exponential backoff between restarts of a process."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    """Doubles the delay up to a cap; starts again after the process ran long enough."""

    first_seconds: float = 0.5
    cap_seconds: float = 30
    reset_after_seconds: float = 60

    def after(self, previous_seconds: float, lived_seconds: float) -> float:
        """The next delay, after a delay of `previous_seconds` (0 if none) and a run of `lived_seconds`."""
        if previous_seconds == 0 or lived_seconds >= self.reset_after_seconds:
            return self.first_seconds
        return min(previous_seconds * 2, self.cap_seconds)
