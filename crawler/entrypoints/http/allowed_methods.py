"""The methods that a path takes, for the header Allow of a refusal."""

from fastapi import Request
from starlette.routing import Match

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


def methods_of_path(request: Request) -> list[str]:
    """All of them: each method is a route of its own, and the framework names those of the first."""
    found = [
        method
        for method in _METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in request.app.routes)
    ]
    return [*found, "HEAD"] if "GET" in found else found
