"""Queries of links on pages that are not UTF-8: browsers send them in the charset of the page, as servers expect."""

import re
import unicodedata
from collections.abc import Iterator

from crawler.domain.pages.legacy_charsets import encode

_HTTP = re.compile(r"\s*(?:https?:|(?![a-z][a-z0-9+.-]*:))", re.IGNORECASE).match
"""Links with another scheme are in UTF-8 everywhere, and nobody follows them."""
_LINE_BREAKS = str.maketrans("", "", "\t\n\r")
_ESCAPED = frozenset((*range(0x21), *b"\"#'<>", *range(0x7F, 0x100)))
_WIDE = {"\uff9e": "\u309b", "\uff9f": "\u309c"}
_UNICODE = ("utf-8", "utf-16le", "utf-16be", "replacement")
"""Pages in these send UTF-8."""


def in_charset(url: str, charset: str) -> str:
    """The URL as written, without its fragment; what its query has beyond ASCII is escaped in the page's charset.

    A character that the charset lacks is sent as its number: `&#1046;`, escaped as well.
    """
    if charset in _UNICODE or url.isascii() or not _HTTP(url):
        return url
    path, mark, query = url.partition("?")
    if not mark or query.isascii():
        return url
    text = query.translate(_LINE_BREAKS)
    if charset == "iso-2022-jp":
        written = "".join(_escaped(raw) if isinstance(raw, bytes) else raw for raw in _iso_2022_jp(text))
    else:
        written = "".join(_written(char, charset) for char in text)
    return f"{path}?{written}"


def _written(char: str, charset: str) -> str:
    if char.isascii():
        return char
    raw = encode(char, charset)
    return _number(char) if raw is None else _escaped(raw)


def _escaped(raw: bytes) -> str:
    return "".join(f"%{byte:02X}" if byte in _ESCAPED else chr(byte) for byte in raw)


def _number(char: str) -> str:
    return f"%26%23{ord(char)}%3B"


_ASCII, _ROMAN, _KANJI = b"\x1b(B", b"\x1b(J", b"\x1b$B"
_OF_ROMAN = {"\xa5": b"\\", "\u203e": b"~"}


def _iso_2022_jp(text: str) -> Iterator[bytes | str]:
    """What is to be escaped as bytes, the rest as text. A charset with states: each is announced before it begins."""
    state = _ASCII
    for char in text:
        raw = _OF_ROMAN.get(char) or _kanji(char)
        wanted = _state(char, state) if raw is None else _ROMAN if char in _OF_ROMAN else _KANJI
        if wanted != state:
            yield wanted
            state = wanted
        if char.isascii():
            yield char
        else:
            yield _number(char) if raw is None else raw
    if state != _ASCII:
        yield _ASCII


def _state(char: str, state: bytes) -> bytes:
    """The state for ASCII, and for characters that are written as their numbers."""
    is_shared = state == _ROMAN and char not in "\\~"
    return state if is_shared else _ASCII


def _kanji(char: str) -> bytes | None:
    """The two bytes of EUC-JP without their eighth bits; half-width letters are written wide."""
    wide = _WIDE.get(char) or (unicodedata.normalize("NFKC", char) if "\uff61" <= char <= "\uff9f" else char)
    raw = encode(wide, "euc-jp")
    return bytes(byte & 0x7F for byte in raw) if raw and len(raw) == 2 and raw[0] > 0x8E else None
