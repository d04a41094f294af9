"""The base class of all values that the service sends."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from crawler.client.errors import NotAService


class Value(BaseModel):
    """A frozen value. Unknown fields of a newer service are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


Kind = TypeVar("Kind", bound=Value)


def read(kind: type[Kind], sent: Any) -> Kind:
    try:
        return kind.model_validate(sent)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise NotAService(
            f"The answer is no {kind.__name__} this client understands ({where}: {first['msg']}); "
            "client and service may be of different versions."
        ) from exc
