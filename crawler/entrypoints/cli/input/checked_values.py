"""Values of several options together, checked by the rules of what they describe."""

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from crawler.errors import Invalid
from crawler.handlers.crawls.start_crawl import explain

Value = TypeVar("Value", bound=BaseModel)


def checked(kind: type[Value], given: Mapping[str, object]) -> Value:
    try:
        return kind.model_validate(given)
    except ValidationError as exc:
        raise Invalid(explain(exc)) from exc
