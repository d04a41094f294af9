"""Parse the head of an HTTP response (status line and headers) from the raw lines that libcurl delivers.

libcurl has already checked how the status line begins, unfolded folded lines, refused NULs and stray carriage returns.
"""

from collections.abc import Mapping
from typing import NamedTuple

from crawler.domain.pages.robots_directives import join_fields

_UNPACKED = frozenset({"", "identity", "none"})


class ResponseHead(NamedTuple):
    status: int
    http_version: str
    headers: dict[str, str]
    """Header names in lower case; repeated fields joined by ", "."""


def parse_head(lines: list[bytes]) -> ResponseHead:
    """Parse the status line and the header lines, each with its line end."""
    first, *fields = _text(b"".join(lines)).split("\n")
    version, status = first.split(None, 2)[:2]
    headers: dict[str, str] = {}
    for field in fields:
        name, colon, value = field.partition(":")
        if colon:
            name = name.lower().rstrip()
            value = value.strip()
            headers[name] = join_fields(name, headers[name], value) if name in headers else value
    return ResponseHead(_status(status), version.partition("/")[2], headers)


def times_packed(headers: Mapping[str, str]) -> int:
    """How many codings libcurl would undo, one behind the other.

    Of one, what comes out is limited while it arrives. Of several, a few kilobytes may hold terabytes for the inner one
    from which nothing at all comes out, and all of that is done in one call, for as long as a request may last.
    """
    codings = (coding.strip().lower() for coding in headers.get("content-encoding", "").split(","))
    return sum(1 for coding in codings if coding not in _UNPACKED)


def _status(text: str) -> int:
    """The status code; zero when it is not one: libcurl checks its first three digits only."""
    return int(text) if len(text) == 3 and text.isascii() and text.isdigit() else 0


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text
