"""What a selector of people names on a parsed page: CSS, or XPath behind `xpath:`. One tree is the truth for both."""

import re
from typing import Any

from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.css_matching import Search
from crawler.domain.pages.tag_ids import TEXT

XPATH = "xpath:"
MOST_NAMED = 10_000
"""Elements that one selector may name: more than that is no choice any more."""
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

Named = LexborNode | str


class NamedParts:
    """Finds parts of one page, which must not be changed meanwhile."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._search = Search(tree)
        self._mirror: tuple[Any, dict[Any, LexborNode]] | None = None

    def find(self, selector: str) -> list[Named]:
        """In the order of the page. An XPath may also name texts and give a value."""
        if not selector.startswith(XPATH):
            return list(self._search.find(selector)[:MOST_NAMED])
        root, nodes = self._mirrored()
        found = etree.XPath(selector.removeprefix(XPATH), regexp=False, smart_strings=False)(root)
        if not isinstance(found, list):
            return [_written(found)]
        return [nodes[one] if one in nodes else str(one) for one in found[:MOST_NAMED] if _is_read(one, nodes)]

    def elements(self, selector: str) -> list[LexborNode]:
        return [one for one in self.find(selector) if not isinstance(one, str)]

    def _mirrored(self) -> tuple[Any, dict[Any, LexborNode]]:
        if self._mirror is None:
            self._mirror = _mirror(self._tree.root)
        return self._mirror


def _is_read(one: object, nodes: dict[Any, LexborNode]) -> bool:
    return isinstance(one, str) or one in nodes


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if value == value else ""
    return str(value)


def _mirror(root: LexborNode | None) -> tuple[Any, dict[Any, LexborNode]]:
    """The page as lxml has it, and the node of each of its elements. Without recursion: pages nest as they like."""
    if root is None:
        return etree.Element("html"), {}
    top = _element(root)
    nodes = {top: root}
    waiting = [(root, top)]
    while waiting:
        node, element = waiting.pop()
        last = None
        for child in node.iter(include_text=True):
            if child.tag_id == TEXT:
                _add_text(element, last, _NOT_XML.sub("", child.text_content or ""))
            elif child.is_element_node:
                last = _element(child)
                element.append(last)
                nodes[last] = child
                waiting.append((child, last))
    return top, nodes


def _add_text(element: Any, last: Any, text: str) -> None:
    if last is None:
        element.text = (element.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _element(node: LexborNode) -> Any:
    tag = node.tag or ""
    made = etree.Element(tag if _NAME.fullmatch(tag) else re.sub(r"[^\w.-]", "_", f"_{tag}", flags=re.ASCII))
    for name, value in node.attributes.items():
        if _NAME.fullmatch(name):
            made.set(name, _NOT_XML.sub("", value or ""))
    return made
