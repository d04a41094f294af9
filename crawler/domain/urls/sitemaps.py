"""Sitemaps: XML, index, RSS or Atom feed, or plain text, gzipped or not. Bytes in, URLs out; bad input ends in an error
text. What names URLs behind broken XML is found by `damaged_sitemaps.py`.
"""

import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from lxml import etree

from crawler.domain.plain_text import one_line
from crawler.domain.urls import damaged_sitemaps

MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024
"""The sitemap protocol's own limits, counted after decompression."""
MAX_URLS_BYTES = 16 * 1024 * 1024
"""Of the URLs in memory, where they wait to be written: all of a full sitemap, if they have 250 characters each."""

NO_SITEMAP = "This is not a sitemap."
_MAX_ELEMENTS = 2_000_000
_MAX_DEPTH = 32
_MAX_URL = 2000
_PIECE = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
_XML_STARTS = (b"<", b"\xff\xfe", b"\xfe\xff")
_WAYS = {
    "urlset": ("url", "loc"),
    "sitemapindex": ("sitemap", "loc"),
    "rss": ("channel", "item", "link"),
    "rdf": ("item", "link"),
    "feed": ("entry", "link"),
}
"""By the name of the root: the elements from there to a URL."""
_RSS_1 = "{http://purl.org/rss/1.0/}"


class Sitemap(NamedTuple):
    urls: list[str]
    children: list[str]
    """Further sitemaps an index names."""
    truncated: bool
    """A limit was reached: there was more."""
    error: str
    """What is wrong with it, or why reading stopped early; empty if nothing is. What was read counts."""


class _Stop(Exception):
    """Nothing more is read: the way out of the parser's callbacks."""

    def __init__(self, error: str, *, truncated: bool = False) -> None:
        super().__init__(error)
        self.error = error
        self.truncated = truncated


class _Room:
    """What is read of the URLs that a sitemap names."""

    def __init__(self, max_urls: int) -> None:
        self.max_urls = max_urls
        self._urls, self._bytes = 0, 0

    def take(self, url: str) -> str:
        """The URL, if it is read. Else nothing more is."""
        self._urls += 1
        self._bytes += sys.getsizeof(url)
        if self._urls > self.max_urls:
            raise _Stop(f"The sitemap names more than {self.max_urls} URLs.", truncated=True)
        if self._bytes > MAX_URLS_BYTES:
            raise _Stop(f"The URLs of the sitemap take more than {MAX_URLS_BYTES >> 20} MB.", truncated=True)
        return url


def parse_sitemap(chunks: Iterable[bytes] | bytes, *, max_urls: int = MAX_URLS) -> Sitemap:
    """What a sitemap names, in its order, as far as it can be read."""
    urls: list[str] = []
    children: list[str] = []
    chunks = [chunks] if isinstance(chunks, bytes) else list(chunks)
    try:
        _read(_plain(_pieces(chunks)), urls, children, _Room(max_urls))
    except _Stop as stop:
        return Sitemap(urls, children, stop.truncated, stop.error)
    except etree.XMLSyntaxError as exc:
        before = Sitemap(urls, children, truncated=False, error=f"The XML is broken: {one_line(exc.msg, 200)}.")
        return _read_around(chunks, _Room(max_urls), before)
    except zlib.error:
        return Sitemap(urls, children, truncated=False, error="The gzip data is damaged.")
    return Sitemap(urls, children, truncated=False, error="")


def _read(pieces: Iterator[bytes], urls: list[str], children: list[str], room: _Room) -> None:
    first = _first_text(pieces)
    if not first:
        raise _Stop("The sitemap is empty.")
    if first.startswith(_XML_STARTS):
        _read_xml(first, pieces, _Target(urls, children, room))
    else:
        _read_lines(first, pieces, urls, room)


def _read_around(chunks: Iterable[bytes], room: _Room, before: Sitemap) -> Sitemap:
    """What else a sitemap names whose XML is broken. `before` is what was read up to the first damage."""
    body = bytearray()
    with suppress(_Stop, zlib.error):
        for piece in _plain(_pieces(chunks)):
            body += piece
            if len(body) > damaged_sitemaps.MAX_BYTES:
                break
    found = damaged_sitemaps.search_damaged(bytes(body), room.max_urls)
    if found is None:
        return before._replace(error=NO_SITEMAP)
    if len(found.urls) < len(before.urls) + len(before.children):
        return before
    lost = f" {found.lost} of its URLs could not be read." if found.lost else ""
    named: list[str] = []
    truncated, error = len(body) > damaged_sitemaps.MAX_BYTES, before.error + lost
    try:
        named.extend(map(room.take, found.urls))
    except _Stop as stop:
        truncated, error = True, f"{error} {stop.error}"
    urls, children = ([], named) if found.is_index else (named, [])
    return Sitemap(urls, children, truncated, error)


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), _PIECE):
            yield chunk[start : start + _PIECE]


