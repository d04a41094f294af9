"""Charsets older than UTF-8, byte for byte as the WHATWG encoding standard has them.

Python's codecs have nearly the same tables; where they differ, the difference stands here. Nothing raises: bytes that
mean nothing become U+FFFD, and so does a lead byte together with the byte it spoiled, unless that one is ASCII.

All of it takes a time that grows with the bytes, and no call of ours for each of them: pages are strangers'.
"""

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

CODECS = {
    "windows-1252": "cp1252",
    "ibm866": "cp866",
    "windows-874": "cp874",
    "koi8-r": "koi8_r",
    "koi8-u": "koi8_u",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "gb18030": "gb18030",
    "gbk": "gb18030",  # a superset, and what browsers decode with
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "iso-8859-8-i": "iso8859-8",
    **{f"iso-8859-{n}": f"iso8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-125{n}": f"cp125{n}" for n in (0, 1, 3, 4, 5, 6, 7, 8)},
}

_UNREADABLE = "\ufffd"
MOST_MENDED = 20_000
"""Bytes of a page that are looked at one by one. One with more is no text: all it cannot say becomes U+FFFD."""

# ---- characters that Python reads as others

_GB = dict(
    zip(
        map(
            chr,
            (0xE5E5, *range(0xE78D, 0xE797), 0xE7C7, 0xE81E, 0xE826, 0xE82B, 0xE82C, 0xE832, 0xE843, 0xE854, 0xE864),
        ),
        "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb",
        strict=True,
    )
)
"""Private code points of the year 2000 that have real ones since 2005."""
_JIS = dict(zip("\u301c\u2016\u2212\xa2\xa3\xac", "\uff5e\u2225\uff0d\uffe0\uffe1\uffe2", strict=True))
_BIG5 = dict(
    zip(
        "\u2022\uff64\u203e\u223c\u2641\u2609\xa5\xa2\xa3",
        "\u2027\ufe51\xaf\uff5e\u2295\u2299\uffe5\uffe0\uffe1",
        strict=True,
    )
)
_OTHERS: dict[str, Mapping[str, str]] = {
    "gb18030": _GB,
    "gbk": _GB,
    "big5": _BIG5,
    "euc-jp": _JIS,
    "shift_jis": dict.fromkeys(map(chr, range(0xF8F0, 0xF8F4)), _UNREADABLE),
    "koi8-u": {"\u255d": "\u045e", "\u256c": "\u040e"},
}

# ---- pairs that Python cannot read

_BIG5_PAIRS = (
    "877a㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆"
    "㓦珄𥶹瓆鿇垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 "
    "8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 "
    "90f1響 91bf鼖 9244蔃 92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 "
    "9b7b纇 9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 9d5a筑 "
    "9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 a0e4牐 c6cf廴 c6d3无 "
    "c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 fbf9廐 fc4f彘 fc6c悤 fcb9撐 "
    "fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉 "
    "a3c0" + "".join(map(chr, range(0x2400, 0x2420))) + "\u2421\u20ac"
)
"""Pairs and the characters from there on: HKSCS-2008, doublets, control pictures and the euro sign."""
_BIG5_TWINS = {b"\xa2A": b"\xff\xfe", b"\xa2B": b"\xff\xff"}
"""Python reads these as the slashes before them; here they are read by way of bytes that are never valid."""
_BIG5_PAIR = re.compile(rb"[\x81-\xfe][\x40-\x7e\xa1-\xfe]")


@cache
def _big5_pairs() -> dict[bytes, str]:
    pairs = {b"\xff\xfe": "\u2215", b"\xff\xff": "\ufe68"}
    for run in _BIG5_PAIRS.split():
        row, column = divmod(_pointer(bytes.fromhex(run[:4]), 157, 0x62), 157)
        for at, char in enumerate(run[4:], row * 157 + column):
            pairs[_pair(at, 157, 0x62)] = char
    return pairs


