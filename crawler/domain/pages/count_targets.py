"""Numbers that counters count up to: `<b data-count="500">0</b>` says 0 until it comes into view, and then 500.

Which attribute holds the number differs from one library to the next, so all numbers of the element's data attributes
are taken. They are only compared: nobody else should take an element's id or its seconds for what it says.
"""

import re

from selectolax.lexbor import LexborNode

from crawler.domain.pages.tag_ids import TEXT

MOST = 500
"""Counters of a page. What further ones count up to is not compared."""
_LONGEST_TAG = 4_000
_LONGEST_TEXT = 32
_NUMBER = r"[+-]?[0-9](?:[0-9.,' ]{0,18}[0-9])?"
_LAST_ZERO = re.compile(rb"0[^<>0-9]{0,12}+</")
_IN_TAG = re.compile(rb"\sdata-[^\s=\"'<>/]+\s*=\s*[\"']?\s*(" + _NUMBER.encode() + rb")(?=[\s\"'>]|\Z)")
_IS_ZERO = re.compile(r"[^<>0-9]{0,12}0(?:[.,]0{1,3})?[^<>0-9]{0,12}").fullmatch
_IS_NUMBER = re.compile(_NUMBER).fullmatch
_COUNTS = re.compile("[1-9]").search


def count_targets(markup: bytes) -> list[str]:
    """The numbers that stand in the tags of counters, by the markup alone: most pages have none, which this sees at
    once."""
    if b"data-" not in markup:
        return []
    found: list[str] = []
    for zero in _LAST_ZERO.finditer(markup):
        end = markup.rfind(b">", max(0, zero.start() - _LONGEST_TEXT), zero.start())
        begin = markup.rfind(b"<", max(0, end - _LONGEST_TAG), end) if end >= 0 else -1
        if begin >= 0 and _IS_ZERO(markup[end + 1 : zero.end() - 2].decode(errors="replace").strip()):
            tag = markup[begin:end]
            found += (number for each in _IN_TAG.findall(tag) if _COUNTS(number := each.decode()))
        if len(found) >= MOST:
            break
    return found


def name_targets(body: LexborNode) -> None:
    """Let counters say what they count up to, beside what they say: `0 (500)`. Changes the tree."""
    named = 0
    for node in body.traverse():
        if named >= MOST:
            return
        numbers = _targets(node)
        if numbers:
            node.insert_child(f" ({', '.join(numbers)})")
            named += 1


def _targets(node: LexborNode) -> list[str]:
    only = node.first_child
    if only is None or only.tag_id != TEXT or only.next is not None or not _IS_ZERO((only.text_content or "").strip()):
        return []
    stated = (value.strip() for name, value in node.attributes.items() if value and name.startswith("data-"))
    return [value for value in stated if _IS_NUMBER(value) and _COUNTS(value)]
