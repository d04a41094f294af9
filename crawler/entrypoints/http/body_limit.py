"""Middleware that limits the size of a request body, whatever its Content-Length says."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.entrypoints.http.problems import http_problem

MOST_BYTES = 4 * 1024 * 1024
MOST_STREAMED = 1024 * 1024 * 1024
STREAMED = frozenset({"/api/v1/queue/import"})
"""Paths whose body is read in pieces and never held in memory: imports may have millions of rows."""


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = MOST_STREAMED if scope["path"] in STREAMED else MOST_BYTES
        told = Headers(scope=scope).get("content-length", "")
        if told.isascii() and told.isdigit() and len(told) < 20 and int(told) > most:
            await http_problem("too_large", _detail(most))(scope, receive, send)
            return
        await self._app(scope, _counted(receive, most), send)


def _detail(most: int) -> str:
    return f"The body is larger than {most} bytes."


def _counted(receive: Receive, most: int) -> Receive:
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > most:
            raise HTTPException(413, _detail(most))
        return message

    return counted
