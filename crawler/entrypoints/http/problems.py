"""Errors as `application/problem+json` (RFC 9457): a sentence for people, a stable code for programs.

Each error's code and HTTP status: `errors.py`.
"""

from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, WebSocketRequestValidationError
from fastapi.responses import JSONResponse
from psycopg2.errors import ForeignKeyViolation
from pydantic import BaseModel, ConfigDict, Field
from redis.exceptions import RedisError
from sqlalchemy.exc import IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from crawler import telemetry
from crawler.entrypoints.http.allowed_methods import methods_of_path
from crawler.errors import CrawlerError, NotFound, RedisUnavailable, Unauthorized, Unavailable
from crawler.redaction import redact

log = telemetry.logger(__name__)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = 5
_TOLD = ("crawl_id", "reason")
"""Details of an error that are sent to the caller. Others may quote messages of our servers."""
HTTP_CODES = {
    "not_http": (400, "This is no HTTP request that can be read."),
    "body_in_crumbs": (400, "The body of this request comes in too many pieces of a few bytes; send larger ones."),
    "no_such_path": (404, "There is nothing at this path; /api/v1/openapi.json lists what there is."),
    "method_not_allowed": (405, "This path does not take that method; the header Allow names those it takes."),
    "too_large": (413, "The body is too large."),
    "query_too_long": (414, "The path and query of this request are too long."),
    "invalid_body": (422, "The body cannot be read; send JSON in UTF-8."),
    "invalid_request": (422, "Something in the request is not valid; `errors` says what."),
    "headers_too_large": (431, "The headers of this request are too long."),
    "internal_error": (500, "Something went wrong that should not have; the service's log says what."),
}
"""Codes of the HTTP layer itself, each with its status and its sentence. Those of `errors.py` come on top.

Any other status of the framework's has the code `http_error`."""
_CODE_OF_STATUS = {400: "invalid_body", 404: "no_such_path", 405: "method_not_allowed", 413: "too_large"}


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


def http_problem(code: str, detail: str | None = None, headers: dict[str, str] | None = None) -> JSONResponse:
    """An error of the HTTP layer, by its code in `HTTP_CODES`."""
    status, words = HTTP_CODES[code]
    return answer(status, _title(status), detail or words, code, headers)


def _title(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "").replace("-", "")


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


async def _http(request: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)
    headers = dict(exc.headers) if exc.headers else None
    code = _CODE_OF_STATUS.get(exc.status_code)
    if code is None:
        return answer(exc.status_code, _title(exc.status_code), str(exc.detail), "http_error", headers)
    if exc.status_code == 405:
        headers = {"Allow": ", ".join(methods_of_path(request))}
    return http_problem(code, str(exc.detail) if exc.status_code == 413 else None, headers)


async def _redis(_: Request, exc: Exception) -> JSONResponse:
    log.warning("redis_failed", error=str(exc))
    return problem_of(RedisUnavailable())


async def _busy(_: Request, __: Exception) -> JSONResponse:
    return problem_of(Unavailable("All connections to Postgres are in use; try again in a moment."))


async def _refused_by_database(request: Request, exc: Exception) -> JSONResponse:
    """A row that refers to what is not there: somebody deleted it since the request began."""
    assert isinstance(exc, IntegrityError)
    if isinstance(exc.orig, ForeignKeyViolation):
        return problem_of(NotFound("It was deleted meanwhile."))
    return await _unforeseen(request, exc)


async def _unforeseen(request: Request, exc: Exception) -> JSONResponse:
    route = getattr(request.scope.get("route"), "path", "unknown")
    log.error("request_failed", method=request.method, route=route, error=type(exc).__name__, exc_info=exc)
    return http_problem("internal_error")


def install_problems(api: FastAPI) -> None:
    api.add_exception_handler(CrawlerError, _ours)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(WebSocketRequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)
    api.add_exception_handler(RedisError, _redis)
    api.add_exception_handler(PoolTimeout, _busy)
    api.add_exception_handler(IntegrityError, _refused_by_database)
    api.add_exception_handler(Exception, _unforeseen)