def _pointer(pair: bytes, columns: int, high: int) -> int:
    return (pair[0] - 0x81) * columns + pair[1] - (0x40 if pair[1] < 0x7F else high)


def _pair(pointer: int, columns: int, high: int) -> bytes:
    row, column = divmod(pointer, columns)
    return bytes([row + 0x81, column + (0x40 if column < 0x3F else high)])


def _shift_jis(row: int, column: int) -> bytes:
    """A place in JIS X 0208 as cp932 writes it, whose table is the standard's."""
    lead, half = divmod(row, 2)
    trail = column + 94 * half
    return bytes([lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)])


def _euc_jp_pair(pair: bytes) -> str:
    """NEC's and IBM's extensions."""
    if len(pair) < 2 or min(pair) < 0xA1 or max(pair) > 0xFE:
        return ""
    text = _shift_jis(pair[0] - 0xA1, pair[1] - 0xA1).decode("cp932", "replace")
    return text if len(text) == 1 else ""


def _windows_1255(pair: bytes) -> str:
    return "\u05ba" if pair[:1] == b"\xca" else _control(pair)


def _control(pair: bytes) -> str:
    return chr(pair[0]) if 0x80 <= pair[0] < 0xA0 else ""


def _euro(pair: bytes) -> str:
    return "\u20ac" if pair[:1] == b"\x80" else ""


_MISSING: dict[str, tuple[Callable[[bytes], str], int]] = {
    "gb18030": (_euro, 1),
    "gbk": (_euro, 1),
    "big5": (lambda pair: _big5_pairs().get(pair, ""), 2),
    "euc-jp": (_euc_jp_pair, 2),
    "windows-1255": (_windows_1255, 1),
    **{f"windows-{n}": (_control, 1) for n in (874, 1250, 1251, 1252, 1253, 1254, 1256, 1257, 1258)},
}
"""What reads them, and how many bytes it takes."""


def _mending(charset: str) -> str:
    """The name of an error handler that knows what Python does not."""
    name = f"page-{charset}"
    read, width = _MISSING.get(charset, (lambda _: "", 1))
    has_pairs = charset in _TRAILS

    def mend(exc: UnicodeError) -> tuple[str, int]:
        assert isinstance(exc, UnicodeDecodeError)
        at = exc.start
        seen = exc.object[at : at + 3]
        if found := read(seen[:2]):
            return found, at + width
        if seen[0] == 0x8F and charset == "euc-jp" and len(seen) == 3 and min(seen[1:]) > 0xA0:
            return _UNREADABLE, at + 3
        spoiled = has_pairs and 0x80 < seen[0] < 0xFF and len(seen) > 1 and seen[1] > 0x7F
        return _UNREADABLE, at + (2 if spoiled else 1)

    codecs.register_error(name, mend)
    return name


# ---- reading


def decode(body: bytes, charset: str) -> str:
    if charset == "replacement":
        return _UNREADABLE if body else ""
    if charset == "iso-2022-jp":
        return "".join(_iso_2022_jp(body))
    if charset == "euc-jp" and b"\x8f\xa2\xb7" in body:
        body = body.replace(b"\x8f\xa2\xb7", b"\xa1\xc1")  # 8F is nobody's second byte
    if charset == "big5" and (b"\xa2A" in body or b"\xa2B" in body):
        body = _BIG5_PAIR.sub(lambda pair: _BIG5_TWINS.get(pair[0], pair[0]), body)
    if charset not in _WIDE:
        return codecs.charmap_decode(body, "strict", _table(charset))[0]
    return _decode(body, charset)


def _decode(body: bytes, charset: str) -> str:
    codec, mend = CODECS[charset], _HANDLERS.get(charset, "replace")
    is_long = mend != "replace" and len(body) > MOST_MENDED
    if is_long and body.decode(codec, "replace").count(_UNREADABLE) > MOST_MENDED:
        mend = "replace"
    text = body.decode(codec, mend)
    for char, other in _OTHERS.get(charset, {}).items():
        text = text.replace(char, other)
    return text


