"""The main text of a page, for those who name no selectors: without menus, footers and what stands at the side."""

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.nodes import parse, sort_nodes
from crawler.domain.pages.text import read_text, unwrap_inline

_MAIN = "main, [role=main]"
_ARTICLE = "article"
_BESIDE = (
    "nav, aside, footer, [role=navigation], [role=complementary], [role=contentinfo], [role=search], [hidden], "
    "[aria-hidden=true], dialog, button, select"
)
_ABOVE = "header, [role=banner]"
_LEAST_CHARS = 200
"""Less than that is no article, but a label."""


def main_text(markup: bytes, whole: str) -> str:
    """`whole` is the text of all of the page: better too much than nothing."""
    tree = parse(markup)
    if tree.body is None:
        return whole
    main = _main(tree, whole)
    part = tree.body if main is None else main
    for node in part.css(f"{_BESIDE}, {_ABOVE}" if main is None else _BESIDE):
        node.decompose()
    nodes = sort_nodes(parse((part.html or "").encode("utf-8", "replace")))
    unwrap_inline(nodes)
    text = read_text(nodes).text
    return text if len(text) >= min(_LEAST_CHARS, len(whole) // 4) else whole


def _main(tree: LexborHTMLParser, whole: str) -> LexborNode | None:
    """The element that is marked as the main content, if there is only one; a page of many articles is a list."""
    for selector in (_MAIN, _ARTICLE):
        found = tree.css(selector)
        if len(found) == 1 and len(found[0].text(strip=True)) >= min(_LEAST_CHARS, len(whole) // 4):
            return found[0]
    return None
