"""Errors in the shape that Firecrawl's clients read: `success`, `error`, `code`, with the statuses they know."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from redis.exceptions import RedisError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from crawler import telemetry
from crawler.domain.reasons import Reason
from crawler.errors import CrawlerError, Invalid, PageNotFetched, Unavailable
from crawler.redaction import redact

log = telemetry.logger(__name__)

BAD_REQUEST = "BAD_REQUEST"
TIMED_OUT = "SCRAPE_TIMEOUT"
TOO_LARGE = "TOO_LARGE"
_CODES = {404: "NOT_FOUND", 413: TOO_LARGE}
_BY_REASON = {
    Reason.DNS: (500, "SCRAPE_DNS_RESOLUTION_ERROR"),
    Reason.TLS: (500, "SCRAPE_SSL_ERROR"),
    Reason.TIMEOUT: (408, TIMED_OUT),
    Reason.ROBOTS: (403, "CRAWL_DENIAL"),
    Reason.EGRESS: (403, "SCRAPE_UNSUPPORTED_ADDRESS"),
    Reason.CONTENT_TYPE: (415, "SCRAPE_UNSUPPORTED_FILE_ERROR"),
}
_FAILED = (500, "SCRAPE_ALL_ENGINES_FAILED")


class NotOffered(CrawlerError):
    """This needs a language model or a cloud service, and this server has none."""

    code = "not_offered"
    http_status = 501


def refusal(status: int, error: str, code: str, **more: Any) -> JSONResponse:
    headers = {"Retry-After": str(more.pop("retry_seconds"))} if more.get("retry_seconds") else None
    more.pop("retry_seconds", None)
    return JSONResponse({"success": False, "error": redact(error), "code": code, **more}, status, headers)


def refusal_of(exc: CrawlerError) -> JSONResponse:
    if isinstance(exc, PageNotFetched):
        status, code = _BY_REASON.get(Reason(str(exc.details["reason"])), _FAILED) if exc.details["reason"] else _FAILED
        return refusal(status, exc.message, code)
    if isinstance(exc, Invalid):
        return refusal(400, exc.message, BAD_REQUEST)
    wait = exc.details.get("retry_seconds", 5 if isinstance(exc, Unavailable) else None)
    return refusal(exc.http_status, exc.message, exc.code.upper(), retry_seconds=wait)


def too_large(words: str) -> JSONResponse:
    return refusal(413, words, TOO_LARGE)


async def _ours(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, CrawlerError)
    return refusal_of(exc)


async def _invalid(_: Request, exc: Exception) -> JSONResponse:
    """What was sent is not quoted: it may hold a password."""
    assert isinstance(exc, RequestValidationError)
    details = [
        {"path": [str(part) for part in error["loc"]], "message": error["msg"].removeprefix("Value error, ")}
        for error in exc.errors()[:20]
    ]
    first = details[0] if details else {"path": ["body"], "message": "not valid"}
    return refusal(400, f"{'.'.join(first['path'])}: {first['message']}", BAD_REQUEST, details=details)


async def _http(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, HTTPException)
    words = "This path is not offered here." if exc.status_code == 404 else str(exc.detail)
    return refusal(exc.status_code, words, _CODES.get(exc.status_code, "HTTP_ERROR"))


async def _away(_: Request, exc: Exception) -> JSONResponse:
    log.warning("server_missing", error=type(exc).__name__)
    return refusal(503, "A server behind this one does not answer.", "UNAVAILABLE", retry_seconds=5)


async def _unforeseen(request: Request, exc: Exception) -> JSONResponse:
    log.error("request_failed", method=request.method, error=type(exc).__name__, exc_info=exc)
    return refusal(500, "Something went wrong that should not have; the service's log says what.", "UNKNOWN_ERROR")


def install_refusals(door: FastAPI) -> None:
    door.add_exception_handler(CrawlerError, _ours)
    door.add_exception_handler(RequestValidationError, _invalid)
    door.add_exception_handler(HTTPException, _http)
    door.add_exception_handler(RedisError, _away)
    door.add_exception_handler(PoolTimeout, _away)
    door.add_exception_handler(Exception, _unforeseen)
