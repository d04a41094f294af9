"""Sitemaps: XML, index, RSS or Atom feed, or plain text, gzipped or not. Bytes in, URLs out.

Damage is read around as far as possible; what was wrong is told in an error text.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from lxml import etree

from crawler.domain.urls.sitemap_text import UNREADABLE, SitemapText

MAX_URLS = 50_000
MAX_BYTES = 50 * 1024 * 1024
"""The sitemap protocol's own limits, counted after decompression."""

_MAX_ELEMENTS = 2_000_000
_MAX_DEPTH = 32
_MAX_URL = 2000
_PIECE = 1 << 16
_GZIP_MAGIC = b"\x1f\x8b"
_XML_STARTS = (b"<", b"\xff\xfe", b"\xfe\xff")
_MAX_ERRORS = 1000
_SHAPES = {
    "urlset": ("url", "loc"),
    "sitemapindex": ("sitemap", "loc"),
    "rss": ("channel", "item", "link"),
    "feed": ("entry", "link"),
}
"""By the name of the root, the way from there to a URL."""


class Sitemap(NamedTuple):
    urls: list[str]
    children: list[str]
    """Further sitemaps an index names."""
    truncated: bool
    """A limit was reached: there was more."""
    error: str
    """What is wrong with it, or why reading stopped early. What was read counts."""


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
        error = _read(_plain(_pieces(chunks)), urls, children, max_urls)
    except _Stop as stop:
        return Sitemap(urls, children, stop.truncated, stop.error)
    except etree.XMLSyntaxError as exc:
        return Sitemap(urls, children, truncated=False, error=f"The XML is broken: {exc.msg}.")
    except zlib.error:
        return Sitemap(urls, children, truncated=False, error="The gzip data is damaged.")
    return Sitemap(urls, children, truncated=False, error=error)


def _read(pieces: Iterator[bytes], urls: list[str], children: list[str], max_urls: int) -> str:
    """Returns what is wrong with it, if anything."""
    first = _first_text(pieces)
    if not first:
        raise _Stop("The sitemap is empty.")
    if first.startswith(_XML_STARTS):
        return _read_xml(first, pieces, _Target(urls, children, max_urls))
    _read_lines(first, pieces, urls, max_urls)
    return ""


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


def _read_xml(first: bytes, pieces: Iterator[bytes], target: "_Target") -> str:
    parser = etree.XMLParser(
        target=target,
        encoding="utf-8",
        recover=True,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    text = SitemapText()
    for piece in text.read(first, pieces):
        if piece:
            parser.feed(piece.encode())
        if len(parser.feed_error_log) > _MAX_ERRORS:
            raise _Stop(f"The XML is broken in more than {_MAX_ERRORS} places.")
    parser.close()
    return _told(parser.feed_error_log, text, target.left_out)


def _told(errors: Sequence[etree._LogEntry], text: SitemapText, left_out: int) -> str:
    found = [errors[0].message.rstrip(".")] if errors else []
    found += [f"{text.ampersands} bare ampersands"] * bool(text.ampersands)
    found += [f"{text.unreadable} unreadable characters"] * bool(text.unreadable)
    found += [f"{left_out} URLs left out"] * bool(left_out)
    return f"The XML is broken: {', '.join(found)}." if found else ""


class _Target:
    """Called by the parser for each tag; no tree is built, so a sitemap of a million odd elements costs no memory."""

    def __init__(self, urls: list[str], children: list[str], max_urls: int) -> None:
        self._urls = urls
        self._children = children
        self._max_urls = max_urls
        self._elements = 0
        self._path: list[str] = []
        self._way: list[str] = []
        self._is_index = False
        self._is_loc = False
        self._loc = ""
        self.left_out = 0
        """URLs with damage inside: half of one is another page's."""

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:  # noqa: ARG002
        raise _Stop("The sitemap has a document type declaration; those are not read.")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.lower()
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise _Stop(f"The sitemap has more than {_MAX_ELEMENTS} elements.", truncated=True)
        if self._is_loc:  # a URL has no elements
            self._loc = UNREADABLE
        if tag in self._path and tag in self._way[1:-1]:  # of the one before, the end is missing
            del self._path[self._path.index(tag) :]
        if len(self._path) >= _MAX_DEPTH:
            raise _Stop("The sitemap is nested too deeply.")
        if not self._path:
            self._begin(tag)
        self._path.append(tag)
        # Image and video extensions have a loc of their own, in their own namespace.
        self._is_loc = self._path == self._way
        if self._is_loc and attributes.get("rel", "alternate") == "alternate":
            # Of an Atom link, which has no text. The parser leaves ampersands in attributes as references.
            self._loc = attributes.get("href", "").replace("&#38;", "&")

    def _begin(self, root: str) -> None:
        namespace, brace, name = root.rpartition("}")
        if name not in _SHAPES:
            raise _Stop("This is not a sitemap.")
        self._way = [namespace + brace + step for step in (name, *_SHAPES[name])]
        self._is_index = name == "sitemapindex"

    def data(self, data: str) -> None:
        if self._is_loc and len(self._loc) <= _MAX_URL:
            self._loc += data

    def end(self, name: str) -> None:
        """Of damaged XML the ends of elements inside may be missing."""
        tag = name.lower()
        if tag not in self._path:
            return
        if tag == self._way[-1] and self._path[: len(self._way)] == self._way:
            self._finish(self._loc.strip())
            self._loc, self._is_loc = "", False
        while self._path.pop() != tag:
            pass

    def _finish(self, loc: str) -> None:
        if UNREADABLE in loc:
            self.left_out += 1
        elif loc and len(loc) <= _MAX_URL:
            self._add(loc)

    def _add(self, loc: str) -> None:
        if len(self._urls) + len(self._children) >= self._max_urls:
            raise _Stop(f"The sitemap names more than {self._max_urls} URLs.", truncated=True)
        if self._is_index:
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
