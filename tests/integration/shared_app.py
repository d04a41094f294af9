"""One HTTP application for all tests of a process: its routes are built at the first request, in 0.2 s of CPU."""

from functools import cache
from typing import Any, cast

from fastapi import FastAPI

from crawler.bootstrap import App, build
from crawler.config import load_settings
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.api.live.audience import Audience
from crawler.entrypoints.http.failed_logins import FailedAttempts


class _Current:
    """Stands for the tools of the test that runs now."""

    def __init__(self, tools: App) -> None:
        self.tools = tools

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tools, name)


@cache
def _application() -> tuple[FastAPI, _Current]:
    current = _Current(build(load_settings()))
    return create_app(cast(App, current)), current


def shared_app(tools: App) -> FastAPI:
    """The application as `create_app(tools)` makes it, with nothing left of earlier tests. One at a time."""
    if tools.settings.cors_origins:
        return create_app(tools)
    app, current = _application()
    current.tools = tools
    app.state.audience = Audience(tools)
    vars(app.state.attempts).update(vars(FailedAttempts()))
    app.middleware_stack = None
    return app
