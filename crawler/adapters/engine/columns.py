"""A value as the columns of its row."""

from typing import Any

from pydantic import BaseModel


def column_values(model: BaseModel) -> dict[str, Any]:
    """A value's columns: its nested values become JSON."""
    flat = model.model_dump()
    for name, value in flat.items():
        if isinstance(value, dict):
            flat[name] = model.model_dump(mode="json", include={name})[name]
        elif isinstance(value, tuple):
            flat[name] = list(value)
    return flat
