"""Pydantic validation errors as one sentence for the person who typed the value."""

import math
from collections.abc import Mapping
from typing import Any

_WORDS = {
    "int_parsing": "This is not a whole number.",
    "int_from_float": "This is not a whole number.",
    "int_type": "This is not a whole number.",
    "float_parsing": "This is not a number.",
    "enum": "Choose one of the list.",
    "literal_error": "Choose one of the list.",
}


def sentence(error: Mapping[str, Any]) -> str:
    """A Pydantic error as a sentence; messages of our own validators are kept."""
    kind, told = str(error["type"]), str(error["msg"]).removeprefix("Value error, ")
    told = told.replace("Input should be", "It must be")
    limits = error.get("ctx", {})
    if kind in _WORDS:
        return _WORDS[kind]
    if kind in ("less_than_equal", "greater_than_equal"):
        return f"At most {limits['le']:,}." if kind == "less_than_equal" else f"At least {limits['ge']:,}."
    if kind == "greater_than":
        return f"It must be more than {limits['gt']:g}."
    if kind == "too_long":
        return f"These are too many: at most {limits['max_length']:,}."
    if kind == "string_too_long":
        return f"At most {limits['max_length']:,} characters."
    return told[:1].upper() + told[1:].rstrip(".") + "."


def share_of(percent: str) -> float | None:
    """The share that a percentage means: 0.1 for `10 %`. None if the text is no number."""
    try:
        value = float(percent.replace(",", ".").rstrip(" %"))
    except ValueError:
        return None
    return value / 100 if math.isfinite(value) else None
