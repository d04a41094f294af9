"""Sitemaps: XML, index or plain text, gzipped or not. Bytes in, URLs out; bad input ends in an error text."""

import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from lxml import etree

MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024
"""The sitemap protocol's own limits, counted after decompression."""

_MAX_ELEMENTS = 2_000_000
_MAX_DEPTH = 32
_MAX_URL = 2000
_PIECE = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
_XML_STARTS = (b"<", b"\xff\xfe", b"\xfe\xff")
_ENTRIES = {"urlset": "url", "sitemapindex": "sitemap"}


class Sitemap(NamedTuple):
    urls: list[str]
    children: list[str]
    """Further sitemaps an index names."""
    truncated: bool
    """A limit was reached: there was more."""
    error: str
    """Why reading stopped early; empty when it did not. What was read until then counts."""


class _Stop(Exception):
    """Nothing more is read: the way out of the parser's callbacks."""

    def __init__(self, error: str, *, truncated: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.truncated = truncated


def parse_sitemap(chunks: Iterable[bytes] | bytes, *, max_urls: int = MAX_URLS) -> Sitemap:
    """What a sitemap names, in its order, as far as it can be read."""
    urls: list[str] = []
    children: list[str] = []
    try:
        _read(_plain(_pieces(chunks)), urls, children, max_urls)
    except _Stop as stop:
        return Sitemap(urls, children, stop.truncated, stop.error)
    except etree.XMLSyntaxError as exc:
        return Sitemap(urls, children, truncated=False, error=f"The XML is broken: {exc.msg}.")
    except zlib.error:
        return Sitemap(urls, children, truncated=False, error="The gzip data is damaged.")
    return Sitemap(urls, children, truncated=False, error="")


def _read(pieces: Iterator[bytes], urls: list[str], children: list[str], max_urls: int) -> None:
    first = _first_text(pieces)
    if not first:
        raise _Stop("The sitemap is empty.")
    if first.startswith(_XML_STARTS):
        _read_xml(first, pieces, _Target(urls, children, max_urls))
    else:
        _read_lines(first, pieces, urls, max_urls)


def _pieces(chunks: Iterable[bytes] | bytes) -> Iterator[bytes]:
    for chunk in [chunks] if isinstance(chunks, bytes) else chunks:
        for start in range(0, len(chunk), _PIECE):
            yield chunk[start : start + _PIECE]


def _plain(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decompressed when gzipped, never more than MAX_BYTES."""
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= len(_GZIP_MAGIC):
            break
    total = 0
    source = _chain(first, pieces)
    for piece in _gunzip(source) if first.startswith(_GZIP_MAGIC) else source:
        total += len(piece)
        if total > MAX_BYTES:
            raise _Stop(f"The sitemap has more than {MAX_BYTES >> 20} MB.", truncated=True)
        yield piece


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _gunzip(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Piece by piece, so that a bomb is stopped at the limit and not after it went off."""
    inflate = None
    for piece in pieces:
        data = piece
        while data:
            inflate = inflate or zlib.decompressobj(wbits=31)
            yield inflate.decompress(data, _PIECE)
            data = inflate.unconsumed_tail
            if inflate.eof:  # gzip files may be several joined
                data = inflate.unused_data.lstrip(b"\0")
                inflate = None
    if inflate is not None:
        raise _Stop("The gzip data ends too early.")


def _first_text(pieces: Iterator[bytes]) -> bytes:
    """The first piece with something in it, without what stands before it: parsers want the declaration first."""
    for piece in pieces:
        text = piece.removeprefix(b"\xef\xbb\xbf").lstrip()
        if text:
            return text
    return b""


def _read_xml(first: bytes, pieces: Iterator[bytes], target: "_Target") -> None:
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    parser.feed(first)
    for piece in pieces:
        parser.feed(piece)
    parser.close()


class _Target:
    """Called by the parser for each tag; no tree is built, so a sitemap of a million odd elements costs no memory."""

    def __init__(self, urls: list[str], children: list[str], max_urls: int) -> None:
        self._urls = urls
        self._children = children
        self._max_urls = max_urls
        self._elements = 0
        self._path: list[str] = []
        self._entry = ""
        self._loc_tag = ""
        self._is_loc = False
        self._loc = ""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:  # noqa: ARG002
        raise _Stop("The sitemap has a document type declaration; those are not read.")

    def start(self, tag: str, attributes: object) -> None:  # noqa: ARG002
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise _Stop(f"The sitemap has more than {_MAX_ELEMENTS} elements.", truncated=True)
        if len(self._path) >= _MAX_DEPTH:
            raise _Stop("The sitemap is nested too deeply.")
        if not self._path:
            self._begin(tag)
        self._path.append(tag)
        # Image and video extensions have a loc of their own, in their own namespace.
        self._is_loc = tag == self._loc_tag and len(self._path) == 3 and self._path[1] == self._entry

    def _begin(self, root: str) -> None:
        namespace, brace, name = root.rpartition("}")
        if name not in _ENTRIES:
            raise _Stop("This is not a sitemap.")
        self._entry = namespace + brace + _ENTRIES[name]
        self._loc_tag = f"{namespace}{brace}loc"

    def data(self, data: str) -> None:
        if self._is_loc and len(self._loc) <= _MAX_URL:
            self._loc += data

    def end(self, tag: str) -> None:
        self._is_loc = False
        self._path.pop()
        if len(self._path) == 1 and tag == self._entry:
            loc, self._loc = self._loc.strip(), ""
            if loc and len(loc) <= _MAX_URL:
                self._add(loc)

    def _add(self, loc: str) -> None:
        if len(self._urls) + len(self._children) >= self._max_urls:
            raise _Stop(f"The sitemap names more than {self._max_urls} URLs.", truncated=True)
        if self._entry.endswith("sitemap"):
            self._children.append(loc)
        else:
            self._urls.append(loc)

    def close(self) -> None:
        """The parser asks for it; everything is in the lists already."""


def _read_lines(first: bytes, pieces: Iterator[bytes], urls: list[str], max_urls: int) -> None:
    """One URL a line. Anything else (a PDF, an error message) has no line that begins like one."""
    for written in _lines(_chain(first, pieces)):
        line = written.strip()
        if not line.startswith((b"http://", b"https://")) or len(line) > _MAX_URL:
            continue
        if len(urls) >= max_urls:
            raise _Stop(f"The sitemap names more than {max_urls} URLs.", truncated=True)
        urls.append(line.decode("utf-8", errors="replace"))
    if not urls:
        raise _Stop("This is not a sitemap.")


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        yield from text[:end].splitlines()
        rest = text[end:][: _MAX_URL + 1]  # the start of an overlong line, so that its end is not taken for a line
    yield rest