def is_gzipped(body: bytes) -> bool:
    """Whether what is read of it may be very much more than it has bytes."""
    return body.startswith(_GZIP_MAGIC)


def _plain(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Decompressed when gzipped, never more than MAX_BYTES."""
    total = 0
    for piece in _unpacked(_unpacked(pieces)):  # a gzipped file, and gzipped on its way
        total += len(piece)
        if total > MAX_BYTES:
            raise _Stop(f"The sitemap has more than {MAX_BYTES >> 20} MB.", truncated=True)
        yield piece


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = b""
    for piece in pieces:
        first += piece
        if len(first) >= len(_GZIP_MAGIC):
            break
    source = _chain(first, pieces)
    return _gunzip(source) if is_gzipped(first) else source


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

    def __init__(self, urls: list[str], children: list[str], room: _Room) -> None:
        self._urls = urls
        self._children = children
        self._room = room
        self._elements = 0
        self._path: list[str] = []
        self._way: list[str] = []
        self._entry = ""
        self._entry_depth = 0
        self._loc_tag = ""
        self._is_index = False
        self._is_loud = False
        """Its tags are in upper case."""
        self._is_loc = False
        self._loc = ""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:  # noqa: ARG002
        if name.lower() == "html":
            raise _Stop(NO_SITEMAP)
        raise _Stop("The sitemap has a document type declaration; those are not read.")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise _Stop(f"The sitemap has more than {_MAX_ELEMENTS} elements.", truncated=True)
        if len(self._path) >= _MAX_DEPTH:
            raise _Stop("The sitemap is nested too deeply.")
        if not self._path:
            self._begin(tag)
        if self._is_loud:
            tag = tag.lower()
        self._path.append(tag)
        # Image and video extensions have a loc of their own, in their own namespace.
        self._is_loc = tag == self._loc_tag and self._path == self._way
        if self._is_loc and not self._loc and attributes.get("rel", "alternate") == "alternate":
            # Of Atom, whose links have no text. The parser leaves ampersands in attributes as references.
            self._loc = attributes.get("href", "").replace("&#38;", "&")

    def _begin(self, written: str) -> None:
        root = written.lower()
        namespace, brace, name = root.rpartition("}")
        if name not in _WAYS:
            raise _Stop(NO_SITEMAP)
        prefix = _RSS_1 if name == "rdf" else f"{namespace}{brace}"
        self._way = [root, *(f"{prefix}{step}" for step in _WAYS[name])]
        self._entry, self._loc_tag = self._way[-2:]
        self._entry_depth = len(self._way) - 2
        self._is_index = name == "sitemapindex"
        self._is_loud = written != root

    def data(self, data: str) -> None:
        if self._is_loc and len(self._loc) <= _MAX_URL:
            self._loc += data

    def end(self, tag: str) -> None:  # noqa: ARG002
        self._is_loc = False
        if self._path.pop() == self._entry and len(self._path) == self._entry_depth:
            loc, self._loc = self._loc.strip(), ""
            if loc and len(loc) <= _MAX_URL:
                self._add(loc)

    def _add(self, loc: str) -> None:
        (self._children if self._is_index else self._urls).append(self._room.take(loc))

    def close(self) -> None:
        """The parser asks for it; everything is in the lists already."""


def _read_lines(first: bytes, pieces: Iterator[bytes], urls: list[str], room: _Room) -> None:
    """One URL a line. Anything else (a PDF, an error message) has no line that begins like one."""
    for written in _lines(_chain(first, pieces)):
        line = written.strip()
        if not line.startswith((b"http://", b"https://")) or len(line) > _MAX_URL:
            continue
        urls.append(room.take(line.decode("utf-8", errors="replace")))
    if not urls:
        raise _Stop(NO_SITEMAP)


def _lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        text = rest + piece
        end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        yield from text[:end].splitlines()
        rest = text[end:][: _MAX_URL + 1]  # the start of an overlong line, so that its end is not taken for a line
    yield rest
