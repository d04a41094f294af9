"""Middleware that answers HEAD wherever GET is: with the same status and headers, and without a body."""

from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class _Answered(Exception):
    """The headers are sent. Ends a GET whose body, perhaps a whole export, nobody will read."""


class HeadRequests:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] != "http.response.start":
                raise _Answered
            await send(message)
            await send({"type": "http.response.body", "body": b""})

        with suppress(_Answered):
            await self._app({**scope, "method": "GET"}, receive, without_body)
