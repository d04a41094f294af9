"""Whose pages may open a WebSocket here: a browser lets any page try, and says only which one it was."""

from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers

_PORTS = {"http": 80, "https": 443}


def is_own_origin(headers: Headers, allowed: tuple[str, ...]) -> bool:
    """No Origin is no browser. One must be a page of this very host, or of one the settings name."""
    told = headers.getlist("origin")
    if not told:
        return True
    if len(told) > 1:
        return False
    return told[0] in allowed or _same_host(told[0], headers.get("host", ""))


def _same_host(origin: str, host: str) -> bool:
    """The scheme is the page's: before a proxy that ends TLS it is not ours."""
    try:
        page = urlsplit(origin)
        port = _PORTS.get(page.scheme)
        return bool(port and page.hostname) and _place(page, port) == _place(urlsplit(f"//{host}"), port)
    except ValueError:
        return False


def _place(parts: SplitResult, default_port: int | None) -> tuple[str | None, int | None]:
    return parts.hostname, parts.port or default_port
