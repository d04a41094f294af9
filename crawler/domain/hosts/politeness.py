"""Politeness: delay (gap) between two requests to a host, requests in flight, backoff after 429 and 503.

This file has the numbers and the arithmetic. Randomness comes in as `jitter`, a number from -1 to 1. What must be
atomic over all workers of all machines is decided inside Redis, by scripts in `adapters/frontier/lua`:

- the gap between two requests to a host: the longest that anybody asked for, as far as others wait for it (`take_turn`
  in serving.lua, `own_time` in pair_rules.lua). `least_gap` and `host_time` (host_rules.lua) say when the host may be
  asked again, `hindrance` (pair_rules.lua) what else stands in the way;
- the requests in flight at a host: `host_cap` and `host_room` (pair_rules.lua), which get `HOST_CAP` from here;
- when the gap begins: `note_sent` (host_rules.lua), at the moment the request went out. Until a worker says so the host
  is held (`take_turn`, serving.lua), for `hold_seconds` at most.

The least gap that operators set for all hosts (`requests_per_host_hour`) is in `domain/runtime_settings.py`.
"""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from crawler.domain.crawls.frontier import HostState
from crawler.domain.retries import jittered

DAY_SECONDS = 86_400.0
MAX_BLOCK_SECONDS = DAY_SECONDS
FIRST_BLOCK_SECONDS = 60.0
LONGEST_OWN_BLOCK_SECONDS = 600.0
"""The longest block that a host did not ask for itself: who starts a crawl after an outage must not find the host left
alone for hours. So long a crawl waits at least, by default."""

MAX_LEARNED_SECONDS = 60.0
FIRST_LEARNED_SECONDS = 1.0
"""The first delay of a host that answered 429 or 503 and had no delay: doubling zero would stay zero."""
QUIET_SECONDS = 1800.0
_NEGLIGIBLE_SECONDS = 0.05

MAX_CRAWL_DELAY_SECONDS = 60.0
MAX_SHARED_DELAY_SECONDS = 10.0
"""The longest delay of a project that other crawls of the host wait for, `SHARED_GAP` in pair_rules.lua. A longer one
it keeps to itself: or anybody could hold up all crawls of a host for an hour."""
HOST_CAP = 5
"""Requests in flight at one host, over all crawls, unless a crawl without a delay asks for more."""
LONGEST_HOLD_SECONDS = 30.0

ROBOTS_FRESH_SECONDS = DAY_SECONDS
"""How long a copy of robots.txt is used before it is fetched again (RFC 9309)."""
ROBOTS_RENEWED_SECONDS = 3600.0
"""A scheduled crawl begins with a copy of robots.txt that is no older. One that somebody starts reads it anew: often it
was edited for that very crawl."""

_SECONDS = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:,|$)").match


def owed_gap(project_seconds: float, host: HostState) -> tuple[float, str]:
    """The shortest time between two requests to the host as things are now, and who asked for it. For display only.

    `serve` in `lua/serving.lua` decides it; a test of the frontier checks that both agree.
    """
    asked = [
        (project_seconds, "the project's delay"),
        (host.robots_ms / 1000, "the host's robots.txt"),
        (host.learned_ms / 1000, "the host's complaints"),
        (host.floor_ms / 1000, "an operator"),
    ]
    seconds, who = max(asked, key=lambda pair: pair[0])
    return seconds, who if seconds else "nobody asked for one"


def hold_seconds(lease_seconds: float) -> float:
    """How long a host is held until its claimed request is reported as sent; then its gap counts from the claim."""
    return min(lease_seconds, LONGEST_HOLD_SECONDS)


def start_within(lease_seconds: float) -> float:
    """How long after its claim a request may still be started: never after its host has stopped waiting for it."""
    return 0.9 * hold_seconds(lease_seconds)


def retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks for, at most a day; None when it says nothing usable.

    A date that has passed is 0 (no wait); a negative number is not usable.
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
    """Length of a host's block after its `incidents`-th 429 or 503 that came without a Retry-After."""
    doubled = FIRST_BLOCK_SECONDS * 2 ** min(max(incidents - 1, 0), 20)
    return min(jittered(min(doubled, LONGEST_OWN_BLOCK_SECONDS), jitter), LONGEST_OWN_BLOCK_SECONDS)


def learned_delay(current: float, base: float) -> float:
    """The host's learned delay after one more 429 or 503: twice what it was, or twice the gap it complained about."""
    return min(max(2 * max(current, base), FIRST_LEARNED_SECONDS), MAX_LEARNED_SECONDS)


def forgive(learned: float, quiet_seconds: float) -> float:
    """The learned delay after so long without a 429 or 503: halved for each 30 minutes."""
    halvings = int(min(max(quiet_seconds, 0.0) / QUIET_SECONDS, 64))
    left = learned / 2**halvings
    return left if left >= _NEGLIGIBLE_SECONDS or not halvings else 0.0
