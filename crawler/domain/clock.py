"""Time as a dependency: rules get `now`, only the outermost code asks a clock."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def from_ms(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def from_seconds(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
