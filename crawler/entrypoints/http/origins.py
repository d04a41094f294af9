"""Which page a browser's request comes from: browsers let any site's page connect and send, and tell which it was.

Forms are refused by `_guard` in `entrypoints/dashboard/forms/fields.py`, requests to the API by `auth.py`.
"""

from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PORTS = {"http": 80, "https": 443}


def is_own_origin(headers: Headers, allowed: tuple[str, ...]) -> bool:
    """Whether Origin is missing (no browser), is this host, or is allowed by the settings."""
    told = headers.getlist("origin")
    if not told:
        return True
    if len(told) > 1:
        return False
    return told[0] in allowed or _same_host(told[0], headers.get("host", ""))


def is_from_this_machine(method: str, headers: Headers, allowed: tuple[str, ...] = ()) -> bool:
    """Whether a request is meant for this machine and is not another site's, made through a visitor's browser.

    That site's name may lead to our address (so Host must be a loopback name), its page may send us a form or load us
    as a picture (so the browser must not call the request cross-site). Following a link from there is harmless.
    """
    return _is_loopback_name(headers.get("host", "")) and is_harmless(method, headers, allowed)


def is_harmless(method: str, headers: Headers, allowed: tuple[str, ...] = ()) -> bool:
    """Whether no other site's page made the request, or only its visitor followed a link."""
    follows_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    if method in ("GET", "HEAD") and follows_link and "origin" not in headers:
        return True
    return is_own_page(headers, allowed)


def is_own_page(headers: Headers, allowed: tuple[str, ...] = ()) -> bool:
    """Whether our own page made the request, by the browser's Sec-Fetch-Site and Origin.

    Programs and old browsers send neither.
    """
    site = headers.get("sec-fetch-site", "none")
    return is_own_origin(headers, allowed) and (site in ("same-origin", "none") or headers.get("origin") in allowed)


def _is_loopback_name(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


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
