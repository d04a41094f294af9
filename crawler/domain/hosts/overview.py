"""A host's overview for operators: its current delay, block, robots.txt and waiting crawls, and why."""

import math
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from crawler.domain.urls.url import parse
from crawler.errors import Invalid, InvalidUrl

LONGEST_DELAY_SECONDS = 3600.0


class HostRow(NamedTuple):
    """A host's row in Postgres."""

    host: str
    requests: int = 0
    complaints: int = 0
    last_request_at: datetime | None = None
    paused: bool = False
    delay_seconds: float | None = None
    robots_status: int | None = None
    robots_text: bytes | None = None
    robots_fetched_at: datetime | None = None
    robots_failing_since: datetime | None = None
    robots_failure: str | None = None


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class RobotsOverview(_Value):
    status: int | None
    fetched_at: datetime | None
    failing_since: datetime | None
    failure: str | None
    bytes: int
    crawl_delay_seconds: float | None
    words: str


class WaitingCrawl(_Value):
    crawl_id: UUID
    lane: str
    queued: int
    why: str
    due_seconds: float | None


class HostOverview(_Value):
    host: str
    requests_24h: int
    complaints_24h: int
    """Answers 429 or 503."""
    last_request_at: datetime | None
    paused: bool
    blocked_until: datetime | None
    incidents: int
    in_flight: int
    gap_seconds: float
    """What the host is owed by everybody, before a project's own delay."""
    gap_because: str
    learned_seconds: float
    operator_seconds: float
    robots_seconds: float
    robots: RobotsOverview | None = None
    waiting: tuple[WaitingCrawl, ...] = ()


def checked_delay(seconds: float) -> float:
    if not math.isfinite(seconds) or not 0 <= seconds <= LONGEST_DELAY_SECONDS:
        raise Invalid(f"A delay has from 0 to {LONGEST_DELAY_SECONDS:.0f} seconds.")
    return seconds


def host_name(text: str) -> str:
    """The host name that delays go by, from whatever a person types: a host, a host and port, or a URL."""
    written = text.strip()
    if "://" not in written:
        written = f"{'https' if written.endswith(':443') else 'http'}://{written}"
    try:
        return parse(written).host
    except InvalidUrl as exc:
        shown = repr(text.strip()[:100])
        raise InvalidUrl(f"{shown} is not a host; write one like example.org or example.org:8080.") from exc


def robots_words(row: HostRow) -> str:
    if row.robots_failing_since is not None:
        why = row.robots_failure or f"it answers {row.robots_status}"
        return f"cannot be read ({why}), so the host is held"
    if row.robots_fetched_at is None:
        return "not read yet"
    if row.robots_status is None or row.robots_status >= 300:
        return f"there is none (answer {row.robots_status or 'refused'}), so everything is allowed"
    return "read and obeyed"
