"""Base models for request and response bodies: text that Postgres can store, and lists with a cursor."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from crawler.entrypoints.http.json_types import check_types

Item = TypeVar("Item")

_DEEPEST = 20


class Wire(BaseModel):
    """What is sent to callers."""

    model_config = ConfigDict(frozen=True)


def storable(value: str) -> str:
    """Refuse text that cannot be stored: Postgres accepts no NUL, UTF-8 no lone surrogates."""
    if "\x00" in value:
        raise ValueError("text must not hold the character NUL")
    try:
        value.encode()
    except UnicodeEncodeError as exc:
        raise ValueError("text must be valid Unicode") from exc
    return value


def check_storable(value: Any, depth: int = 0) -> None:
    if depth > _DEEPEST:
        raise ValueError("the body is nested too deeply")
    if isinstance(value, str):
        storable(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_storable(key, depth)
            check_storable(inner, depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):  # which are what was not sent as JSON
        for inner in value:
            check_storable(inner, depth + 1)


class Body(BaseModel):
    """What callers send: unknown fields are refused, so that a misspelt option is not silently ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        check_storable(value)
        if isinstance(value, Mapping):
            check_types(cls, value)
        return value


def _flag(value: Any) -> Any:
    if isinstance(value, str) and value not in ("true", "false"):
        raise ValueError("must be true or false")
    return value


Flag = Annotated[bool, BeforeValidator(_flag)]
"""A yes or no of a query, written as in JSON."""
Text = Annotated[str, AfterValidator(storable)]


class Listed(Wire, Generic[Item]):
    """Part of a list, in an order that does not change while things are added."""

    items: list[Item]
    next_cursor: str | None = Field(description="Give it as `cursor` for what follows; null at the end")


OLD_NAME: dict[str, Any] = {"description": "The same as `items`; it goes in the next release", "deprecated": True}


LAST_ID = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""


class PageStatus(StrEnum):
    SUCCESS = "success"
    FAILED = "failed"
    SKIPPED = "skipped"
