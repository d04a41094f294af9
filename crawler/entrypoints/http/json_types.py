"""Checks that a JSON body has the types its model describes: Pydantic alone takes `true` for 1 and `"5"` for 5."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

_SCALARS = frozenset({bool, int, float})


def check_types(model: type[BaseModel], body: Mapping[str, Any]) -> None:
    for name, field in model.model_fields.items():
        key = field.alias or name
        if key in body:
            _check(field.annotation, body[key], key)


def _check(wanted: Any, value: Any, where: str) -> None:
    kinds = list(_alternatives(wanted))
    if isinstance(value, Mapping):
        for kind in kinds:
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                check_types(kind, value)
    elif isinstance(value, list):
        for item in (get_args(kind)[0] for kind in kinds if get_args(kind)):
            for each in value:
                _check(item, each, where)
    elif problem := _problem({kind for kind in kinds if kind in _SCALARS}, kinds, value):
        raise ValueError(f"{where} must be {problem}")


def _problem(scalars: set[Any], kinds: list[Any], value: Any) -> str | None:
    is_bool, is_number = isinstance(value, bool), isinstance(value, int | float)
    if not scalars or value is None:
        return None
    if scalars == {bool}:
        only = all(kind in (bool, NoneType) for kind in kinds)
        return "true or false" if not is_bool and (is_number or only) else None
    if is_bool and bool not in scalars:
        return "a number, not true or false"
    only = all(kind in _SCALARS or kind is NoneType for kind in kinds)
    return "a number, not text" if isinstance(value, str) and only else None


def _alternatives(wanted: Any) -> Iterator[Any]:
    origin = get_origin(wanted)
    if origin is Annotated:
        yield from _alternatives(get_args(wanted)[0])
    elif origin in (Union, UnionType):
        for each in get_args(wanted):
            yield from _alternatives(each)
    else:
        yield wanted
