"""Files that are no markup but are kept as pages, because the project's `content_types` take them.

Text is read line by line (`file_lines.py`), JSON and XML value by value (`json_values.py`, `xml_values.py`). What a PDF
says takes longer than a fetch may last: its bytes are its content here, and its text is read where it is compared or
shown (`pdf_reading.py`).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from hashlib import sha256
from typing import Any

from crawler.domain.crawls.render_rule import ENOUGH_TAGS
from crawler.domain.pages import robots_directives
from crawler.domain.pages.charsets import is_scrambled
from crawler.domain.pages.file_lines import FileLines, text_lines
from crawler.domain.pages.json_values import NoValues, json_lines
from crawler.domain.pages.markup_bombs import UnparsablePage
from crawler.domain.pages.measure import Measure
from crawler.domain.pages.parsing import Link, ParsedPage, parse_page
from crawler.domain.pages.xml_values import xml_lines
from crawler.domain.urls.sitemaps import parse_sitemap

_NO_SHELL = Measure(1, 1, ENOUGH_TAGS, has_bundle=False, has_scripts=False)
"""A browser would show nothing else."""
_MARKUP = frozenset({"", "text/html", "application/xhtml+xml"})
_XML = frozenset({"text/xml", "application/xml"})
_DRAWN = "image/svg+xml"
"""The one kind of picture that says what stands in it."""
_FIRST_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?([a-zA-Z][\w.-]*)")
_JSON = frozenset({"application/json", "text/json"})
_PICTURES = ("image/", "audio/", "video/", "font/")
_HTML_STARTS = (b"<!doctype html", b"<html")
_SNIFFED_BYTES = 8192
_NO_CHARACTERS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has. Lines leave them out, so they would hide that one of them is another."""
MOST_LISTED = 5_000
"""Entries of a feed, or URLs of a sitemap, that one page of it leads to; as many as a web page's links."""


class FileKind(StrEnum):
    PDF = "pdf"
    JSON = "json"
    XML = "xml"
    TEXT = "text"
    BYTES = "bytes"


_READ_AS_TEXT = (None, FileKind.JSON, FileKind.XML)


def kind_of(content_type: str, body: bytes) -> FileKind | None:
    """What kind of file it is; None of markup, and of what says it is text and begins as a web page does."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "application/pdf" or body.startswith(b"%PDF-"):
        return FileKind.PDF
    if media_type in _MARKUP:
        return None
    if media_type.startswith(_PICTURES) and media_type != _DRAWN:
        return FileKind.BYTES
    start = body[:_SNIFFED_BYTES]
    if start.removeprefix(b"\xef\xbb\xbf").lstrip()[:20].lower().startswith(_HTML_STARTS):
        return None
    if media_type in _XML or media_type.endswith("+xml"):
        first = _FIRST_ELEMENT.search(start)
        return None if first and first[1].lower() == b"html" else FileKind.XML
    if media_type in _JSON or media_type.endswith("+json"):
        return FileKind.JSON
    return FileKind.TEXT if media_type.startswith("text/") or not _NO_CHARACTERS.search(body) else FileKind.BYTES


def is_pdf(content_type: str, body: bytes) -> bool:
    return kind_of(content_type, body) is FileKind.PDF


def any_page(
    body: bytes, content_type: str, url: str, headers: Mapping[str, str], options: Mapping[str, Any]
) -> ParsedPage:
    """A page or a file as a page. `options` are those of `parse_page`. Raises UnparsablePage as that does."""
    kind = kind_of(content_type, body)
    if kind in _READ_AS_TEXT and is_scrambled(body, content_type):
        raise UnparsablePage("It is not text, though the server says so: perhaps it was compressed twice.")
    if kind is None:
        return parse_page(body, url=url, content_type=content_type, headers=headers, **options)
    shared = {name: options[name] for name in ("hash_chars", "robot") if name in options}
    return file_page(kind, body, url=url, content_type=content_type, headers=headers, **shared)


def file_page(
    kind: FileKind,
    body: bytes,
    *,
    url: str,
    content_type: str,
    headers: Mapping[str, str],
    hash_chars: int | None = None,
    robot: str = "",
) -> ParsedPage:
    """A file as a page: without title and links, but for XML, which may be a feed. The arguments are those of
    `parse_page`.

    Raises UnparsablePage as that does.
    """
    lines = file_lines(kind, body, content_type)
    text = "\n".join(lines.texts)
    compared = "\n".join(lines.compared)[:hash_chars].encode() if lines.compared else body
    if kind is FileKind.XML:
        page = parse_page(body, url=url, content_type=content_type, headers=headers, detect_language=False, robot=robot)
        return replace(
            page,
            text=text,
            word_count=len(text.split()),
            content_hash=sha256(compared).digest(),
            measure=_NO_SHELL,
            links=[*page.links, *_listed(body)],
        )
    return ParsedPage(
        title=None,
        h1=None,
        meta_description=None,
        text=text,
        word_count=len(text.split()),
        links=[],
        base_url=url,
        canonical=None,
        noindex="noindex" in robots_directives.words_for(robot, headers.get(robots_directives.HEADER, "")),
        nofollow=False,
        hreflang=[],
        language=None,
        declared_language=headers.get("content-language"),
        content_hash=sha256(compared).digest(),
        charset="",
        measure=_NO_SHELL,
    )


def _listed(body: bytes) -> list[Link]:
    """What a feed or a sitemap names: its entries are pages that it leads to. Other XML names none."""
    found = parse_sitemap(body, max_urls=MOST_LISTED)
    return [Link(url, "", "") for url in dict.fromkeys((*found.urls, *found.children))]


def file_lines(kind: FileKind, body: bytes, content_type: str) -> FileLines:
    """The lines of a file that has any to be read here. What is no JSON or XML is text, whatever its type says."""
    if kind in (FileKind.PDF, FileKind.BYTES):
        return FileLines((), ())
    with suppress(NoValues):
        if kind is FileKind.JSON:
            return json_lines(body)
        if kind is FileKind.XML:
            return xml_lines(body)
    return text_lines(body, content_type)
