"""Selectors as form fields: included parts one per line, named fields one per row.

Rows may be incomplete while typing.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from crawler.domain.acquisition.selectors import FieldRule, Selector, SelectorKind, SelectorSet
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.errors import Invalid

_BREAKS = re.compile(r"\s*[\r\n]+\s*")
_COLUMNS = ("field_name", "field_kind", "field_selector", "field_attribute", "field_takes", "field_missing")


class FieldRow(NamedTuple):
    name: str = ""
    kind: str = SelectorKind.CSS.value
    selector: str = ""
    attribute: str = ""
    takes: str = "first"
    missing: str = "may"


class SelectorText(NamedTuple):
    """Selectors as they were typed."""

    include: str
    exclude: str
    fields: Sequence[FieldRow]


def text_of(rules: SelectorSet) -> SelectorText:
    rows = [
        FieldRow(
            name,
            rule.kind.value,
            _one_line(rule.selector),
            rule.attribute or "",
            "all" if rule.many else "first",
            "must" if rule.required else "may",
        )
        for name, rule in rules.fields.items()
    ]
    return SelectorText(_lines(rules.include), _lines(rules.exclude), rows)


def typed(form: Form) -> SelectorText:
    columns = (form.all(name) for name in _COLUMNS)
    rows = [FieldRow(*(cell.strip() for cell in cells)) for cells in zip_longest(*columns, fillvalue="")]
    return SelectorText(form.text("include"), form.text("exclude"), [row for row in rows if row.name or row.selector])


def selectors_of(text: SelectorText, *, whole: bool) -> dict[str, Any]:
    """The selectors in the shape `read_selectors` takes.

    With `whole` an incomplete row is an error, else it is skipped.
    """
    fields: dict[str, Mapping[str, Any]] = {}
    for row in text.fields:
        if not (row.name and row.selector):
            if whole:
                raise Invalid(_lacking(row))
            continue
        if row.name in fields:
            raise Invalid(f"fields.{row.name}: two fields have this name.")
        fields[row.name] = FieldRule(
            selector=row.selector[:1000] or "*",
            kind=SelectorKind.XPATH if row.kind == SelectorKind.XPATH else SelectorKind.CSS,
            attribute=row.attribute[:100] or None,
            many=row.takes == "all",
            required=row.missing == "must",
        ).model_dump()
    return {"include": _selectors(text.include), "exclude": _selectors(text.exclude), "fields": fields}


def _lacking(row: FieldRow) -> str:
    return f"fields.{row.name}: it has no selector." if row.name else "fields: a selector has no name beside it."


def _selectors(lines: str) -> list[str]:
    return [line.strip() for line in lines.splitlines() if line.strip()]


def _lines(selectors: Sequence[Selector]) -> str:
    return "\n".join(
        f"xpath:{_one_line(one.selector)}" if one.kind is SelectorKind.XPATH else _one_line(one.selector)
        for one in selectors
    )


def _one_line(selector: str) -> str:
    """Join the lines of a selector: in CSS and XPath a line break means the same as a space."""
    return _BREAKS.sub(" ", selector.strip())
