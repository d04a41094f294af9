"""How long to wait before a restart."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Backoff:
    """Doubling, up to a cap; forgotten after a good life."""

    first_seconds: float = 0.5
    cap_seconds: float = 30
    reset_after_seconds: float = 60

    def after(self, previous_seconds: float, lived_seconds: float) -> float:
        """The wait that follows one of `previous_seconds` (0: none yet) and a life this long."""
        if previous_seconds == 0 or lived_seconds >= self.reset_after_seconds:
            return self.first_seconds
        return min(previous_seconds * 2, self.cap_seconds)
