"""How far back a list of changes goes: the last day, week or month, or all of it."""

from datetime import datetime, timedelta

PERIODS = (("", "Any time"), ("day", "Last day"), ("week", "Last week"), ("month", "Last month"))
_SPANS = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}


def known(period: str) -> str:
    return period if period in _SPANS else ""


def since(period: str, now: datetime) -> datetime | None:
    span = _SPANS.get(period)
    return now - span if span else None
