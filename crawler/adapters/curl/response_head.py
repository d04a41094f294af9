"""Parse the head of an HTTP response (status line and headers) from the raw lines that libcurl delivers.

libcurl has already checked how the status line begins, unfolded folded lines, refused NULs and stray carriage returns.
"""

from typing import NamedTuple

from crawler.domain.pages.robots_directives import join_fields


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


def _status(text: str) -> int:
    """The status code; zero when it is not one: libcurl checks its first three digits only."""
    return int(text) if len(text) == 3 and text.isascii() and text.isdigit() else 0


def _text(raw: bytes) -> str:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text
