"""Places of a page that its scripts are to fill, by what its markup says: nothing is there yet, and yet it is named.

Such a place is a name in double braces (`{{ price }}`), an empty element of the page's own making (`<live-price>`), one
with an attribute that HTML does not know (`x-text="price"`), an empty list or table body with a name, an empty element
of text with data of its own (`<span data-sku="4">`), and one that a script in the page names by its id. So is a
component with hardly a word: an element that has values for scripts, written as JSON (`<x-stock props='{"sku": 4}'>`).
And so is one that holds nothing but two marks, comments of one word each: what renders pages on the server sets them
around a value, for the script that goes on there (`<p><!--part--><!--/part--></p>`).

Many of these stay empty: icons, marks for links, advertisements. So a few pages of a kind are tried, and what decides
is whether the place was filled (`compare` in `domain/rendering/url_shapes.py`).
"""

import re
from collections.abc import Iterator
from itertools import islice

import re2
from selectolax.lexbor import LexborNode

from crawler.domain.pages.inert import runs
from crawler.domain.pages.nodes import SCRIPT
from crawler.domain.pages.tag_ids import COMMENT, TEXT, tag_ids

MOST_ELEMENTS = 20_000
"""Of a page, that are looked at."""
MOST_SCRIPTS = 100
MOST_CODE = 200_000
"""Characters of them."""
FEW_CHARS = 40
"""Of a component, which may be there before it is filled: a heading, the name of a value."""

_OF_TEXT = "span b strong em p output time"
_MORE_TEXT = f"{_OF_TEXT} td dd dt li h1 h2 h3 h4 h5 h6 blockquote q small"
_LISTS = "ul ol dl table tbody output"
_BOXES = "div section"
_FILLED = f"{_MORE_TEXT} {_LISTS} {_BOXES} article aside main tr thead tfoot"
# One pass over the bytes: elements of the page's own, whatever they have, others with an attribute that may matter, and
# values in JSON.
_MARK = r"(?:-?[^\s<>-]){1,40}"
_ATTRIBUTE = r"(?:id\s*=|[a-z]+[-:.@]|[@:][a-z])"
_RARE = re2.compile(
    r"\{\{\s*[\w$][^{}<>]{0,79}\}\}|(?i)<[a-z][a-z0-9]*-[a-z0-9-]*(?:\s[^<>]*)?>\s*</|"
    rf"<(?:{_FILLED.replace(' ', '|')})\s(?:[^<>]*\s)?{_ATTRIBUTE}[^<>]*>\s*</|"
    r"""=\s*["']\s*[\[{]\s*(?:&quot;|&#34;|&#x22;|["\[{])|"""
    rf">\s*<!--{_MARK}-->\s*<!--{_MARK}-->\s*</".encode()
)
_BRACES = re.compile(r"\{\{\s*[\w$][^{}<>]{0,79}\}\}").search
_NOT_OF_HTML = re.compile(r"(?!data-|aria-|xml)(?:[a-z]+[-:.@]|[@:][a-z])").match
_IS_JSON = re.compile(r"""\s*(?:\{\s*"|\[\s*["\[{])""").match
_IS_MARK = re.compile(f"<!--{_MARK}-->").fullmatch
_OWN_NAME = re.compile(r"[a-z][a-z0-9]*-[a-z0-9-]*").fullmatch
_NAMED = re.compile(r"""["'`#]([\w-]{3,80})(?=["'`\s])|\b(\w{3,80})\.(?:inner|text|append|replace|insert)""").findall
_WITH_DATA, _WITH_ID, _LIST, _BOX, _KNOWN = map(tag_ids, (_OF_TEXT, _MORE_TEXT, _LISTS, _BOXES, _FILLED))
_CONTENT = tag_ids("main article")
_SILENT = tag_ids("script style template noscript")
_ABOVE = 60
_MARKS, _AROUND_MARKS = 2, 6
MOST_NODES = 100
"""Of a component, that are looked at for its words."""


