"""Middleware that limits the size of a request body, whatever its Content-Length says, and how much JSON is in it."""

import re
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.entrypoints.http.problems import http_problem

MOST_BYTES = 4 * 1024 * 1024
MOST_STREAMED = 1024 * 1024 * 1024
MOST_OF_STRANGERS = 16 * 1024
OPEN_TO_STRANGERS = ("/login", "/act/", "/feeds/")
"""Where a body is read before it is known who sends it."""
MOST_VALUES = 50_000
"""Values in a JSON body. Checking them holds up everybody: it is done in one piece."""
MOST_NAMES = 5_000
"""Names in the objects of a JSON body. Each that nobody knows is an error, which takes ten times as long to write as a
value to check."""
STREAMED = frozenset({"/api/v1/queue/import"})
"""Paths whose body is read in pieces and never held in memory: imports may have millions of rows."""


_NAME_ENDS = re.compile(rb'"\s*:')
_BEFORE_VALUES = (b",", b"[", b"{")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def _problem(detail: str) -> ASGIApp:
    return http_problem("too_large", detail)


class BodyLimit:
    def __init__(self, app: ASGIApp, refusal: Callable[[str], ASGIApp] = _problem) -> None:
        self._app = app
        self._refusal = refusal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = _most(scope["path"])
        told = Headers(scope=scope).get("content-length", "")
        if told.isascii() and told.isdigit() and len(told) < 20 and int(told) > most:
            await self._refusal(_detail(most))(scope, receive, send)
            return
        await self._app(scope, _counted(receive, most, is_json=_may_be_json(scope)), send)


def _most(path: str) -> int:
    if path.startswith(OPEN_TO_STRANGERS):
        return MOST_OF_STRANGERS
    return MOST_STREAMED if path in STREAMED else MOST_BYTES


def _detail(most: int) -> str:
    return f"The body is larger than {most} bytes."


def _may_be_json(scope: Scope) -> bool:
    kind = Headers(scope=scope).get("content-type", "")
    return scope["path"] not in STREAMED and not kind.startswith(_FORMS)


def _counted(receive: Receive, most: int, *, is_json: bool) -> Receive:
    read = values = names = 0
    before = b""

    async def counted() -> Message:
        nonlocal read, values, names, before
        message = await receive()
        body = message.get("body", b"")
        read += len(body)
        if read > most:
            raise HTTPException(413, _detail(most))
        values += sum(map(body.count, _BEFORE_VALUES)) if is_json else 0
        if values > MOST_VALUES:
            raise HTTPException(413, f"The body has more than {MOST_VALUES} values.")
        names += sum(1 for _ in _NAME_ENDS.finditer(before + body)) if is_json else 0
        before = body.rstrip()[-1:] or before
        if names > MOST_NAMES:
            raise HTTPException(413, f"The body has more than {MOST_NAMES} names.")
        return message

    return counted
