"""Products that a page declares by itself, as JSON-LD or microdata: their name, price and availability."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.watching.amounts import Amount, read_price
from crawler.domain.watching.machine_numbers import machine_number
from crawler.domain.watching.values import ChangeKind, FieldType, Value, Watched, WatchedChange, compare_values

MOST_PRODUCTS = 200
MOST_SEEN = 50_000
LONGEST = 300
NAME, PRICE, AVAILABILITY, LISTED = "product.name", "product.price", "product.availability", "products"
FIELDS = (NAME, PRICE, AVAILABILITY)
_AVAILABLE = frozenset({"instock", "limitedavailability", "onlineonly", "instoreonly"})
_KEYS = ("sku", "gtin13", "gtin", "mpn", "productID", "url", "@id", "name")
_SCOPES = '[itemscope][itemtype*="schema.org/" i]'
_OFFER_TYPES = ("offer", "aggregateoffer", "pricespecification", "unitpricespecification")

Text = Callable[[LexborNode], str]


class Product(NamedTuple):
    key: str
    """By what it is known among others on the page."""
    name: str | None = None
    price: Amount | None = None
    price_text: str | None = None
    availability: str | None = None
    """As schema.org names it: `InStock`."""

    @property
    def is_available(self) -> bool:
        return (self.availability or "").lower() in _AVAILABLE

    def value(self, field: str) -> Value | None:
        if field == NAME:
            return Value(FieldType.TEXT, self.name) if self.name else None
        if field == AVAILABILITY:
            return Value(FieldType.TEXT, self.availability) if self.availability else None
        if self.price_text is None:
            return None
        problem = None if self.price else "it names no price"
        return Value(FieldType.PRICE, self.price_text, self.price, problem=problem)


def find_products(tree: LexborHTMLParser, data: Iterable[Any], text_of: Text) -> list[Product]:
    """The products of a page. `data`: its JSON-LD. What is declared in both ways is one product."""
    found: dict[str, Product] = {}
    for product in (*_of_json(data), *_of_microdata(tree, text_of)):
        if len(found) >= MOST_PRODUCTS:
            break
        same = next((key for key, known in found.items() if product.name and known.name == product.name), product.key)
        found[same] = _merged(found[same], product) if same in found else product
    return list(found.values())


def compare_products(url: str, rule: str, before: list[Product], after: list[Product]) -> list[WatchedChange]:
    if not before and not after:
        return []
    if len(before) == len(after) == 1:
        return _compare(url, rule, before[0], after[0], None)
    if not before or not after:
        names = ", ".join(product.name or product.key for product in (before or after))
        listed = Value(FieldType.TEXT, names)
        change = compare_values(Watched(url, rule, LISTED), listed if before else None, listed if after else None)
        return [change] if change else []
    old, new = ({product.key: product for product in some} for some in (before, after))
    changes = [
        one for key in old if key in new for one in _compare(url, rule, old[key], new[key], new[key].name or key)
    ]
    if old.keys() != new.keys():
        lists = (
            Value(FieldType.LIST, "", items=tuple(one.name or one.key for one in some)) for some in (before, after)
        )
        change = compare_values(Watched(url, rule, LISTED), *lists)
        changes += [change] if change else []
    return changes


def _compare(url: str, rule: str, before: Product, after: Product, item: str | None) -> list[WatchedChange]:
    changes = []
    for field in FIELDS:
        change = compare_values(Watched(url, rule, field, item), before.value(field), after.value(field))
        if change and field == AVAILABILITY and change.kind is ChangeKind.CHANGED:
            change = change._replace(back_in_stock=after.is_available and not before.is_available)
        changes += [change] if change else []
    return changes


def _merged(one: Product, other: Product) -> Product:
    return one._replace(
        price=one.price or other.price,
        price_text=one.price_text or other.price_text,
        availability=one.availability or other.availability,
    )


def _of_json(data: Iterable[Any]) -> Iterator[Product]:
    for thing in _things(data):
        if any(name.endswith(("product", "productgroup", "productmodel")) for name in _types(thing)):
            offers = [offer for offer in _listed(thing.get("offers")) if isinstance(offer, dict)]
            key = next((text for name in _KEYS if (text := _text(thing.get(name)))), "")
            if key and (offers or thing.get("name")):
                yield _product(key, _text(thing.get("name")), offers)


def _product(key: str, name: str | None, offers: list[dict[str, Any]]) -> Product:
    prices = [price for offer in offers if (price := _offered(offer))]
    read = [price for price in prices if price[0]]
    lowest = min(read, key=lambda price: price[0].number if price[0] else 0) if read else None
    amount, text = lowest or (prices[0] if prices else (None, None))
    states = [state for offer in offers if (state := _state(offer.get("availability")))]
    state = next((state for state in states if state.lower() in _AVAILABLE), states[0] if states else None)
    return Product(key, name, amount, text, state)


def _offered(offer: dict[str, Any]) -> tuple[Amount | None, str] | None:
    """The price of an offer, and how it is written."""
    for part in (offer, *(one for one in _listed(offer.get("priceSpecification")) if isinstance(one, dict))):
        for name in ("price", "lowPrice"):
            if text := _text(part.get(name)):
                currency = _text(part.get("priceCurrency")) or _text(offer.get("priceCurrency"))
                return read_declared(text, currency), text
    return None


def read_declared(text: str, currency: str | None) -> Amount | None:
    """A price as programs write it, with a point; or else as people do."""
    number = machine_number(text)
    if number is not None:
        return Amount(number, currency)
    found = read_price(text)
    return None if isinstance(found, str) else found._replace(currency=currency or found.currency)


def _things(data: Iterable[Any]) -> Iterator[dict[str, Any]]:
    waiting = list(data)[::-1]
    seen = 0
    while waiting and seen < MOST_SEEN:
        one = waiting.pop()
        seen += 1
        if isinstance(one, dict):
            yield one
            waiting += reversed(list(one.values()))
        elif isinstance(one, list):
            waiting += reversed(one)


def _types(thing: dict[str, Any]) -> list[str]:
    return [_last(name).lower() for name in _listed(thing.get("@type")) if isinstance(name, str)]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str | None:
    """What is written; of a list the first."""
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, dict | list | bool) or value is None:
        return None
    return " ".join(str(value).split())[:LONGEST] or None


def _state(value: Any) -> str | None:
    text = _text(value.get("@id") if isinstance(value, dict) else value)
    return _last(text) if text else None


def _last(name: str) -> str:
    """`https://schema.org/InStock` is `InStock`."""
    return name.rstrip("/").rpartition("/")[2].rpartition(":")[2].rpartition("#")[2]


def _of_microdata(tree: LexborHTMLParser, text_of: Text) -> Iterator[Product]:
    for scope in tree.css(_SCOPES)[: MOST_PRODUCTS * 5]:
        if not _is_type(scope, ("product", "productgroup", "productmodel", "individualproduct")):
            continue
        said = _properties(scope, text_of)
        key = next((said[name] for name in _KEYS if said.get(name)), "")
        if key:
            yield _product(key, said.get("name"), [said] if said.keys() & {"price", "lowPrice", "availability"} else [])


def _properties(scope: LexborNode, text_of: Text) -> dict[str, str]:
    """What an item says of itself and of its offers; what things within it say of themselves is theirs."""
    said: dict[str, str] = {}
    waiting = list(scope.iter())[::-1]
    seen = 0
    while waiting and seen < MOST_SEEN:
        node = waiting.pop()
        seen += 1
        attributes = node.attributes
        is_item = "itemscope" in attributes
        for name in (attributes.get("itemprop") or "").split() if not is_item else ():
            if name not in said and (value := _said(node, text_of)):
                said[name] = value
        if not is_item or _is_type(node, _OFFER_TYPES):
            waiting += list(node.iter())[::-1]
    return said


def _said(node: LexborNode, text_of: Text) -> str:
    attributes = node.attributes
    written = next(
        (attributes[name] for name in ("content", "href", "src", "datetime", "value") if attributes.get(name)), None
    )
    return " ".join((written or text_of(node)).split())[:LONGEST]


def _is_type(node: LexborNode, names: Iterable[str]) -> bool:
    types = (node.attributes.get("itemtype") or "").split()
    return any(_last(one).lower() in names for one in types)
