"""Moments that elements state beside their text (`<time datetime=…>`, `<span title=…>`): what an age there tells."""

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.tag_ids import TEXT, tag_ids

MOST = 2_000
"""Elements of a page that are looked at."""
_ELEMENTS = "time[datetime], [title]"
_INLINE = tag_ids("span small time label b strong em i u a abbr code data output mark")
_LONGEST_TEXT, _LONGEST_MOMENT = 40, 80
_MOST_NODES = 12
_MOST_LEVELS = 5
_DIGITS = re.compile(r"\d\d")

Stated = Mapping[tuple[int, str], str]
"""By element and all of its text; empty where two say something else."""


def stated_moments(tree: LexborHTMLParser) -> Stated:
    """What is stated of short texts. It is known by each element up to the first one that stays a line's own."""
    found: dict[tuple[int, str], str] = {}
    for node in tree.css(_ELEMENTS)[:MOST]:
        attributes = node.attributes
        said = attributes.get("datetime") or attributes.get("title") or ""
        if len(said) > _LONGEST_MOMENT or not _DIGITS.search(said):
            continue
        text = _short_text(node)
        above, levels = node, 0
        while text and levels < _MOST_LEVELS:
            key = above.mem_id, text
            found[key] = said if found.get(key, said) == said else ""
            if above.tag_id not in _INLINE or above.parent is None:
                break
            above, levels = above.parent, levels + 1
    return found


def _short_text(node: LexborNode) -> str:
    """All that an element says; nothing if that is long. However large it is, only its first nodes are looked at."""
    parts: list[str] = []
    for number, one in enumerate(node.traverse(include_text=True)):
        if one.tag_id == TEXT:
            parts.append((one.text_content or "")[: 2 * _LONGEST_TEXT])
        if number >= _MOST_NODES:
            return ""
    text = " ".join("".join(parts).split())
    return text if len(text) <= _LONGEST_TEXT else ""
