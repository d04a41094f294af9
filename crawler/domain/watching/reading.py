"""Reads the watched values of a stored page. Bytes in, values out; bounded, and meant for a judge."""

import json
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

from selectolax.lexbor import LexborNode

from crawler.domain.noise.moments import read_moment
from crawler.domain.noise.page_pairs import PageSide
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.files import FileKind, kind_of
from crawler.domain.pages.json_nesting import is_too_deep
from crawler.domain.pages.markup_bombs import UnparsablePage, refuse_bombs
from crawler.domain.pages.named_parts import Named, NamedParts
from crawler.domain.pages.nodes import parse
from crawler.domain.pages.tag_ids import TEXT, tag_ids
from crawler.domain.urls.url import Url, resolver
from crawler.domain.watching.amounts import LONGEST, Amount, read_number, read_price
from crawler.domain.watching.fields import WatchField, is_json
from crawler.domain.watching.json_paths import find_json, parse_path
from crawler.domain.watching.machine_numbers import machine_number
from crawler.domain.watching.products import Product, find_products
from crawler.domain.watching.values import FieldType, Value

LONGEST_TEXT = 10_000
MOST_ITEMS = 500
MOST_SCRIPTS = 50
_JSON_SCRIPTS = 'script[type="application/ld+json" i], script[type="application/json" i]'
_LINKED_DATA = 'script[type="application/ld+json" i]'
_ADDRESSES = frozenset({"href", "src", "poster", "action", "data-src"})
_UNSEEN = tag_ids("script style noscript template iframe svg head")
_STRUCK = tag_ids("del s strike")
_RAISED = tag_ids("sup")
_INLINE = tag_ids(
    "a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark meter nobr output q s samp small "
    "span strike strong sub sup time tt u var wbr"
)
# Where a comma begins the decimals. By language: what is written on a page is written for its readers.
_COMMA_LANGUAGE_NAMES = (
    "af az be bg bs ca cs da de el es et eu fi fr gl hr hu hy id is it ka kk lt lv mk nb nl nn no pl pt ro ru sk sl sq "
    "sr sv tr uk uz vi"
)
_COMMA_LANGUAGES = frozenset(_COMMA_LANGUAGE_NAMES.split())
_LANGUAGE = re.compile(r"[a-z]{2,3}(?=[-_]|$)")


