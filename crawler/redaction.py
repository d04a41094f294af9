"""Removes secrets and control characters from text that goes into logs, errors and terminals."""

import re

# Lengths are limited: unlimited patterns take very long on text that was made for it.
_SECRET_QUERY = re.compile(
    r"([?&](?:[^=&\s]{0,60}(?:token|key|sig|password|secret)[^=&\s]{0,60})=)[^&\s'\"]+", re.IGNORECASE
)
_USERINFO = re.compile(r"(\w{1,20}://)[^/\s'\"]+@")
LONGEST_VALUE = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def redact(value: str) -> str:
    """Remove secrets and control characters and shorten the value: crawled text may contain anything."""
    if len(value) > LONGEST_VALUE:
        value = value[:LONGEST_VALUE] + "…"
    value = _USERINFO.sub(r"\1…@", value)
    value = _SECRET_QUERY.sub(r"\1…", value)
    return _CONTROL.sub("?", value)
