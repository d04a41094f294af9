"""What a selector of people names on a parsed page: CSS, or XPath behind `xpath:`. One tree is the truth for both."""

from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.css_matching import Search
from crawler.domain.pages.tag_ids import TEXT
from crawler.domain.pages.xpath_mirror import MOST_NAMED, add_text, mirrored_element, xpath_found

XPATH = "xpath:"

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
        found = xpath_found(selector.removeprefix(XPATH), root)
        return [nodes[one] if one in nodes else str(one) for one in found if _is_read(one, nodes)]

    def elements(self, selector: str) -> list[LexborNode]:
        return [one for one in self.find(selector) if not isinstance(one, str)]

    def _mirrored(self) -> tuple[Any, dict[Any, LexborNode]]:
        if self._mirror is None:
            self._mirror = _mirror(self._tree.root)
        return self._mirror


def _is_read(one: object, nodes: dict[Any, LexborNode]) -> bool:
    return isinstance(one, str) or one in nodes


def _mirror(root: LexborNode | None) -> tuple[Any, dict[Any, LexborNode]]:
    """The page as lxml has it, and the node of each of its elements. Without recursion: pages nest as they like."""
    if root is None:
        return mirrored_element("html"), {}
    top = _element(root)
    nodes = {top: root}
    waiting = [(root, top)]
    while waiting:
        node, element = waiting.pop()
        last = None
        for child in node.iter(include_text=True):
            if child.tag_id == TEXT:
                add_text(element, last, child.text_content or "")
            elif child.is_element_node:
                last = _element(child)
                element.append(last)
                nodes[last] = child
                waiting.append((child, last))
    return top, nodes


def _element(node: LexborNode) -> Any:
    return mirrored_element(node.tag or "", ((name, value or "") for name, value in node.attributes.items()))
