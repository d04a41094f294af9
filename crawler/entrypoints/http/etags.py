"""ETags for polling clients: a body that did not change is answered with 304."""

import hashlib
from typing import Any

from fastapi import Request, Response
from pydantic import BaseModel


def tagged(request: Request, model: BaseModel) -> Response:
    return tagged_json(request, model.model_dump_json().encode())


def tagged_json(request: Request, body: bytes) -> Response:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if _knows(request.headers.get("if-none-match", ""), tag):
        return Response(status_code=304, headers=headers)
    return Response(body, media_type="application/json", headers=headers)


def _knows(given: str, tag: str) -> bool:
    """Whether If-None-Match has the tag, by RFC 9110's weak comparison."""
    known = [part.strip().removeprefix("W/") for part in given.split(",")]
    return "*" in known or tag.removeprefix("W/") in known


NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "As it was when this ETag was given"}}
