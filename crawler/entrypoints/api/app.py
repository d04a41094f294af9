"""The HTTP service."""

from fastapi import FastAPI

from crawler import __version__
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.entrypoints.api.auth import require_key
from crawler.entrypoints.api.health import router as health
from crawler.entrypoints.api.problems import problem
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
