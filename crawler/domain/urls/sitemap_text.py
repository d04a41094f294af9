"""The text of an XML sitemap, mended so that a parser reads on: a bare `&` or a bad byte loses one URL at most."""

import codecs
import re
from collections.abc import Iterator

UNREADABLE = "\ufffd"

_DECLARATION_BYTES = 1024
_DECLARATION = re.compile(r"\ufeff?\s*<\?xml\b[^>]*\?>")
_ENCODING = re.compile(rb"""\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']""")
_CHARSETS = re.compile(r"ascii|iso8859-\d+|cp\d+|koi8-[ru]|mac-\w+|gb\w+|big5\w*|euc_\w+|shift_jis\w*")
"""Names of Python's codecs that are charsets: others run code of theirs, or are no superset of ASCII."""
_REFERENCE = re.compile(r"&(?:(?P<valid>(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)|(?P<unknown>\w{1,32};))?")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_UNFINISHED = re.compile(r"(?:[<&][^<&>;]{0,40}|\]{1,2})\Z")
"""At the end of a piece: what may be half a reference, or half of a mark of CDATA."""


class SitemapText:
    """Pieces of bytes in, pieces of text out."""

    def __init__(self) -> None:
        self.ampersands = 0
        self.unreadable = 0
        self._rest = ""
        self._in_cdata = False

    def read(self, first: bytes, pieces: Iterator[bytes]) -> Iterator[str]:
        while len(first) < _DECLARATION_BYTES and (piece := next(pieces, b"")):
            first += piece
        decoder = codecs.getincrementaldecoder(_codec(first))("replace")
        # What it says of its encoding is no longer true.
        yield self._mended(_DECLARATION.sub("", decoder.decode(first), count=1).removeprefix("\ufeff"))
        for piece in pieces:
            yield self._mended(decoder.decode(piece))
        yield self._mended(decoder.decode(b"", final=True), final=True)

    def _mended(self, piece: str, *, final: bool = False) -> str:
        text = self._rest + piece
        unfinished = None if final else _UNFINISHED.search(text, max(len(text) - 50, 0))
        end = unfinished.start() if unfinished else len(text)
        text, self._rest = text[:end], text[end:]
        text = _FORBIDDEN.sub(UNREADABLE, text)
        if self._in_cdata or "<![CDATA[" in text or text.count("&") != text.count("&amp;"):
            text = "".join(self._parts(text))
        self.unreadable += text.count(UNREADABLE)
        return text

    def _parts(self, text: str) -> Iterator[str]:
        """An ampersand in a CDATA section is one."""
        while text:
            mark = "]]>" if self._in_cdata else "<![CDATA["
            part, found, text = text.partition(mark)
            yield part if self._in_cdata else _REFERENCE.sub(self._reference, part)
            yield found
            self._in_cdata = self._in_cdata is not bool(found)

    def _reference(self, found: re.Match[str]) -> str:
        if found["valid"]:
            return found[0]
        if found["unknown"]:
            return UNREADABLE
        self.ampersands += 1
        return "&amp;"


def _codec(start: bytes) -> str:
    """By the byte-order mark or the declaration; UTF-8 unless it says otherwise."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if start.startswith(b"<\0"):
        return "utf-16-le"
    declared = _ENCODING.match(start)
    try:
        name = codecs.lookup(declared[1].decode()).name if declared else ""
    except (LookupError, UnicodeDecodeError):
        name = ""
    return name if _CHARSETS.fullmatch(name) else "utf-8"
