"""Queries of links on pages that are not UTF-8: browsers send them in the charset of the page, as servers expect."""

import re

from crawler.domain.pages.legacy_charsets import encode

_HTTP = re.compile(r"\s*(?:https?:|(?![a-z][a-z0-9+.-]*:))", re.IGNORECASE).match
"""Links with another scheme are in UTF-8 everywhere, and nobody follows them."""
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_ESCAPED = frozenset((*range(0x21), *b"\"#'<>", *range(0x7F, 0x100)))
_UNICODE = ("utf-8", "utf-16le", "utf-16be")


def in_charset(url: str, charset: str) -> str:
    """The URL as written, without its fragment; what its query has beyond ASCII is escaped in the page's charset.

    A character that the charset lacks is sent as its number: `&#1046;`, escaped as well. ISO-2022-JP pages are left as
    they are: its escapes would have to be written too, and next to no server reads them.
    """
    if charset in _UNICODE or charset == "iso-2022-jp" or url.isascii() or not _HTTP(url):
        return url
    path, mark, query = url.partition("?")
    if not mark or query.isascii():
        return url
    return f"{path}?{''.join(_written(char, charset) for char in query.translate(_LINE_BREAKS))}"


def _written(char: str, charset: str) -> str:
    if char.isascii():
        return char
    raw = encode(char, charset)
    if raw is None:
        return f"%26%23{ord(char)}%3B"
    return "".join(f"%{byte:02X}" if byte in _ESCAPED else chr(byte) for byte in raw)
