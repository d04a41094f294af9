"""How long to leave a host alone: pure arithmetic. Chance comes in as `jitter`, a number from -1 to 1."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawler.domain.reasons import Reason

DAY_SECONDS = 86_400.0
MAX_BLOCK_SECONDS = DAY_SECONDS
FIRST_BLOCK_SECONDS = 60.0
JITTER = 0.1

MAX_LEARNED_SECONDS = 60.0
FIRST_LEARNED_SECONDS = 1.0
"""What a host that complained gets when it had no delay at all: nothing doubles to nothing."""
QUIET_SECONDS = 1800.0
_NEGLIGIBLE_SECONDS = 0.05

MAX_CRAWL_DELAY_SECONDS = 60.0
HOST_IN_FLIGHT = 5

MAX_RETRIES = 3
"""After a connect error or timeout, besides the first try."""
FIRST_RETRY_SECONDS = 2.0
MAX_RATE_LIMITED = 5
"""A URL answered 429 so often is given up."""

ROBOTS_HOLD_SECONDS = 1800.0
"""A host whose robots.txt cannot be read is asked for nothing else; after so long its URLs are given up."""
ROBOTS_RETRY_SECONDS = 60.0
ROBOTS_FRESH_SECONDS = DAY_SECONDS
"""RFC 9309: a copy is not used longer without asking again."""

ABSENT = frozenset({Reason.DNS, Reason.CONNECT, Reason.TLS})
"""Failures that are the host's own, whatever was asked for."""
ROBOTS_STREAK_SECONDS = 600.0
"""A failure so long after the last time we could have asked is a new one."""

_SECONDS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:,|$)").match


def gap_seconds(project_delay: float, robots_delay: float | None, learned: float) -> float:
    """The least time between two requests to a host."""
    return max(project_delay, min(robots_delay or 0.0, MAX_CRAWL_DELAY_SECONDS), learned)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds a Retry-After header asks for, at most a day; None when it says nothing usable.

    A date that has passed is 0 (now is fine); a negative number is no time at all.
    """
    if not value:
        return None
    seconds = _SECONDS(value)
    if seconds:
        return min(float(seconds.group(1)), MAX_BLOCK_SECONDS)
    try:
        date = parsedate_to_datetime(value.strip())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return min(max((date - now).total_seconds(), 0.0), MAX_BLOCK_SECONDS)


def block_seconds(incidents: int, jitter: float) -> float:
    """How long a host is blocked that answered 429 or 503 for the `incidents`-th time without saying for how long."""
    doubled = FIRST_BLOCK_SECONDS * 2 ** min(max(incidents - 1, 0), 20)
    return min(_jittered(min(doubled, MAX_BLOCK_SECONDS), jitter), MAX_BLOCK_SECONDS)


def learned_delay(current: float, base: float) -> float:
    """The host's own delay after one more complaint: twice what it was, or twice the gap it complained about."""
    return min(max(2 * max(current, base), FIRST_LEARNED_SECONDS), MAX_LEARNED_SECONDS)


def forgive(learned: float, quiet_seconds: float) -> float:
    """The learned delay after so long without a complaint: halved for each 30 minutes."""
    halvings = int(min(max(quiet_seconds, 0.0) / QUIET_SECONDS, 64))
    left = learned / 2**halvings
    return left if left >= _NEGLIGIBLE_SECONDS or not halvings else 0.0


def retry_delay(attempt: int, jitter: float) -> float:
    """Seconds before the `attempt`-th retry: 2, 4, 8, give or take a tenth."""
    return _jittered(FIRST_RETRY_SECONDS * 2 ** (min(max(attempt, 1), MAX_RETRIES) - 1), jitter)


def robots_given_up(held_seconds: float) -> bool:
    """Whether a host has been held long enough for its URLs to be `robots_unreachable`."""
    return held_seconds >= ROBOTS_HOLD_SECONDS


def robots_wait(failure: Reason | None, held_seconds: float) -> float | None:
    """Seconds until robots.txt is asked for again after it could not be read; None when its host is given up.

    Where nobody answers, nobody's pages could be had either: it is tried as often as a page would be.
    """
    if failure not in ABSENT:
        return None if robots_given_up(held_seconds) else ROBOTS_RETRY_SECONDS
    tried = 0.0
    for attempt in range(1, MAX_RETRIES + 1 if failure is not Reason.TLS else 1):
        if held_seconds < tried + FIRST_RETRY_SECONDS / 2:
            return retry_delay(attempt, 0.0)
        tried += retry_delay(attempt, 0.0)
    return None


def _jittered(seconds: float, jitter: float) -> float:
    return seconds * (1 + JITTER * min(max(jitter, -1.0), 1.0))
