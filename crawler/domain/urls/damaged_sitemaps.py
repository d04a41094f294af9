"""What a sitemap names whose XML is broken: its URLs are searched for, as no parser reads on behind damage.

One search over a bounded number of bytes: it takes no longer than the parser took before it gave up.
"""

import codecs
import re
from typing import NamedTuple

MAX_BYTES = 10 * 1024 * 1024
_ROOT_BYTES = 4096
_ROOT = re.compile(rb"<(?:\w+:)?(urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_ENCODING = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([\w.:-]{1,40})["']""")
_CHARSETS = re.compile(r"iso8859-\d+|cp125\d|koi8-[ru]")
"""Of Python's codecs, some that are charsets and can be read byte by byte; others run code of theirs."""
_LOC = re.compile(rb"<loc>(?:\s*<!\[CDATA\[([^<\]]*)\]\]>\s*|([^<]*))</loc\s*>", re.IGNORECASE)
_LINK = re.compile(rb"<link>(?:\s*<!\[CDATA\[([^<\]]*)\]\]>\s*|([^<]*))</link\s*>", re.IGNORECASE)
_HREF = re.compile(
    rb"""<link\s(?![^<>]*\brel\s*=\s*["'](?!alternate))[^<>]*?\bhref\s*=\s*["']()([^"'<>]*)""", re.IGNORECASE
)
_SEARCHED = {
    b"urlset": (b"<url", b"<loc", _LOC),
    b"sitemapindex": (b"<sitemap", b"<loc", _LOC),
    b"rss": (b"<item", b"<link>", _LINK),
    b"rdf": (b"<item", b"<link>", _LINK),
    b"feed": (b"<entry", b"<link", _HREF),
}
"""By the name of the root: where the first entry begins, what a URL begins with, and what has it."""
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6})|(\w{1,32}));", re.IGNORECASE)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffd]")
_MAX_URL = 2000


class Found(NamedTuple):
    urls: list[str]
    is_index: bool
    lost: int
    """URLs that could not be read."""


def search_damaged(body: bytes, max_urls: int) -> Found | None:
    """The URLs in the order of the sitemap, without those that the damage is in; None if it is no sitemap."""
    root = _ROOT.search(body[:_ROOT_BYTES])
    if root is None:
        return None
    name = root[1].lower()
    entry, begin, pattern = _SEARCHED[name]
    lower = body[:MAX_BYTES].lower()
    start = max(lower.find(entry, root.end()), root.end())
    charset = _charset(body)
    urls: list[str] = []
    for found in pattern.finditer(body, start, len(lower)):
        url = _url(found[1] or found[2] or b"", charset)
        if url and len(urls) < max_urls:
            urls.append(url)
    named = lower.count(begin, start)
    return Found(urls, name == b"sitemapindex", named - len(urls) if name != b"feed" else 0)


def _charset(body: bytes) -> str:
    declared = _ENCODING.match(body[:_ROOT_BYTES])
    try:
        name = codecs.lookup(declared[1].decode()).name if declared else ""
    except LookupError:
        name = ""
    return name if _CHARSETS.fullmatch(name) else "utf-8"


def _url(raw: bytes, charset: str) -> str | None:
    if len(raw) > 3 * _MAX_URL:
        return None
    text = raw.decode(charset, "replace")
    url = _REFERENCE.sub(_character, text.strip(" \t\r\n"))
    return url if 0 < len(url) <= _MAX_URL and not _UNREADABLE.search(url) else None


def _character(found: re.Match[str]) -> str:
    known = (found[1] or "").lower()
    if known.startswith("#"):
        number = int(f"0{known[1:]}", 0) if known.startswith("#x") else int(known[1:])
        return chr(number) if 0 < number < 0xD800 or 0xE000 <= number < 0x110000 else "\ufffd"
    return _NAMED.get(known, "\ufffd")
