"""The application at `/v2`: its routes, its key gate and its error shapes; and the dispatch that leads there."""

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from crawler.bootstrap import App
from crawler.entrypoints.firecrawl import jobs, monitors, pages, rest
from crawler.entrypoints.firecrawl.refusals import install_refusals, refusal_of, too_large
from crawler.entrypoints.http.auth import KeyGate
from crawler.entrypoints.http.body_limit import BodyLimit
from crawler.entrypoints.http.caller_shares import CallerShare, CallerShares
from crawler.entrypoints.http.failed_logins import FailedAttempts
from crawler.entrypoints.http.page_waits import PageWaits

PREFIX = "/v2"
OLDER = ("/v0", "/v1")
"""Older clients are told so, where they ask."""
_PATHS = tuple(f"{prefix}/" for prefix in (PREFIX, *OLDER))
ROUTERS = (pages, jobs, monitors, rest)


def create_door(tools: App, waits: PageWaits, attempts: FailedAttempts, shares: CallerShares) -> FastAPI:
    door = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    door.state.tools = tools
    door.state.waits = waits
    for module in ROUTERS:
        door.include_router(module.router, prefix=PREFIX)
    for older in OLDER:
        door.add_api_route(f"{older}/{{rest:path}}", rest.refuse_older, methods=rest.METHODS)
    install_refusals(door)
    door.add_middleware(BodyLimit, refusal=too_large)
    door.add_middleware(CallerShare, shares=shares, refusal=refusal_of)
    door.add_middleware(KeyGate, tools=tools, attempts=attempts, refusal=refusal_of)
    return door


class DoorDispatch:
    """Leads `/v2` and what is below it to the door, unless it is closed by CRAWLER_FIRECRAWL_DOOR."""

    def __init__(self, app: ASGIApp, door: ASGIApp, tools: App) -> None:
        self._app = app
        self._door = door
        self._tools = tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        here = scope["type"] in ("http", "websocket") and f"{scope['path']}/".startswith(_PATHS)
        await (self._door if here and self._tools.settings.firecrawl_door else self._app)(scope, receive, send)
