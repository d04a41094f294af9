"""Conditions as form fields: one a line, whether any or all have to hold, and for which pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from crawler.domain.watching.conditions import Conditions
from crawler.entrypoints.dashboard.forms.fields import Form

FIELDS = {"conditions": "", "conditions_match": "any", "conditions_pattern": ""}


def values_of(conditions: Conditions | None) -> dict[str, str]:
    if conditions is None:
        return dict(FIELDS)
    return {
        "conditions": "\n".join(one.written for one in conditions.of),
        "conditions_match": conditions.match.value,
        "conditions_pattern": conditions.pattern,
    }


def conditions_of(form: Form) -> dict[str, Any] | None:
    """What was written, for a model to check; None: no conditions."""
    return given(form.lines("conditions"), form.text("conditions_match"), form.text("conditions_pattern"))


def given(lines: Sequence[str], match: str, pattern: str) -> dict[str, Any] | None:
    return {"of": list(lines), "match": match or "any", "pattern": pattern} if lines else None


def typed(values: Mapping[str, str]) -> dict[str, Any] | None:
    """The same from the fields of an address."""
    lines = [line.strip() for line in values["conditions"].splitlines() if line.strip()]
    return given(lines, values["conditions_match"], values["conditions_pattern"].strip())
