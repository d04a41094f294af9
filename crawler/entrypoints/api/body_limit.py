"""No body larger than this is read, whatever its head says."""

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.entrypoints.api.problems import answer

MOST_BYTES = 4 * 1024 * 1024
_DETAIL = f"The body is larger than {MOST_BYTES} bytes."


class BodyLimit:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = Headers(scope=scope).get("content-length", "")
        if told.isascii() and told.isdigit() and len(told) < 20 and int(told) > MOST_BYTES:
            await answer(413, "ContentTooLarge", _DETAIL, "too_large")(scope, receive, send)
            return
        await self._app(scope, _counted(receive), send)


def _counted(receive: Receive) -> Receive:
    read = 0

    async def counted() -> Message:
        nonlocal read
        message = await receive()
        read += len(message.get("body", b""))
        if read > MOST_BYTES:
            raise HTTPException(413, _DETAIL)
        return message

    return counted
