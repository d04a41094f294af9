"""Errors as problem+json: a sentence for people, a stable code for programs."""

from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse

from crawler.errors import CrawlerError, Unauthorized
from crawler.telemetry import redact


async def problem(_: Request, exc: Exception) -> JSONResponse:
    assert isinstance(exc, CrawlerError)
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": type(exc).__name__,
        "status": exc.http_status,
        "detail": redact(exc.message),
        "code": exc.code,
    }
    headers = {"WWW-Authenticate": "Bearer"} if isinstance(exc, Unauthorized) else None
    return JSONResponse(body, exc.http_status, headers, media_type="application/problem+json")
