"""The form of a watch rule: text areas with one thing a line, and the rule that they mean."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from crawler.domain.watching.rules import InvalidWatch, WatchOrder, WatchRule, read_order

NAMES = ("name", "pattern", "priority", "watch", "fields", "products", "match", "tell", "tell_pattern")
_WHOLE = "-0123456789"


class ReadRule(NamedTuple):
    order: WatchOrder | None
    wrong: str | None = None


def values_of(rule: WatchRule) -> dict[str, str]:
    """A rule as the form shows it."""
    tell = rule.tell
    return {
        "name": rule.name,
        "pattern": rule.pattern,
        "priority": str(rule.priority),
        "watch": "\n".join(rule.watch),
        "fields": "\n".join(f"{name} = {field.written}" for name, field in rule.fields.items()),
        "products": "1" if rule.products else "",
        "match": tell.match.value if tell else "any",
        "tell": "\n".join(one.written for one in tell.of) if tell else "",
        "tell_pattern": tell.pattern if tell else "",
    }


def read_form(values: Mapping[str, str], *, enabled: bool = True) -> ReadRule:
    """The rule that was written, or a sentence that says what is wrong with it."""
    try:
        return ReadRule(read_order({**_given(values), "enabled": enabled}))
    except InvalidWatch as exc:
        return ReadRule(None, exc.message)


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