@cache
def _table(charset: str) -> str:
    """What each byte means, in charsets of one byte a character."""
    return "".join(_decode(bytes([byte]), charset) for byte in range(256))


_ESCAPES = re.compile(rb"\x1b(\([BIJ]|\$[@B])")
_SEVEN_BITS = bytes(byte if byte < 0x80 else 0xFF for byte in range(256))
_EIGHT_BITS = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte if byte < 0x80 else 0xFF for byte in range(256))
_ROMAN = str.maketrans("\\~", "\xa5\u203e")


def _iso_2022_jp(body: bytes) -> Iterator[str]:
    escape = b"(B"
    for at, part in enumerate(_ESCAPES.split(body, MOST_MENDED)):
        if at % 2:
            escape = part
        elif escape[:1] == b"$":
            yield decode(part.translate(_EIGHT_BITS), "euc-jp")
        elif escape == b"(I":
            yield decode(part.translate(_EIGHT_BITS), "shift_jis")
        else:
            text = part.translate(_SEVEN_BITS).decode("ascii", "replace")
            yield text.translate(_ROMAN) if escape == b"(J" else text


# ---- writing

_TRAILS = {
    "shift_jis": (0x40, 0xFD),
    "euc-jp": (0xA1, 0xFF),
    "big5": (0x40, 0xFF),
    "euc-kr": (0x41, 0xFF),
    "gbk": (0x40, 0xFF),
    "gb18030": (0x40, 0xFF),
}
_WIDE = frozenset({*_TRAILS, "utf-16le", "utf-16be"})
"""Charsets whose characters have several bytes."""
_HANDLERS = {charset: _mending(charset) for charset in (*_MISSING, *_TRAILS)}
_LAST_OF_BIG5 = frozenset("\u2550\u255e\u2561\u256a\u5341\u5345")
_ALSO = {
    "gbk": {"\u20ac": b"\x80"},
    "shift_jis": {"\xa5": b"\\", "\u203e": b"~", "\u2212": b"\x81\x7c", "\x80": b"\x80"},
    "euc-jp": {"\xa5": b"\\", "\u203e": b"~", "\u2212": b"\xa1\xdd"},
}


def encode(char: str, charset: str) -> bytes | None:
    """One character as bytes; None where the charset has none for it. ISO-2022-JP is not written: it has states."""
    if char.isascii():
        return char.encode()
    if charset in _TRAILS:
        found = _written(charset).get(char)
        return char.encode("gb18030", "ignore") or None if found is None and charset == "gb18030" else found
    return _written(charset).get(char)


@cache
def _written(charset: str) -> dict[str, bytes]:
    """What `decode` reads, the other way round; the first of several pairs is the one to write."""
    written: dict[str, bytes] = {}
    singles = (bytes([byte]) for byte in range(0x80, 0x100) if charset != "gb18030")
    for raw in (*singles, *_pairs(charset)):
        char = decode(raw, charset)
        if len(char) == 1 and char != _UNREADABLE:
            if charset == "big5" and char in _LAST_OF_BIG5:
                written[char] = raw
            written.setdefault(char, raw)
    return {**written, **_ALSO.get(charset, {})}


def _pairs(charset: str) -> Iterator[bytes]:
    if charset not in _TRAILS:
        return
    if charset == "euc-jp":
        yield from (bytes([0x8E, trail]) for trail in range(0xA1, 0xE0))
    first, end = _TRAILS[charset]
    for lead in range(0xA1 if charset in ("euc-jp", "big5") else 0x81, 0xFF):
        # Read and not written: Hong Kong's part of Big5, what NEC took over from IBM, and private characters.
        if charset != "shift_jis" or lead not in (0xED, 0xEE, *range(0xF0, 0xFA)):
            yield from (bytes([lead, trail]) for trail in range(first, end))