def may_have_places(markup: bytes) -> bool:
    """Whether a page, in UTF-8, is worth the thorough look."""
    return _RARE.search(markup) is not None


def find_places(body: LexborNode) -> Iterator[tuple[str, LexborNode]]:
    """Places that may be filled, with what to call them."""
    ids: frozenset[str] | None = None
    for node in islice(body.traverse(include_text=True), MOST_ELEMENTS):
        tag = node.tag_id
        if tag == TEXT:
            if found := _BRACES(str(node.text_content or "")):
                yield found[0], node
        elif tag in _KNOWN or "-" in str(node.tag):
            is_empty = _is_empty(node)
            name = _named_by_markup(node) if is_empty else _marked(node) or _component(node)
            if is_empty and not name and (given := node.attributes.get("id")):
                ids = _ids_in_scripts(body) if ids is None else ids
                name = _named_by_script(node, given) if given in ids else ""
            if name:
                yield name, node


def _is_empty(node: LexborNode) -> bool:
    child = node.child
    return child is None or (child.next is None and _is_space(child))


def _is_space(node: LexborNode) -> bool:
    return node.tag_id == TEXT and not str(node.text_content or "").strip()


def _marked(node: LexborNode) -> str:
    """The name of an element that holds two marks and nothing else."""
    if node.tag_id not in _WITH_ID | _LIST and (node.tag_id not in _BOX or not _is_in_content(node)):
        return ""
    held = [each for each in islice(node.iter(include_text=True), _AROUND_MARKS) if not _is_space(each)]
    are_marks = len(held) == _MARKS and all(each.tag_id == COMMENT and _IS_MARK(str(each.html)) for each in held)
    return f"{node.tag}{held[0].html}" if are_marks else ""


def _component(node: LexborNode) -> str:
    """The name of a component with hardly a word, and what it says: it is another when it was filled."""
    given = next((name for name, value in node.attributes.items() if value and _IS_JSON(value)), "")
    if not given:
        return ""
    said = " ".join(_said(node).split())
    return f"{said} {node.tag}[{given}]".strip() if len(said) < FEW_CHARS else ""


def _said(node: LexborNode) -> str:
    """The beginning of an element's text, without its scripts and styles."""
    said, chars = list[str](), 0
    for each in islice(node.traverse(include_text=True), MOST_NODES):
        if each.tag_id == TEXT and (above := each.parent) is not None and above.tag_id not in _SILENT:
            said.append(str(each.text_content or "")[: 2 * FEW_CHARS])
            chars += len(said[-1].strip())
            if chars >= FEW_CHARS:
                break
    return " ".join(said)


def _named_by_markup(node: LexborNode) -> str:
    name, tag, attributes = str(node.tag or ""), node.tag_id, node.attributes
    if _OWN_NAME(name):
        return name
    if own := next(filter(_NOT_OF_HTML, attributes), ""):
        return f"{name}[{own}]"
    has_data = any(each.startswith("data-") and value for each, value in attributes.items())
    if tag in _LIST and (has_data or attributes.get("id")):
        return f"{name}#{attributes.get('id') or ''}"
    return f"{name}[data]" if has_data and tag in _WITH_DATA else ""


def _named_by_script(node: LexborNode, given: str) -> str:
    """A box counts only inside the content: layers over the page and advertisements are boxes, too."""
    counts = node.tag_id in _WITH_ID or (node.tag_id in _BOX and _is_in_content(node))
    return f"#{given}" if counts else ""


def _is_in_content(node: LexborNode) -> bool:
    above = node.parent
    for _ in range(_ABOVE):
        if above is None:
            return False
        if above.tag_id in _CONTENT:
            return True
        above = above.parent
    return False


def _ids_in_scripts(body: LexborNode) -> frozenset[str]:
    scripts = (node for node in body.traverse() if node.tag_id == SCRIPT and runs(node.attributes.get("type")))
    code = "\n".join(node.text()[:MOST_CODE] for node in islice(scripts, MOST_SCRIPTS))[:MOST_CODE]
    return frozenset(name for names in _NAMED(code) for name in names if name)
