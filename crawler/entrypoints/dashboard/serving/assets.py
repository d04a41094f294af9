"""Static files (CSS, JavaScript, icons), held in memory.

Each URL has the content's hash, so browsers may cache it forever.
"""

import gzip
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response

from crawler.errors import NotFound

router = APIRouter()

HERE = Path(__file__).parents[1] / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_KEEP = "public, max-age=31536000, immutable"


class Asset(NamedTuple):
    content: bytes
    packed: bytes
    media_type: str
    mark: str


@lru_cache(maxsize=1)
def all_assets() -> dict[str, Asset]:
    files = (path for path in sorted(HERE.rglob("*")) if path.suffix in _TYPES)
    return {path.relative_to(HERE).as_posix(): _asset(path) for path in files}


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    mark = hashlib.sha256(content).hexdigest()[:12]
    return Asset(content, gzip.compress(content, 9, mtime=0), _TYPES[path.suffix], mark)


def asset_url(name: str) -> str:
    return f"/static/{name}?v={all_assets()[name].mark}"


@router.get("/static/{name:path}")
def asset(name: str, request: Request) -> Response:
    found = all_assets().get(name)
    if found is None:
        raise NotFound("There is no such file.")
    headers = {"Cache-Control": _KEEP, "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, media_type=found.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.content, media_type=found.media_type, headers=headers)


@router.get("/favicon.ico")
def favicon(request: Request) -> Response:
    return asset("mark.svg", request)


@router.get("/robots.txt")
def robots() -> Response:
    return Response("User-agent: *\nDisallow: /\n", media_type="text/plain")
