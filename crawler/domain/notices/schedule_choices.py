"""Options of a schedule that are one of a few words. Commands show them without Pydantic, which `schedule.py` needs."""

from enum import StrEnum

MOST_CRAWLS = 50
"""Of one backtest."""


class Frequency(StrEnum):
    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    CRON = "cron"


class NotifyOn(StrEnum):
    SIGNIFICANT = "significant"
    ANY = "any"
    ALWAYS = "always"
    CONDITIONS = "conditions"
    """Only what conditions and watch rules ask for."""


class Form(StrEnum):
    AT_ONCE = "at_once"
    DAILY = "daily"
    WEEKLY = "weekly"
