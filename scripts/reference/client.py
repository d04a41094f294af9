"""Reference table: every method of the Python client."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from crawler.client import Client
from scripts.reference.text import doc, table


def client_rooms() -> str:
    parts = []
    for name, room in _rooms():
        rows = [(f"`{method}{_signature(call)}`", doc(call)) for method, call in _public(room)]
        parts.append(f"### {name}\n\n{table(('method', 'meaning'), rows)}")
    return "\n".join(parts)


def _rooms() -> Iterator[tuple[str, type]]:
    yield "client", Client
    with Client("http://127.0.0.1:1") as client:
        yield from ((f"client.{name}", type(room)) for name, room in vars(client).items() if not name.startswith("_"))


def _public(room: type) -> list[tuple[str, Callable[..., Any]]]:
    return [(name, call) for name, call in vars(room).items() if inspect.isfunction(call) and not name.startswith("_")]


def _signature(call: Callable[..., Any]) -> str:
    parts = []
    for param in list(inspect.signature(call).parameters.values())[1:]:
        mark = "**" if param.kind is param.VAR_KEYWORD else "*" if param.kind is param.VAR_POSITIONAL else ""
        default = "" if param.default is param.empty else f"={param.default!r}"
        parts.append(f"{mark}{param.name}{default}")
    return f"({', '.join(parts)})"
