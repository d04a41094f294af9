"""Errors as `application/problem+json` (RFC 9457): a sentence for people, a stable code for programs.

Each error's code and HTTP status: `errors.py`.
"""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from redis.exceptions import RedisError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from crawler import telemetry
from crawler.errors import CrawlerError, RedisUnavailable, Unauthorized, Unavailable
from crawler.redaction import redact

log = telemetry.logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
_TOLD = ("crawl_id", "reason")
"""Details of an error that are sent to the caller. Others may quote messages of our servers."""
_HTTP_CODES = {404: "no_such_path", 405: "method_not_allowed", 413: "too_large", 400: "invalid_body"}
_HTTP_WORDS = {
    404: "There is nothing at this path; /api/v1/openapi.json lists what there is.",
    405: "This path does not take that method.",
    400: "The body cannot be read; send JSON in UTF-8.",
}


class Problem(BaseModel):
    """RFC 9457, with a stable `code` for programs."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "type": "about:blank",
                "title": "NotFound",
                "status": 404,
                "detail": "There is no project 01890a5d-ac96-774b-bcce-b302099a8057.",
                "code": "not_found",
            }
        }
    )

    type: str = "about:blank"
    title: str
    status: int
    detail: str = Field(description="A sentence for people")
    code: str = Field(description="Stable, for programs")
    crawl_id: str | None = Field(None, description="The crawl that is in the way, where one is")
    reason: str | None = Field(None, description="Why a URL is refused, in the words of the ledger")
    errors: list[dict[str, Any]] | None = Field(None, description="Of code invalid_request: where, and what is wrong")


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error responses for a route's `responses`, by HTTP status."""
    return {
        status: {
            "description": HTTPStatus(status).phrase,
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status in statuses
    }


EVERYWHERE = problems(401, 403, 405, 413, 422, 429, 500, 503)
"""Error responses of every route: authentication, validation, rate limit, size, internal errors, missing servers."""


def answer(
    status: int, title: str, detail: str, code: str, headers: dict[str, str] | None = None, **more: Any
) -> JSONResponse:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code, **more}
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)


def problem_of(exc: CrawlerError) -> JSONResponse:
    more = {name: str(exc.details[name]) for name in _TOLD if name in exc.details}
    return answer(exc.http_status, type(exc).__name__, redact(exc.message), exc.code, _headers(exc), **more)


def _headers(exc: CrawlerError) -> dict[str, str] | None:
    if isinstance(exc, Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    wait = exc.details.get("retry_seconds", RETRY_SECONDS if isinstance(exc, Unavailable) else None)
    return {"Retry-After": str(wait)} if wait is not None else None


async def _ours(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, CrawlerError)
    return problem_of(exc)


async def _invalid(_: Request, exc: Exception) -> JSONResponse:
    """Validation errors as 422. The message does not quote what was sent: it may hold a password."""
    assert isinstance(exc, RequestValidationError | WebSocketRequestValidationError)
    errors = [
        {"where": ".".join(map(str, error["loc"])), "problem": error["msg"].removeprefix("Value error, ")}
        for error in exc.errors()[:20]
    ]
    first = errors[0] if errors else {"where": "request", "problem": "not valid"}
    detail = redact(f"{first['where']}: {first['problem'].rstrip('.')}.")
    return answer(422, "InvalidRequest", detail, "invalid_request", errors=errors)


async def _http(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)
    # A body that is no JSON gets the same status as one that fails validation.
    status = 422 if exc.status_code == 400 else exc.status_code
    detail = _HTTP_WORDS.get(exc.status_code) or str(exc.detail)
    title = HTTPStatus(status).phrase.replace(" ", "")
    code = _HTTP_CODES.get(exc.status_code, "http_error")
    return answer(status, title, detail, code, dict(exc.headers) if exc.headers else None)


async def _redis(_: Request, exc: Exception) -> JSONResponse:
    log.warning("redis_failed", error=str(exc))
    return problem_of(RedisUnavailable())


async def _busy(_: Request, __: Exception) -> JSONResponse:
    return problem_of(Unavailable("All connections to Postgres are in use; try again in a moment."))


async def _unforeseen(request: Request, exc: Exception) -> JSONResponse:
    route = getattr(request.scope.get("route"), "path", "unknown")
    log.error("request_failed", method=request.method, route=route, error=type(exc).__name__, exc_info=exc)
    detail = "Something went wrong that should not have; the service's log says what."
    return answer(500, "InternalError", detail, "internal_error")


def install_problems(api: FastAPI) -> None:
    api.add_exception_handler(CrawlerError, _ours)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(WebSocketRequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(RedisError, _redis)
    api.add_exception_handler(PoolTimeout, _busy)
    api.add_exception_handler(Exception, _unforeseen)
