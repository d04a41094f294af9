"""Reference table: every path of the HTTP API."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from fastapi.routing import APIRoute

from crawler.entrypoints.api import app as api
from crawler.entrypoints.api.routes import docs_page, live
from crawler.entrypoints.firecrawl import app as door
from scripts.reference.text import doc, table

_MODULES = (*api._ROUTERS, live, docs_page)


def http_paths() -> str:
    parts = []
    for module in _MODULES:
        rows = [row for route in module.router.routes for row in _route_rows(route)]
        if rows:
            name = module.__name__.rpartition(".")[2].replace("_", " ")
            parts.append(f"### {name.capitalize()}\n\n{table(('method', 'path', 'query', 'meaning'), rows)}")
    return "\n".join(parts)


@cache
def paths() -> set[str]:
    """Every path of the API without the prefix, with parameters as `{}`; those of the Firecrawl door with theirs."""
    ours = [route.path for module in _MODULES for route in module.router.routes]
    theirs = [f"{door.PREFIX}{route.path}" for module in door.ROUTERS for route in module.router.routes]
    return {re.sub(r"\{[^}]*\}", "{}", path) for path in (*ours, *theirs)}


def _route_rows(route: Any) -> Iterator[tuple[str, ...]]:
    if not isinstance(route, APIRoute):
        yield ("WS", f"`{route.path}`", "", _meaning(route.endpoint))
        return
    query = ", ".join(f"`{name}`" for name in _query_of(route.dependant))
    for method in sorted(route.methods or ()):
        yield (method, f"`{route.path_format}`", query, route.summary or _meaning(route.endpoint))


_UNSAID = {"openapi": "The description of every path, as OpenAPI", "docs": "The same, to read in a browser"}


def _query_of(dependant: Any) -> list[str]:
    inner = [name for below in dependant.dependencies for name in _query_of(below)]
    return list(dict.fromkeys([*(param.alias for param in dependant.query_params), *inner]))


def _meaning(endpoint: Callable[..., Any]) -> str:
    return doc(endpoint) or _UNSAID.get(getattr(endpoint, "__name__", ""), "")
