"""Deny by default: every path but the liveness probe needs an API key."""

from collections.abc import Awaitable, Callable

from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

from crawler.bootstrap import App
from crawler.entrypoints.api.problems import problem
from crawler.errors import CrawlerError, Unauthorized

OPEN_PATHS = frozenset({"/api/v1/health/live"})


async def require_key(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    if request.url.path not in OPEN_PATHS:
        try:
            await run_in_threadpool(_check, request)
        except CrawlerError as exc:
            return await problem(request, exc)
    return await call_next(request)


def _check(request: Request) -> None:
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    tools: App = request.app.state.tools
    if scheme.lower() != "bearer" or tools.store.find_key(secret.strip()) is None:
        raise Unauthorized("Send an API key as 'Authorization: Bearer …'; 'crawler key create' makes one.")
