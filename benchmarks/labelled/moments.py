"""Dates, times and ages as sites write them."""

from datetime import UTC, datetime, timedelta

FIRST_DAY = datetime(2026, 11, 15, 10, 0, tzinfo=UTC)
"""When the earlier crawl of the first site began."""

DATES = (
    "%d %B %Y",
    "%Y-%m-%d",
    "%B %d, %Y",
    "%d.%m.%Y",
    "%m/%d/%Y",
    "%a, %d %b %Y",
    "%d %b %Y",
    "%b %d, %Y",
)
TIMES = ("%H:%M:%S", "%H:%M", "%I:%M %p", "%H:%M:%S.%f", "%Hh%M", "%I:%M:%S %p")

_STEPS = (
    ("year", 365 * 86_400),
    ("month", 30 * 86_400),
    ("week", 7 * 86_400),
    ("day", 86_400),
    ("hour", 3600),
    ("minute", 60),
)


def ago(then: datetime, now: datetime, *, short: bool = False) -> str:
    seconds = int((now - then) / timedelta(seconds=1))
    for name, length in _STEPS:
        count = seconds // length
        if count:
            return _worded(name, count, short=short)
    return "just now"


def _worded(name: str, count: int, *, short: bool) -> str:
    if short:
        return f"{count}{name[0] if name != 'month' else 'mo'} ago"
    if name == "day" and count == 1:
        return "yesterday"
    if count == 1:
        return f"an {name} ago" if name == "hour" else f"a {name} ago"
    return f"{count} {name}s ago"
