"""Routes a request to the API (paths that begin with /api/) or to the dashboard (all others)."""

from starlette.types import ASGIApp, Receive, Scope, Send

API = "/api/"


class DashboardDispatch:
    def __init__(self, app: ASGIApp, dashboard: ASGIApp) -> None:
        self._api = app
        self._dashboard = dashboard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        people = scope["type"] == "http" and not scope["path"].startswith(API)
        await (self._dashboard if people else self._api)(scope, receive, send)
