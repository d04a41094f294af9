"""The text of a page: one line per block, single spaces, nothing of what is not shown.

How: inline elements are dissolved into their parents and neighbouring text nodes merged, so what is left between two
text nodes is always a block. Then one call reads all text with a separator that no text can contain.
"""

from collections.abc import Iterable
from typing import NamedTuple

from selectolax.lexbor import LexborNode

from crawler.domain.pages.nodes import PageNodes
from crawler.domain.pages.tag_ids import TEXT

_BLOCK = "\0"
_BLOCK_BYTE = b"\0"
# Besides the line feed: what CSS collapses, the no-break space, and whatever Python or an editor would call a new line.
_SPACES = "\t\xa0\r\f\v\x1c\x1d\x1e\x85\u2028\u2029"


class CollapsedText(NamedTuple):
    text: str
    encoded: bytes
    """The text in UTF-8."""
    words: int


def unwrap_inline(nodes: PageNodes) -> None:
    """Take inline elements out, so that text in anchors and headings is whole words. Linear, as in document order."""
    for node in nodes.dropped:
        node.decompose(recursive=False)
    for node in nodes.inline:
        node.unwrap(delete_empty=True)


def read_text(nodes: PageNodes) -> CollapsedText:
    """The text of a page. Only after `unwrap_inline`, and after the anchors were read: they go too."""
    for node in nodes.anchors:
        node.unwrap(delete_empty=True)
    nodes.body.merge_text_nodes()
    for node in nodes.preformatted:
        _mark_lines(node)
    return collapse(nodes.body.text(separator=_BLOCK, strip=True, skip_empty=True))


def first_line(nodes: Iterable[LexborNode], limit: int) -> str | None:
    """The text of the first node that has any."""
    lines = (one_line(node.text(separator=" "), limit) for node in nodes)
    return next(filter(None, lines), None)


def one_line(text: str, limit: int) -> str:
    # Cut generously before splitting: a title of a megabyte is not worth a list of its words.
    return " ".join(text[: 20 * limit].split())[:limit].rstrip()


def collapse(raw: str) -> CollapsedText:
    """Text nodes come stripped, with a mark between them. Per-word work would take a third of the time of parsing.

    As bytes: one curly quote makes each character of a string two bytes wide, and all work on it twice as slow.
    """
    for space in _SPACES:
        if space in raw:
            raw = raw.replace(space, " ")
    encoded = raw.encode()
    if b"\n" in encoded:
        encoded = b" ".join(map(bytes.strip, encoded.split(b"\n")))
    if b"  " in encoded:
        encoded = b" ".join(filter(None, map(bytes.strip, encoded.split(b"  "))))
    blocks = list(filter(None, encoded.split(_BLOCK_BYTE)))
    encoded = b"\n".join(blocks)
    # Words are what single spaces and line feeds separate.
    return CollapsedText(encoded.decode(), encoded, encoded.count(b" ") + len(blocks))


def _mark_lines(node: LexborNode) -> None:
    """In preformatted text each line counts as a block."""
    for child in node.iter(include_text=True):
        if child.tag_id == TEXT:
            text = child.text_content or ""
            if "\n" in text:
                child.replace_with(_BLOCK.join(filter(None, map(str.strip, text.split("\n")))))
