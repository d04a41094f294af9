"""The dashboard's application: its pages, and middleware for sessions, errors and security headers."""

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from crawler.bootstrap import App
from crawler.entrypoints.dashboard.forms.fields import Guarded
from crawler.entrypoints.dashboard.pages import PAGES
from crawler.entrypoints.dashboard.serving import assets, error_pages
from crawler.entrypoints.dashboard.serving.headers import PageHeaders
from crawler.entrypoints.dashboard.serving.session_gate import SessionGate
from crawler.entrypoints.http.body_limit import BodyLimit
from crawler.entrypoints.http.caller_shares import CallerShare, CallerShares
from crawler.entrypoints.http.failed_logins import FailedAttempts


def create_dashboard(tools: App, attempts: FailedAttempts, shares: CallerShares) -> ASGIApp:
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False, dependencies=[Guarded])
    app.state.tools = tools
    app.state.attempts = attempts
    app.include_router(assets.router)
    for module in PAGES:
        app.include_router(module.router)
    error_pages.install(app)
    # Middleware that is added last runs first.
    app.add_middleware(GZipMiddleware, minimum_size=1000, compresslevel=5)
    app.add_middleware(BodyLimit)
    app.add_middleware(CallerShare, shares=shares)
    app.add_middleware(SessionGate, tools=tools)
    app.add_middleware(error_pages.LastResort)
    app.add_middleware(PageHeaders)
    return app
