"""The text of part of a page as BeautifulSoup has it: one line per block, as people see it."""

import re
import unicodedata
from collections.abc import Iterator

from bs4.element import NavigableString, PreformattedString, Tag

MAX_TEXT = 1_000_000
_INLINE_NAMES = (
    "a abbr acronym b basefont bdi bdo big blink cite code data del dfn em embed font i img input ins kbd label map "
    "mark meter nobr object output param picture progress q rb rp rt rtc ruby s samp slot small source span strike "
    "strong sub sup time track tt u var wbr"
)
_INLINE = frozenset(_INLINE_NAMES.split())
_UNSEEN_NAMES = (
    "script style noscript template iframe svg noembed noframes audio video canvas datalist title meta link base area "
    "head"
)
_UNSEEN = frozenset(_UNSEEN_NAMES.split())
_LINES = frozenset(["pre", "listing", "xmp", "plaintext", "textarea"])
_BLOCK = "\0"
_SPACES = re.compile(r"[^\S\0]+")
_NO_TEXT = re.compile(r"[\x01-\x08\x0e-\x1b\x7f\ud800-\udfff\ufeff]")
_GAPS = re.compile(r"(?<![ \0])[ \0]*\0[ \0]*")


def element_text(tag: Tag) -> str:
    """The text of an element; of one that is not shown, such as a script, what is written in it."""
    if tag.name in _UNSEEN:
        return normalised("".join(str(part) for part in tag.strings))
    return _lines("".join(_pieces(tag)))


def normalised(text: str) -> str:
    """NFC, one space between words, no blank lines, nothing Postgres or a screen would choke on."""
    return _lines(text.replace("\0", " ").replace("\r", "\n").replace("\n", _BLOCK))


def _lines(marked: str) -> str:
    text = _SPACES.sub(" ", _NO_TEXT.sub("", marked[: 4 * MAX_TEXT]))
    text = _GAPS.sub("\n", text).strip(" \n")
    return unicodedata.normalize("NFC", text)[:MAX_TEXT]


def _pieces(tag: Tag) -> Iterator[str]:
    """The pieces of text below an element. Without recursion: pages of strangers nest as deep as they like."""
    waiting = [iter(tag.contents)]
    open_tags = [tag]
    while waiting:
        node = next(waiting[-1], None)
        if node is None:
            waiting.pop()
            yield "" if open_tags.pop().name in _INLINE else _BLOCK
        elif isinstance(node, Tag):
            if node.name not in _UNSEEN:
                yield "" if node.name in _INLINE else _BLOCK
                waiting.append(iter(node.contents))
                open_tags.append(node)
        elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
            text = str(node).replace("\0", " ")
            yield text.replace("\n", _BLOCK) if open_tags[-1].name in _LINES else text
