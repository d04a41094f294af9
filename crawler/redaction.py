"""Removes secrets and control characters from text that goes into logs, errors and terminals."""

import re

# Lengths are limited: unlimited patterns take very long on text that was made for it.
_SECRET_QUERY = re.compile(
    r"([?&](?:[^=&\s]{0,60}(?:token|key|sig|password|secret)[^=&\s]{0,60})=)[^&\s'\"]+", re.IGNORECASE
)
_USERINFO = re.compile(r"(\w{1,20}://)[^/\s'\"]+@")
LONGEST_VALUE = 10_000
UNSAFE = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff"
"""In a class of a regular expression: control characters but tabs and ends of lines (terminals obey those from 80 to 9f
as they obey ESC), lone surrogates, line and paragraph separators, and characters that change the text direction."""
_UNSAFE = re.compile(f"[{UNSAFE}]")


def redact(value: str) -> str:
    """Remove secrets and control characters and shorten the value: crawled text may contain anything."""
    if len(value) > LONGEST_VALUE:
        value = value[:LONGEST_VALUE] + "…"
    value = _USERINFO.sub(r"\1…@", value)
    value = _SECRET_QUERY.sub(r"\1…", value)
    return printable(value)


def printable(text: str) -> str:
    """The text with its lines and tabs; each unsafe character is a question mark."""
    return _UNSAFE.sub("?", text)
