"""What a body may hold, before anybody looks into it: it is looked into in one piece, while others wait."""

import asyncio
import json
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope, Send

from crawler.entrypoints.http.body_limit import MOST_NAMES, BodyLimit


def read(body: bytes) -> bytes:
    """The body as the service gets it, in pieces."""
    found = bytearray()
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        while True:
            message = await receive()
            found.extend(message["body"])
            if not message["more_body"]:
                return

    async def receive() -> Message:
        return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

    async def send(_message: Message) -> None:
        raise AssertionError("it was answered")

    scope: dict[str, Any] = {
        "type": "http", "path": "/api/v1/projects", "headers": [(b"content-type", b"application/json")]
    }  # fmt: skip
    asyncio.run(BodyLimit(app)(scope, receive, send))
    return bytes(found)


def test_many_names_are_refused_unread_however_they_are_spaced() -> None:
    for separators in ((",", ":"), (", ", "\n  : ")):
        body = json.dumps({f"{number}": 1 for number in range(MOST_NAMES + 1)}, separators=separators).encode()
        with pytest.raises(HTTPException, match="names"):
            read(body)


@pytest.mark.slow
def test_a_long_list_of_addresses_is_read() -> None:
    body = json.dumps({"urls": [f"https://example.org:8443/12:{number}" for number in range(20_000)]}).encode()
    assert read(body) == body
