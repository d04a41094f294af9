"""Deny by default: every path but the liveness probe needs an API key."""

from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from crawler.bootstrap import App

OPEN_PATHS = frozenset({"/api/v1/health/live"})


async def require_key(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    if request.url.path not in OPEN_PATHS and not await run_in_threadpool(_is_known, request):
        return JSONResponse(
            {
                "type": "about:blank",
                "title": "Unauthorized",
                "status": 401,
                "detail": "Send an API key as 'Authorization: Bearer …'; 'crawler key create' makes one.",
                "code": "unauthorized",
            },
            401,
            {"WWW-Authenticate": "Bearer"},
            media_type="application/problem+json",
        )
    return await call_next(request)


def _is_known(request: Request) -> bool:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    tools: App = request.app.state.tools
    return scheme.lower() == "bearer" and tools.store.find_key(secret.strip()) is not None
