"""What Postgres stores about a host: its robots.txt, and why it is slowed down."""

from datetime import datetime
from typing import NamedTuple


class HostRecord(NamedTuple):
    """A host's robots.txt as Postgres stores it."""

    robots_status: int | None = None
    robots_text: bytes | None = None
    robots_fetched_at: datetime | None = None
    """When robots.txt was last requested, read or not."""
    robots_failing_since: datetime | None = None
    robots_failure: str | None = None
    """Why robots.txt got no response; None when it got one, of whatever status."""


class Slowdown(NamedTuple):
    """Why a host is requested less often than a project asks: its 429 and 503 responses, and operators' settings."""

    host: str
    blocked_until: datetime | None
    learned_seconds: float
    incidents: int
    paused: bool
    delay_seconds: float | None
