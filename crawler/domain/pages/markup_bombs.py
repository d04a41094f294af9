"""Markup that would cost a parser minutes or gigabytes, found before it is parsed.

Building the tree is quadratic in the depth of open elements (each new block asks all of them), in the number of
unclosed formatting elements (each new block repeats all of them) and in the attributes of one tag. Pages of people
have a depth of tens. A small page cannot be expensive; of a large one samples are counted, and only a page whose
samples look odd is read in full.
"""

import re
from collections import Counter
from itertools import islice

from crawler.errors import CrawlerError

_SAFE_BYTES = 8_192
_STRIDE = 16_384
_SAMPLE = 2_048
_ODD_SURPLUS = 1_000
"""Elements opened and not closed, as far as samples tell, that make a page worth reading in full."""
_ODD_SILENCE = 4
"""Samples in a row without any tag."""

MAX_DEPTH = 5_000
MAX_REPEATED = 2_000_000
MAX_ATTRIBUTES = 10_000

_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9:-]*)")
_FORMATTING = re.compile(
    rb"<(/?(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?:[\s/][^<>]*+)?)>", re.IGNORECASE
)
_ATTRIBUTE = re.compile(rb"""[^\s"'>/=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?""")
_RAW_TEXT = (b"<script", b"<style", b"<textarea", b"<title", b"<xmp", b"<noembed", b"<noframes", b"<plaintext")
# Elements that have no end tag or close each other: they do not deepen the tree.
_SHALLOW = frozenset(
    b"area base br col embed hr img input link meta param source track wbr "
    b"p li dt dd td th tr tbody thead tfoot colgroup option optgroup rp rt".split()
)


class UnparsablePage(CrawlerError):
    """This page cannot be parsed in reasonable time."""

    code = "parse"


def refuse_bombs(markup: bytes) -> None:
    """Raise UnparsablePage if parsing this would cost out of all proportion."""
    if len(markup) <= _SAFE_BYTES:
        return
    surplus = most = silent = 0
    for start in range(0, len(markup), _STRIDE):
        opened = markup.count(b"<", start, start + _SAMPLE)
        surplus = max(0, surplus + opened - 2 * markup.count(b"</", start, start + _SAMPLE))
        most = max(most, surplus)
        silent = 0 if opened else silent + 1
        if silent == _ODD_SILENCE:
            _refuse_attributes(markup, start)
    if most * (_STRIDE // _SAMPLE) > _ODD_SURPLUS:
        _refuse_depth(markup)
        _refuse_formatting(markup)


def _refuse_depth(markup: bytes) -> None:
    depth = 0
    for tag in _TAG.finditer(markup):
        if tag[2].lower() in _SHALLOW:
            continue
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            raise UnparsablePage(f"The page nests more than {MAX_DEPTH} elements.")


def _refuse_formatting(markup: bytes) -> None:
    """Unclosed formatting elements are repeated in every later block, up to three of each spelling."""
    tags = Counter(_FORMATTING.findall(markup))
    closed = sum(count for tag, count in tags.items() if tag.startswith(b"/"))
    opened = sum(min(count, 3) for tag, count in tags.items() if not tag.startswith(b"/"))
    if (opened - closed) * markup.count(b"<") // 2 > MAX_REPEATED:
        raise UnparsablePage(f"The page leaves {opened - closed} formatting elements open.")


def _refuse_attributes(markup: bytes, position: int) -> None:
    """`position` is in a long stretch without tags: text, a script, or one tag with a huge inside."""
    tag = markup.rfind(b"<", 0, position)
    if tag < 0 or not markup[tag + 1 : tag + 2].isalpha() or markup.find(b">", tag, position) >= 0:
        return
    if markup[tag : tag + 10].lower().startswith(_RAW_TEXT):
        return
    attributes = sum(1 for _ in islice(_ATTRIBUTE.finditer(markup, tag + 1), MAX_ATTRIBUTES + 1))
    if attributes > MAX_ATTRIBUTES:
        raise UnparsablePage(f"A tag of the page has more than {MAX_ATTRIBUTES} attributes.")