class WatchedPage:
    """A stored page, read as far as its rules ask."""

    def __init__(self, side: PageSide, url: str) -> None:
        """Raises UnparsablePage."""
        self._side = side
        self._url = url
        self._kind = kind_of(side.content_type, side.content)
        if self._kind is None:
            markup, _ = to_utf8(side.content, side.content_type)
            refuse_bombs(markup)
            self._tree = parse(markup)
        elif self._kind is not FileKind.JSON:
            raise UnparsablePage("It is neither a web page nor JSON, so no selector names anything in it.")

    def names(self, selector: str) -> bool:
        """Whether a selector names any part of the page."""
        return self._kind is None and bool(self._parts.elements(selector))

    def count(self, selector: str) -> int:
        return len(self._parts.elements(selector)) if self._kind is None else 0

    def words_in(self, selectors: Sequence[str]) -> int:
        """How many words stand in these parts, as far as nothing stands in two of them."""
        parts = {node.mem_id: node for selector in selectors for node in self._parts.elements(selector)}
        return sum(len(text_of(node).split()) for node in parts.values())

    @property
    def words(self) -> int:
        return len(text_of(self._tree.body).split()) if self._kind is None and self._tree.body is not None else 0

    def value(self, field: WatchField) -> Value | None:
        """What the field says here; None if it is not found."""
        if is_json(field.selector):
            return self._of_json(field, find_json(parse_path(field.selector), self._json))
        found = self._parts.find(field.selector) if self._kind is None else []
        if field.type is FieldType.COUNT:
            return _counted(len(found))
        texts = [text for one in found[:MOST_ITEMS] if (text := self._text(one, field))]
        if field.type is FieldType.LIST:
            return Value(FieldType.LIST, "", items=tuple(texts)) if found else None
        if not found:
            return None
        return read_value(field.type, texts[0] if texts else "", field.decimal or self._decimal_sign(field.type))

    def products(self) -> list[Product]:
        if self._kind is FileKind.JSON:
            return []
        return find_products(self._tree, self._scripts(_LINKED_DATA), text_of)

    def _of_json(self, field: WatchField, found: list[Any]) -> Value | None:
        if field.type is FieldType.COUNT:
            return _counted(len(found[0]) if len(found) == 1 and isinstance(found[0], list) else len(found))
        if field.type is FieldType.LIST:
            items = found[0] if len(found) == 1 and isinstance(found[0], list) else found
            return Value(FieldType.LIST, "", items=tuple(map(_written, items[:MOST_ITEMS]))) if found else None
        if not found or found[0] is None:
            return None
        text = _written(found[0])
        number = machine_number(text)
        if number is not None and field.type in (FieldType.NUMBER, FieldType.PRICE):
            return Value(field.type, text, Amount(number))
        return read_value(field.type, text, field.decimal)

    def _text(self, one: Named, field: WatchField) -> str:
        if isinstance(one, str):
            return _one_space(one)
        if field.attribute is None:
            return text_of(one, is_price=field.type is FieldType.PRICE)
        written = _one_space(one.attributes.get(field.attribute.lower()) or "")
        if field.attribute.lower() not in _ADDRESSES or not written:
            return written
        address = resolver(self._url)(written)
        return address.href if isinstance(address, Url) else written

    def _decimal_sign(self, kind: FieldType) -> str | None:
        """By the page's language. Prices say it themselves: nobody writes them with three decimals."""
        if kind is not FieldType.NUMBER or self._kind is not None or self._tree.root is None:
            return None
        language = _LANGUAGE.match((self._tree.root.attributes.get("lang") or "").lower())
        return None if language is None else "," if language[0] in _COMMA_LANGUAGES else "."

    @cached_property
    def _parts(self) -> NamedParts:
        return NamedParts(self._tree)

    @cached_property
    def _json(self) -> Any:
        """The page, if it is JSON; else the list of its JSON scripts."""
        if self._kind is FileKind.JSON:
            return _loaded(self._side.content.decode("utf-8-sig", "replace"))
        return self._scripts(_JSON_SCRIPTS)

    def _scripts(self, selector: str) -> list[Any]:
        texts = (node.text() for node in self._tree.css(selector)[:MOST_SCRIPTS])
        return [value for text in texts if (value := _loaded(text)) is not None]


def read_value(kind: FieldType, text: str, decimal: str | None = None) -> Value:
    """A text as a value of a type. What cannot be read is compared as a text, and says why."""
    text = text[:LONGEST_TEXT]
    match kind:
        case FieldType.PRICE:
            price = read_price(text)
            return Value(kind, text, problem=price) if isinstance(price, str) else Value(kind, text, price)
        case FieldType.NUMBER:
            number = read_number(text, decimal)
            return Value(kind, text, problem=number) if isinstance(number, str) else Value(kind, text, Amount(number))
        case FieldType.DATE:
            shown = read_moment(text) if len(text) <= LONGEST else None
            if shown is None or (not shown.days and shown.seconds is None):
                return Value(kind, text, problem="it names no date")
            return Value(kind, text, moment=(shown.days, shown.seconds))
    return Value(kind, text)


def text_of(node: LexborNode, *, is_price: bool = False) -> str:
    """The text of an element in one line. Of a price without what is struck out, and small digits above are cents."""
    pieces: list[str] = []
    waiting: list[LexborNode | str] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            pieces.append(one)
        elif one.tag_id == TEXT:
            pieces.append(one.text_content or "")
        elif one.is_element_node and one.tag_id not in _UNSEEN and not (is_price and one.tag_id in _STRUCK):
            gap = "" if one.tag_id in _INLINE else " "
            if is_price and one.tag_id in _RAISED and pieces and pieces[-1][-1:].isdigit():
                gap = "."
            pieces.append(gap)
            waiting += [" " if gap == " " else "", *reversed(list(one.iter(include_text=True)))]
    return _one_space("".join(pieces))[:LONGEST_TEXT]


def _one_space(text: str) -> str:
    return " ".join(text.split())


def _counted(number: int) -> Value:
    return Value(FieldType.COUNT, str(number), Amount(Decimal(number)))


def _written(value: Any) -> str:
    """JSON as a text that is the same for the same value, in whatever order its names stand."""
    if isinstance(value, str):
        return _one_space(value)[:LONGEST_TEXT]
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)[:LONGEST_TEXT]


def _loaded(text: str) -> Any:
    try:
        return None if is_too_deep(text) else json.loads(text, parse_float=Decimal)
    except (ValueError, ArithmeticError):
        return None
