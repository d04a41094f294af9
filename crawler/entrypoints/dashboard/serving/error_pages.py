"""Errors as HTML pages, with a sentence and a link to go on. A request by htmx gets a toast instead."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from redis.exceptions import RedisError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler import telemetry
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.allowed_methods import methods_of_path
from crawler.errors import CrawlerError, RedisUnavailable, Unavailable
from crawler.redaction import redact

log = telemetry.logger(__name__)

_HEADINGS = {403: "Not allowed", 404: "Not found", 405: "Not this way", 409: "Not now", 422: "That does not work",
             429: "Too many tries", 500: "Our mistake", 503: "A server is missing"}  # fmt: skip
_HTTP_WORDS = {404: "There is no such page.", 405: "This address does not take that."}


def shown(request: Request, status: int, detail: str) -> Response:
    heading = _HEADINGS.get(status, "That did not work")
    if is_part(request):
        answer: Response = page(request, "parts/toast.html", status, heading=heading, detail=detail)
        answer.headers.update({"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"})
        return answer
    return page(request, "error.html", status, heading=heading, detail=detail)


async def _ours(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, CrawlerError)
    return shown(request, exc.http_status, redact(exc.message))


async def _invalid(request: Request, _: Exception) -> Response:
    """A URL that is not valid is a 404. Form errors do not come here: each page validates its own form."""
    return shown(request, 404, "There is no such page.")


async def _http(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    answer = shown(request, exc.status_code, _HTTP_WORDS.get(exc.status_code) or str(exc.detail))
    if exc.status_code == 405:
        answer.headers["Allow"] = ", ".join(methods_of_path(request))
    return answer


async def _redis(request: Request, exc: Exception) -> Response:
    log.warning("redis_failed", error=str(exc))
    return shown(request, 503, RedisUnavailable().message)


async def _busy(request: Request, _: Exception) -> Response:
    return shown(request, 503, Unavailable("All connections to Postgres are in use; try again in a moment.").message)


def _unforeseen(request: Request, exc: Exception) -> Response:
    route = getattr(request.scope.get("route"), "path", "unknown")
    log.error("page_failed", method=request.method, route=route, error=type(exc).__name__, exc_info=exc)
    return shown(request, 500, "Something went wrong that should not have; the service's log says what.")


class LastResort:
    """Middleware that shows unexpected errors as a page.

    The framework's own handler would answer without our security headers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception as exc:
            if begun or scope["type"] != "http":  # the response has begun: close the connection
                raise
            await _unforeseen(Request(scope, receive), exc)(scope, receive, send)


def install(app: FastAPI) -> None:
    app.add_exception_handler(CrawlerError, _ours)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RedisError, _redis)
    app.add_exception_handler(PoolTimeout, _busy)
