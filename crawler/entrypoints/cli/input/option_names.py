"""Replaces configuration field names in error messages by the command line options that the user typed."""

import re

from crawler.errors import InvalidConfig

_OPTIONS = {
    "max_pages": "--max-pages",
    "max_depth": "--depth",
    "include_patterns": "--include",
    "exclude_patterns": "--exclude",
    "include_mode": "--include-mode",
    "query_params": "--query-params",
    "delay_seconds": "--delay",
    "max_concurrent": "--concurrency",
    "respect_robots_txt": "--ignore-robots",
    "notification_webhook": "--webhook",
    "notification_email": "--email",
    "notification_urls": "--notify",
    "day_of_week": "--day-of-week",
    "day_of_month": "--day-of-month",
    "jitter_minutes": "--jitter",
    "notify_after_failures": "--failures",
}
_FIELD = re.compile(rf"\b(?P<field>{'|'.join(_OPTIONS)})\b(?:\.\d+)?(?P<colon>: Input)?").sub


def in_options(message: str) -> str:
    """The message with options such as --max-pages in place of field names."""
    return _FIELD(lambda m: _OPTIONS[m["field"]] + (" is not valid: it" if m["colon"] else ""), message)


def told_in_options(exc: InvalidConfig) -> InvalidConfig:
    return InvalidConfig(in_options(exc.message), **exc.details)
