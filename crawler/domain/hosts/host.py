"""A host, as far as it must be remembered."""

from datetime import datetime
from typing import NamedTuple


class HostRecord(NamedTuple):
    """What Postgres remembers of a host's robots.txt."""

    robots_status: int | None = None
    robots_text: bytes | None = None
    robots_fetched_at: datetime | None = None
    """When it was last asked for, read or not."""
    robots_failing_since: datetime | None = None
    robots_failure: str | None = None
    """Why there was no answer; None when there was one, of whatever status."""


class Slowdown(NamedTuple):
    """Why a host is asked less often than a project would: its complaints, and what operators said."""

    host: str
    blocked_until: datetime | None
    learned_seconds: float
    incidents: int
    paused: bool
    delay_seconds: float | None
