"""Values that are read from pages, and what it means that one changed: `price 119.00 € → 99.00 €, −16.8 %`."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple

from crawler.domain.plain_text import one_line
from crawler.domain.watching.amounts import Amount

MOST_SHOWN = 5
"""Entries of a list that are named when they came or went."""
LONGEST_SHOWN = 200


class FieldType(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    PRICE = "price"
    DATE = "date"
    LIST = "list"
    COUNT = "count"


class Value(NamedTuple):
    """What a field says on a page. A field that is not found has none."""

    type: FieldType
    text: str
    amount: Amount | None = None
    moment: tuple[Any, ...] | None = None
    """What a date names; written in another way it is the same."""
    items: tuple[str, ...] = ()
    problem: str | None = None
    """Why it could not be read as its type: then it is compared as a text."""

    @property
    def shown(self) -> str:
        if self.amount is not None:
            return self.amount.shown
        return one_line(", ".join(self.items) if self.type is FieldType.LIST else self.text, LONGEST_SHOWN)

    def says_the_same(self, other: "Value") -> bool:
        if self.amount is not None and other.amount is not None:
            return self.amount.number == other.amount.number and self.amount.same_currency(other.amount)
        if self.moment is not None and other.moment is not None:
            return self.moment == other.moment
        if self.type is FieldType.LIST:
            return Counter(self.items) == Counter(other.items)
        return self.text == other.text


class ChangeKind(StrEnum):
    CHANGED = "changed"
    BROKEN = "broken"
    """It named something before, and names nothing now."""
    FOUND = "found"
    """It named nothing before."""


class WatchedChange(NamedTuple):
    """A watched value that changed, or a selector that names nothing any more."""

    url: str
    rule: str
    """The id of the rule."""
    field: str
    kind: ChangeKind
    before: str | None
    after: str | None
    words: str
    percent: float | None = None
    number: Decimal | None = None
    """What it is now, where that is a number."""
    item: str | None = None
    """Which product, where a page names several."""
    back_in_stock: bool = False

    def as_record(self) -> dict[str, Any]:
        """As a change summary keeps it."""
        number = str(self.number) if self.number is not None else None
        return {**self._asdict(), "kind": self.kind.value, "number": number}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> "WatchedChange":
        number = Decimal(record["number"]) if record.get("number") is not None else None
        return cls(**{**record, "kind": ChangeKind(record["kind"]), "number": number})


class Watched(NamedTuple):
    """Whose value it is: the page, the rule and the name of the field."""

    url: str
    rule: str
    field: str
    item: str | None = None

    @property
    def label(self) -> str:
        return f"{one_line(self.item, 80)}: {self.field}" if self.item else self.field


def compare_values(watched: Watched, before: Value | None, after: Value | None) -> WatchedChange | None:
    """What changed, or None. Nothing on both sides is nothing: whoever previews the rule sees that."""
    if before is None and after is None:
        return None
    if after is None and before is not None:
        words = f"{watched.label} is not found any more; it was {before.shown}"
        return _change(watched, ChangeKind.BROKEN, before.shown, None, words)
    if before is None and after is not None:
        change = _change(watched, ChangeKind.FOUND, None, after.shown, f"{watched.label} is found: {_told(after)}")
        return change._replace(number=after.amount.number if after.amount else None)
    assert before is not None
    assert after is not None
    if before.says_the_same(after):
        return None
    percent = _percent(before.amount, after.amount)
    if after.type is FieldType.LIST and before.type is FieldType.LIST:
        words = f"{watched.label}: {_list_words(before.items, after.items)}"
    else:
        words = f"{watched.label} {_told(before)} → {_told(after)}{_percent_words(percent)}"
    if before.amount and after.amount and not before.amount.same_currency(after.amount):
        words += ", in another currency"
    number = after.amount.number if after.amount else None
    change = _change(watched, ChangeKind.CHANGED, before.shown, after.shown, words)
    return change._replace(percent=percent, number=number)


def _change(watched: Watched, kind: ChangeKind, before: str | None, after: str | None, words: str) -> WatchedChange:
    return WatchedChange(watched.url, watched.rule, watched.field, kind, before, after, words, item=watched.item)


def _told(value: Value) -> str:
    shown = value.shown or "nothing"
    return f"“{shown}” ({value.problem})" if value.problem else shown


def _percent(before: Amount | None, after: Amount | None) -> float | None:
    if not before or not after or not before.number or not before.same_currency(after):
        return None
    return round(float((after.number - before.number) / abs(before.number) * 100), 1)


def _percent_words(percent: float | None) -> str:
    return f", {'−' if percent < 0 else '+'}{abs(percent):,.1f} %" if percent is not None else ""


def _list_words(before: Iterable[str], after: Iterable[str]) -> str:
    old, new = Counter(before), Counter(after)
    parts = [
        f"{sign} {_few(list((one - other).elements()))}"
        for sign, one, other in (("+", new, old), ("−", old, new))
        if one - other
    ]
    return "; ".join(parts)


def _few(items: list[str]) -> str:
    more = f" and {len(items) - MOST_SHOWN} more" if len(items) > MOST_SHOWN else ""
    return ", ".join(one_line(item, 80) for item in items[:MOST_SHOWN]) + more
