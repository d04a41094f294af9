"""A host, as far as it must be remembered."""

from datetime import datetime
from typing import NamedTuple


class HostRecord(NamedTuple):
    """What Postgres remembers of a host's robots.txt."""

    robots_status: int | None = None
    robots_text: bytes | None = None
    robots_fetched_at: datetime | None = None
    robots_failing_since: datetime | None = None
