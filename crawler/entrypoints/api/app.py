"""The HTTP service."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from crawler import __version__
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.entrypoints.api.auth import require_key
from crawler.entrypoints.api.health import router as health
from crawler.errors import CrawlerError
from crawler.telemetry import configure_logs


def create_app(tools: App | None = None) -> FastAPI:
    if tools is None:
        settings, _ = with_servers(load_settings())
        configure_logs(settings.log_level, as_json=settings.log_json)
        tools = build(settings)
    api = FastAPI(title="Crawler", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    api.state.tools = tools
    api.middleware("http")(require_key)
    api.include_router(health, prefix="/api/v1")
    api.add_exception_handler(CrawlerError, problem)
    return api


async def problem(_: Request, exc: Exception) -> JSONResponse:
    """Errors as problem+json: a sentence for people, a stable code for programs."""
    assert isinstance(exc, CrawlerError)
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": type(exc).__name__,
        "status": exc.http_status,
        "detail": exc.message,
        "code": exc.code,
    }
    return JSONResponse(body, exc.http_status, media_type="application/problem+json")
