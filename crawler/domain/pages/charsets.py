"""Which characters a page's bytes mean. Never an exception: what cannot be read becomes U+FFFD.

Order: byte-order mark, Content-Type, `<meta>` or XML declaration, then a guess (UTF-8 if it is valid,
else windows-1252). Labels mean what the WHATWG encoding standard says they mean; names that only Python
knows (`utf-7`, `rot13`, `unicode_escape` …) are nobody's charset.
"""

import re
from collections.abc import Iterable, Iterator

from crawler.domain.pages.legacy_charsets import CODECS, decode
from crawler.domain.pages.xml_markup import as_html, is_xml

UTF_8 = "utf-8"
FALLBACK = "windows-1252"
REPLACEMENT = "replacement"
"""For charsets in which ASCII may be hidden as something else: no browser reads them."""

_BOMS = ((b"\xef\xbb\xbf", UTF_8), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_PRESCAN_BYTES = 1024
_HEAD_BYTES = 64 * 1024
"""Where a declaration may stand that comes late, after long scripts; browsers then start over with it."""
_CONTENT_TYPE = re.compile(r"""charset\s*=\s*["']?\s*([^\s"';,]+)""", re.IGNORECASE)
_LABEL = re.compile(rb"""\s*=\s*["']?\s*([^\s"'/>;]+)""")
_XML = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([^"'>]+)["']""")
_UTF_16_NAMES = ("utf-16le", "utf-16be")
_UTF_16 = re.compile(rb"(?:[\t\n\r ]\0)*<\0[!-~]\0|(?:\0[\t\n\r ])*\0<\0[!-~]")
_TEXT_BYTES = bytes({*range(256)} - {*range(0x20)} | {*b"\t\n\v\f\r\x1b"})
"""All bytes but control characters. Charsets may shift with ESC."""
_FEWEST_ODD = 8
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_NO_MARKUP = re.compile(rb"<(script|style|title)\b.*?(?:</\1|\Z)", re.DOTALL)

_ALIASES = {
    UTF_8: "utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    FALLBACK: "ansi_x3.4-1968 ascii us-ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 "
    "iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 x-cp1252 x-user-defined",
    "windows-1254": "csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5",
    "windows-874": "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620",
    "ibm866": "866 cp866 csibm866",
    "iso-8859-2": "csisolatin2 iso-ir-101 iso_8859-2:1987 l2 latin2",
    "iso-8859-3": "csisolatin3 iso-ir-109 iso_8859-3:1988 l3 latin3",
    "iso-8859-4": "csisolatin4 iso-ir-110 iso_8859-4:1988 l4 latin4",
    "iso-8859-5": "csisolatincyrillic cyrillic iso-ir-144 iso_8859-5:1988",
    "iso-8859-6": "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i "
    "iso-ir-127 iso_8859-6:1987",
    "iso-8859-7": "csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso_8859-7:1987 sun_eu_greek",
    "iso-8859-8": "csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso_8859-8:1988 visual",
    "iso-8859-8-i": "csiso88598i logical",
    "iso-8859-10": "csisolatin6 iso-ir-157 l6 latin6",
    "iso-8859-15": "csisolatin9 l9",
    "koi8-r": "cskoi8r koi koi8 koi8_r",
    "koi8-u": "koi8-ru",
    "macintosh": "csmacintosh mac x-mac-roman",
    "x-mac-cyrillic": "x-mac-ukrainian",
    "gbk": "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk",
    "big5": "big5-hkscs cn-big5 csbig5 x-x-big5",
    "euc-jp": "cseucpkdfmtjapanese x-euc-jp",
    "iso-2022-jp": "csiso2022jp",
    "shift_jis": "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis",
    "euc-kr": "cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16le": "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16",
    "utf-16be": "unicodefffe",
    REPLACEMENT: "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr",
}


def _all_labels() -> dict[str, str]:
    labels = {name: name for name in (UTF_8, REPLACEMENT, *CODECS)}
    for name, aliases in _ALIASES.items():
        labels.update(dict.fromkeys(aliases.split(), name))
    for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16):
        labels.update(dict.fromkeys((f"iso8859-{n}", f"iso8859{n}", f"iso_8859-{n}"), f"iso-8859-{n}"))
    for n in (0, 1, 3, 4, 5, 6, 7, 8):
        labels.update(dict.fromkeys((f"cp125{n}", f"x-cp125{n}"), f"windows-125{n}"))
    return labels


_LABELS = _all_labels()


def to_utf8(body: bytes, content_type: str = "") -> tuple[bytes, str]:
    """The page as UTF-8 without a byte-order mark, and the charset it was read as. What is sent as XML is HTML then.

    A page that says it is UTF-8 is returned as it is: its invalid bytes become U+FFFD where text is read.
    """
    charset, skip = charset_of(body, content_type)
    if skip:
        body = body[skip:]
    if charset != UTF_8:
        body = decode(body, charset).encode(UTF_8, "replace")
    return as_html(body) if is_xml(content_type) else body, charset


def decoded(body: bytes, content_type: str = "") -> str:
    """The text of a file that is no markup: what looks like a declaration in it is none."""
    marked = next(((charset, len(mark)) for mark, charset in _BOMS if body.startswith(mark)), None)
    charset, skip = marked or (_from_header(content_type) or _guess(body), 0)
    return body[skip:].decode(UTF_8, "replace") if charset == UTF_8 else decode(body[skip:], charset)


def charset_of(body: bytes, content_type: str = "") -> tuple[str, int]:
    """The charset, and the length of the byte-order mark to skip."""
    for mark, charset in _BOMS:
        if body.startswith(mark):
            return charset, len(mark)
    said = _from_header(content_type)
    return (said if said and _may_be(said, body) else _from_markup(body) or _guess(body)), 0


def is_scrambled(body: bytes, content_type: str = "") -> bool:
    """Whether bytes that should be text can be none in any charset: compressed data, say. Control characters tell."""
    start = body[:_PRESCAN_BYTES]
    odd = len(start.translate(None, _TEXT_BYTES))
    if odd < _FEWEST_ODD or odd * 25 < len(start):
        return False
    return charset_of(body, content_type)[0] not in _UTF_16_NAMES


def _from_header(content_type: str) -> str | None:
    return _known(_CONTENT_TYPE.findall(content_type))


def _may_be(charset: str, body: bytes) -> bool:
    """Markup is ASCII: in UTF-16 every second byte of it is zero, elsewhere none. A header that denies it is wrong."""
    if charset not in _UTF_16_NAMES:
        return not _UTF_16.match(body)
    start = body[:_PRESCAN_BYTES]
    return b"\0" in start or not start.lstrip().startswith(b"<")


def _from_markup(body: bytes) -> str | None:
    """Most pages declare it early; only for the others the whole head is searched."""
    charset = _declared(body[:_PRESCAN_BYTES].lower())
    if charset is None and len(body) > _PRESCAN_BYTES:
        head = _COMMENT.sub(b"", body[:_HEAD_BYTES].lower())
        charset = _declared(_NO_MARKUP.sub(b"", head).partition(b"<body")[0])
    # Whoever could read the declaration as ASCII was not reading UTF-16.
    return UTF_8 if charset in _UTF_16_NAMES else charset


def _declared(start: bytes) -> str | None:
    if b"<!--" in start:
        start = _COMMENT.sub(b"", start)
    return _known(_in_meta(start)) or _known(found[1].decode("latin-1") for found in [_XML.match(start)] if found)


def _known(labels: Iterable[str]) -> str | None:
    """The first label that means something."""
    return next((_LABELS[label] for label in map(_plain, labels) if label in _LABELS), None)


def _plain(label: str) -> str:
    return label.strip().lower()


def _in_meta(start: bytes) -> Iterator[str]:
    """The charsets in meta tags. A search, not one pattern over all tags: it runs for all pages without a header."""
    at = start.find(b"charset")
    while at >= 0:
        tag = start.rfind(b"<", 0, at)
        found = _LABEL.match(start, at + 7) if start.startswith(b"<meta", tag) else None
        if found and found.end() < len(start):  # "iso-8859-1" may be the beginning of "iso-8859-15"
            yield found[1].decode("latin-1")
        at = start.find(b"charset", at + 7)


def _guess(body: bytes) -> str:
    if _UTF_16.match(body):
        return "utf-16le" if body[0] else "utf-16be"
    try:
        body.decode(UTF_8)
    except UnicodeDecodeError as exc:
        return UTF_8 if _cut_off(exc) or _mostly_utf8(body) else FALLBACK
    return UTF_8


def _cut_off(exc: UnicodeDecodeError) -> bool:
    """A truncated body may end inside a character."""
    return exc.end == len(exc.object) and exc.reason == "unexpected end of data"


def _mostly_utf8(body: bytes) -> bool:
    """One stray byte must not turn every other umlaut of the page into two wrong letters."""
    text = body.decode(UTF_8, "replace")
    bad = text.count("\ufffd")
    multibyte = len(body) - len(text)  # each valid sequence saves at least one character
    return multibyte > 10 * bad
