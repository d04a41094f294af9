"""The form of a watch rule: text areas with one thing a line, and the rule that they mean."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crawler.domain.watching.fields import is_json
from crawler.domain.watching.rules import InvalidWatch, WatchOrder, WatchRule, read_order

NAMES = ("name", "pattern", "priority", "watch", "fields", "alone", "products", "match", "tell", "tell_pattern")
LABELS = {
    "name": "Name",
    "pattern": "On pages whose URL matches",
    "priority": "Priority",
    "watch": "Only these parts count",
    "fields": "Values",
    "tell": "Conditions",
}
"""What the form calls them."""
_WHOLE = "-0123456789"


class ReadRule(NamedTuple):
    order: WatchOrder | None
    wrong: str | None = None


def values_of(rule: WatchRule) -> dict[str, str]:
    """A rule as the form shows it."""
    tell = rule.tell
    own = _selectors(rule)
    is_only = bool(own) and set(own) <= set(rule.watch)
    return {
        "name": rule.name,
        "pattern": rule.pattern,
        "priority": str(rule.priority),
        "watch": "\n".join(one for one in rule.watch if not is_only or one not in own),
        "fields": "\n".join(f"{name} = {field.written}" for name, field in rule.fields.items()),
        "alone": "1" if is_only else "",
        "products": "1" if rule.products else "",
        "match": tell.match.value if tell else "any",
        "tell": "\n".join(one.written for one in tell.of) if tell else "",
        "tell_pattern": tell.pattern if tell else "",
    }


def read_form(values: Mapping[str, str], *, enabled: bool = True) -> ReadRule:
    """The rule that was written, or a sentence that says what is wrong with it."""
    try:
        given = {**_given(values), "enabled": enabled}
        order = read_order(given)
        if values.get("alone") and (own := _selectors(order)):
            order = read_order({**given, "watch": list(dict.fromkeys((*order.watch, *own)))})
        return ReadRule(order)
    except InvalidWatch as exc:
        return ReadRule(None, _labelled(exc.message))


def _selectors(order: WatchOrder) -> list[str]:
    """Where the values stand. Those of JSON stand in no part of a page."""
    return [field.selector for field in order.fields.values() if not is_json(field.selector)]


def _labelled(words: str) -> str:
    """The sentence with the form's words for the field it is about, and which of its lines."""
    where, sign, said = words.partition(":")
    name, _, line = where.partition(".")
    if not sign or name not in LABELS:
        return words
    which = f" ({line})" if line and not line[:1].isdigit() else ""
    return f"{LABELS[name]}{which}: {said.strip()}"


def _given(values: Mapping[str, str]) -> dict[str, Any]:
    priority = values.get("priority", "").strip() or "0"
    if priority.strip(_WHOLE) or not priority.lstrip("-").isdigit():
        raise InvalidWatch("priority: it is a whole number.")
    given: dict[str, Any] = {
        "name": values.get("name", ""),
        "pattern": values.get("pattern", "").strip(),
        "priority": int(priority[:10]),
        "watch": _lines(values, "watch"),
        "fields": dict(_field(line) for line in _lines(values, "fields")),
        "products": bool(values.get("products")),
    }
    if tell := _lines(values, "tell"):
        given["tell"] = {"match": values.get("match") or "any", "of": tell, "pattern": values.get("tell_pattern", "")}
    return given


def _lines(values: Mapping[str, str], name: str) -> Sequence[str]:
    return [line.strip() for line in values.get(name, "").splitlines() if line.strip()]


def _field(line: str) -> tuple[str, Any]:
    name, sign, what = line.partition("=")
    if not sign or not what.strip():
        raise InvalidWatch("fields: a line reads NAME = WHAT, such as price = price .total.")
    return name.strip(), what.strip()
