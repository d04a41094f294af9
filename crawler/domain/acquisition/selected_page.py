"""A page on which operators' selectors are tried: CSS on BeautifulSoup's tree, XPath on a mirror of it in lxml.

One tree is the truth: what an XPath finds in the mirror is led back to its element.
"""

import re
from typing import Any

import soupsieve
from bs4 import BeautifulSoup
from bs4.element import NavigableString, PreformattedString, Tag
from lxml import etree

from crawler.domain.acquisition.selectors import FieldRule, Selector, SelectorKind
from crawler.domain.pages.element_text import element_text, normalised

MAX_MATCHES = 10_000
"""Matches of one selector: more than that is no choice any more."""
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

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
            return list(soupsieve.select(selector.selector, self.soup, limit=MAX_MATCHES))
        root, tags = self._mirrored()
        found = etree.XPath(selector.selector, regexp=False, smart_strings=False)(root)
        if not isinstance(found, list):
            return [_written(found)]
        return [tags[one] if one in tags else str(one) for one in found[:MAX_MATCHES] if _is_read(one)]

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


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if value == value else ""
    return str(value)


def _mirror(soup: BeautifulSoup) -> tuple[Any, dict[Any, Tag]]:
    first = next((node for node in soup.contents if isinstance(node, Tag)), None)
    root = _element(first) if first is not None else etree.Element("html")
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
                _add_text(element, last, _NOT_XML.sub("", str(node)))
    return root, tags


def _add_text(element: Any, last: Any, text: str) -> None:
    if last is None:
        element.text = (element.text or "") + text
    else:
        last.tail = (last.tail or "") + text


def _element(tag: Tag) -> Any:
    made = etree.Element(tag.name if _NAME.fullmatch(tag.name) else re.sub(r"[^\w.-]", "_", f"_{tag.name}"))
    for name, value in tag.attrs.items():
        if _NAME.fullmatch(name):
            made.set(name, _NOT_XML.sub("", " ".join(value) if isinstance(value, list) else str(value)))
    return made
