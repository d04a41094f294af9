"""Request log: one line for each request, and its request id on every line logged while it is handled."""

import re
import time
from collections.abc import Callable
from uuid import uuid4

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from crawler import telemetry

log = telemetry.logger(__name__)

HEADER = "X-Request-Id"
_USABLE = re.compile(r"[\w.-]{1,64}", re.ASCII)
_ID = r"([0-9a-fA-F-]{32,36})(?:/|$)"
_CRAWL = re.compile(rf"/(?:crawls?|crawl-history)/{_ID}")
_PROJECT = re.compile(rf"/(?:projects|notebooks)/{_ID}")
_POLLED = ("/health", "/health/live", "/metrics")
"""Paths that monitoring polls every few seconds; they are not logged."""
SIGNED = ("/act/", "/feeds/")
"""Pages that a secret in their address opens, without a session: links in mails, and feeds."""
_FILES = "/static/"
"""Static files of the dashboard; they are not logged either."""


class RequestLog:
    """Logs paths without their queries, and without what opens them: secrets are there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request_id = _request_id(Headers(scope=scope))
        began, status = time.perf_counter(), 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = int(message["status"])  # some frameworks hand over an HTTPStatus, which is written out
                MutableHeaders(scope=message)[HEADER] = request_id
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        with bound_contextvars(request_id=request_id, **_ids(scope["path"])):
            try:
                await self._app(scope, receive, noted)
            finally:
                took = round(1000 * (time.perf_counter() - began), 1)
                _level(scope["path"], status)("request", method=scope.get("method", "WS"),
                                              path=_shown(scope["path"]), status=status, ms=took)  # fmt: skip


def _request_id(headers: Headers) -> str:
    """The caller's request id if it is safe to log, else a new one."""
    given = headers.get(HEADER, "")
    return given if _USABLE.fullmatch(given) else uuid4().hex


def _ids(path: str) -> dict[str, str]:
    found = {"crawl_id": _CRAWL.search(path), "project_id": _PROJECT.search(path)}
    return {name: match[1] for name, match in found.items() if match}


def _shown(path: str) -> str:
    return next((f"{begins}…" for begins in SIGNED if path.startswith(begins)), path)


def _level(path: str, status: int) -> Callable[..., None]:
    chosen: Callable[..., None] = log.debug if path.endswith(_POLLED) or path.startswith(_FILES) else log.info
    return log.warning if status >= 500 else chosen
