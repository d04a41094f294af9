"""Origin check for WebSockets: browsers let any site's page connect, and only Origin tells which.

Requests with the dashboard's cookie: `is_own_page` in `cookie_session.py`.

Forms are refused by `_guard` in `entrypoints/dashboard/forms/fields.py`, requests to the API by `auth.py`.
"""

from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers

_PORTS = {"http": 80, "https": 443}


def is_own_origin(headers: Headers, allowed: tuple[str, ...]) -> bool:
    """Whether Origin is missing (no browser), is this host, or is allowed by the settings."""
    told = headers.getlist("origin")
    if not told:
        return True
    if len(told) > 1:
        return False
    return told[0] in allowed or _same_host(told[0], headers.get("host", ""))


def _same_host(origin: str, host: str) -> bool:
    """Compare host and port with the page's scheme: behind a proxy that terminates TLS ours differs."""
    try:
        page = urlsplit(origin)
        port = _PORTS.get(page.scheme)
        return bool(port and page.hostname) and _place(page, port) == _place(urlsplit(f"//{host}"), port)
    except ValueError:
        return False


def _place(parts: SplitResult, default_port: int | None) -> tuple[str | None, int | None]:
    return parts.hostname, parts.port or default_port
