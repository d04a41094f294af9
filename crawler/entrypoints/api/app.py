"""The FastAPI application of the HTTP API: routers, middleware, error handlers and the OpenAPI description."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from anyio.to_thread import current_default_thread_limiter
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from crawler import __version__
from crawler.bootstrap import App, build, with_servers
from crawler.config import load_settings
from crawler.entrypoints.api.live.audience import Audience
from crawler.entrypoints.api.routes import (
    categories,
    change_feeds,
    crawls,
    credentials,
    docs_page,
    documents,
    examine,
    health,
    history,
    hosts,
    keys,
    live,
    logins,
    mutes,
    noise,
    notebooks,
    notifications,
    page_content,
    pages,
    phases,
    projects,
    queue,
    recipients,
    reports,
    schedule,
    scrape,
    settings,
    watch,
)
from crawler.entrypoints.dashboard.app import create_dashboard
from crawler.entrypoints.dashboard.serving.dispatch import DashboardDispatch
from crawler.entrypoints.firecrawl.app import DoorDispatch, create_door
from crawler.entrypoints.http import threaded_bodies
from crawler.entrypoints.http.auth import KeyGate
from crawler.entrypoints.http.body_limit import BodyLimit
from crawler.entrypoints.http.caller_shares import THREADS, CallerShare, CallerShares
from crawler.entrypoints.http.deadline import Deadline
from crawler.entrypoints.http.failed_logins import FailedAttempts
from crawler.entrypoints.http.head_requests import HeadRequests
from crawler.entrypoints.http.page_waits import PageWaits
from crawler.entrypoints.http.problems import EVERYWHERE, Problem, install_problems
from crawler.entrypoints.http.request_log import RequestLog
from crawler.entrypoints.http.response_headers import AnswerHeaders
from crawler.entrypoints.mcp.over_http import McpDispatch, McpDoor
from crawler.telemetry import configure_logs

PREFIX = "/api/v1"
POOL_SIZE = 15
"""Connections to Postgres that stay open; as many more are opened under load. Together these are more than all exports
and the requests of one caller, so that he cannot hold them all."""
_ROUTERS = (
    projects,
    credentials,
    logins,
    phases,
    crawls,
    examine,
    reports,
    notebooks,
    pages,
    page_content,
    scrape,
    documents,
    history,
    change_feeds,
    schedule,
    noise,
    watch,
    recipients,
    mutes,
    notifications,
    queue,
    categories,
    hosts,
    settings,
    keys,
    health,
)


_WORDS = (
    "Crawl websites, read their pages and what changed. Errors are problem+json with a stable code. "
    f"What happens is told live at the WebSocket {PREFIX}/projects/{{id}}/ws; docs/reference/websocket.md describes it."
)


@asynccontextmanager
async def _lifespan(api: FastAPI) -> AsyncIterator[None]:
    current_default_thread_limiter().total_tokens = THREADS
    yield
    await api.state.audience.close()
    await api.state.waits.close()
    await api.state.mcp.close()


def create_app(tools: App | None = None) -> FastAPI:
    tools = tools or _own_tools()
    threaded_bodies.install()
    api = FastAPI(
        title="Crawler",
        version=__version__,
        description=_WORDS,
        lifespan=_lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
    )
    api.state.tools = tools
    api.state.audience = Audience(tools)
    api.state.waits = waits = PageWaits(tools)
    api.state.mcp = McpDoor(api)
    api.state.attempts = attempts = FailedAttempts()  # API and dashboard share this limit
    for module in _ROUTERS:
        api.include_router(module.router, prefix=PREFIX, responses=EVERYWHERE)
    api.include_router(live.router, prefix=PREFIX)
    api.include_router(docs_page.router, prefix=PREFIX)
    install_problems(api)
    _describe(api)
    # Middleware that is added last runs first.
    api.state.shares = shares = CallerShares()
    api.add_middleware(BodyLimit)
    api.add_middleware(CallerShare, shares=shares)
    api.add_middleware(KeyGate, tools=tools, attempts=attempts)
    api.add_middleware(DashboardDispatch, dashboard=create_dashboard(tools, attempts, shares))
    api.add_middleware(DoorDispatch, door=create_door(tools, waits, attempts, shares), tools=tools)
    api.add_middleware(McpDispatch, door=api.state.mcp, tools=tools, attempts=attempts)
    api.add_middleware(Deadline)
    if tools.settings.cors_origins:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=tools.settings.cors_origins,
            allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "If-None-Match"],
            expose_headers=["ETag", "Retry-After", "X-Request-Id"],
        )
    api.add_middleware(HeadRequests)
    api.add_middleware(AnswerHeaders)
    api.add_middleware(RequestLog)
    return api


def _own_tools() -> App:
    settings_of_process, _ = with_servers(load_settings())
    configure_logs(settings_of_process.log_level, as_json=settings_of_process.log_json)
    pool = max(POOL_SIZE, settings_of_process.database_pool_size)
    return build(settings_of_process.model_copy(update={"database_pool_size": pool}))


def _describe(api: FastAPI) -> None:
    """Extend FastAPI's OpenAPI description by the shape of our error responses and by the API key scheme."""
    make = api.openapi

    def described() -> dict[str, Any]:
        spec = make()
        parts = spec.setdefault("components", {})
        parts.setdefault("schemas", {})["Problem"] = Problem.model_json_schema()
        parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        spec["security"] = [{"key": []}]
        spec["paths"][f"{PREFIX}/health/live"]["get"]["security"] = []
        for name in ("HTTPValidationError", "ValidationError"):
            parts["schemas"].pop(name, None)
        return spec

    api.openapi = described  # type: ignore[method-assign]
