"""A page on which operators' selectors are tried: CSS on BeautifulSoup's tree, XPath on a mirror of it in lxml.

One tree is the truth: what an XPath finds in the mirror is led back to its element.
"""

from typing import Any

import soupsieve
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag

from crawler.domain.acquisition.selectors import FieldRule, Selector, SelectorKind
from crawler.domain.pages.element_text import element_text, normalised
from crawler.domain.pages.xpath_mirror import MOST_NAMED, add_text, mirrored_element, xpath_found

Found = Tag | str


class SelectedPage:
    def __init__(self, markup: bytes) -> None:
        """UTF-8."""
        self.soup = BeautifulSoup(markup, "lxml", from_encoding="utf-8")
        self._mirror: tuple[Any, dict[Any, Tag]] | None = None

    def drop(self, selectors: tuple[Selector, ...]) -> None:
        """Drop what these selectors name. All are looked for first: what one drops must not hide what another means."""
        found = [tag for selector in selectors for tag in self.find(selector) if isinstance(tag, Tag)]
        for tag in found:
            if not tag.decomposed:
                tag.decompose()
        if found:
            self._mirror = None

    def find(self, selector: Selector) -> list[Found]:
        """The elements that a selector names, in the order of the page."""
        if selector.kind is SelectorKind.CSS:
            return list(soupsieve.select(selector.selector, self.soup, limit=MOST_NAMED))
        root, tags = self._mirrored()
        found = xpath_found(selector.selector, root)
        return [tags[one] if one in tags else str(one) for one in found if _is_read(one)]

    def _mirrored(self) -> tuple[Any, dict[Any, Tag]]:
        if self._mirror is None:
            self._mirror = _mirror(self.soup)
        return self._mirror


def value_of(found: Found, rule: FieldRule) -> str | None:
    """What the field says by this match; None for nothing."""
    if isinstance(found, str):
        return normalised(found) or None
    if rule.attribute is None:
        return element_text(found) or None
    value = found.get(rule.attribute.lower())
    words = " ".join(value) if isinstance(value, list) else value
    return normalised(words) or None if words else None


def _is_read(one: object) -> bool:
    """Comments and the like are none of ours."""
    return isinstance(one, str) or isinstance(getattr(one, "tag", None), str)


def _mirror(soup: BeautifulSoup) -> tuple[Any, dict[Any, Tag]]:
    first = next((node for node in soup.contents if isinstance(node, Tag)), None)
    root = _element(first) if first is not None else mirrored_element("html")
    tags: dict[Any, Tag] = {}
    waiting = [(first, root)] if first is not None else []
    while waiting:
        tag, element = waiting.pop()
        tags[element] = tag
        last = None
        for node in tag.contents:
            if isinstance(node, Tag):
                last = _element(node)
                element.append(last)
                waiting.append((node, last))
            elif isinstance(node, NavigableString) and not isinstance(node, PreformattedString):
                add_text(element, last, str(node))
    return root, tags


def _element(tag: Tag) -> Any:
    values = ((name, " ".join(value) if isinstance(value, list) else str(value)) for name, value in tag.attrs.items())
    return mirrored_element(tag.name, values)
