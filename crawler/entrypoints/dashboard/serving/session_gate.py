"""Session middleware: every page except the sign-in and static files needs a session.

`scope["state"]` gets `key` (the caller's API key) and `session` (the cookie's value). It gets `mishap`, an error, if
the session could not be read.
"""

import secrets
from urllib.parse import urlencode, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.bootstrap import App
from crawler.domain import judging
from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.http.auth import address_of, everybody, refuse_strangers
from crawler.entrypoints.http.cookie_session import COOKIE, key_of, token_of
from crawler.entrypoints.http.problems import problem_of
from crawler.entrypoints.http.request_log import SIGNED
from crawler.errors import CrawlerError

LOGIN = "/login"
OPEN = (LOGIN, "/favicon.ico", "/robots.txt")
ASSETS = "/static/"


class SessionGate:
    def __init__(self, app: ASGIApp, tools: App) -> None:
        self._app = app
        self._tools = tools

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        headers = Headers(scope=scope)
        state["session"] = token_of(headers)
        if self._tools.settings.no_auth:
            await self._without_keys(scope, receive, send, headers)
            return
        try:
            state["key"] = await self._caller(scope)
        except CrawlerError as exc:  # `_guard` raises it later, so that it is shown as an error page
            state |= {"key": None, "mishap": exc}
        if state["key"] is None and "mishap" not in state and not _is_open(scope["path"]):
            await _to_login(scope, headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> ApiKey | None:
        token = scope["state"]["session"]
        asks = token is not None and not scope["path"].startswith(ASSETS)
        key = await run_in_threadpool(key_of, self._tools, token) if asks else None
        if key is not None:
            judging.caller.set(key.id)
        elif scope["path"].startswith((LOGIN, *SIGNED)):
            judging.caller.set(address_of(scope))  # a stranger has a share, too
        return key

    async def _without_keys(self, scope: Scope, receive: Receive, send: Send, headers: Headers) -> None:
        """Serve everybody on this machine when keys are switched off.

        A random cookie still ties CSRF tokens to our own pages.
        """
        try:
            refuse_strangers(scope, headers, self._tools.settings.cors_origins)
        except CrawlerError as exc:
            await problem_of(exc)(scope, receive, send)
            return
        state = scope["state"]
        state["key"] = everybody(self._tools)
        fresh = None if state["session"] else secrets.token_urlsafe(32)
        state["session"] = state["session"] or fresh

        async def with_cookie(message: Message) -> None:
            if fresh and message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Set-Cookie", cookie(fresh, secure=False))
            await send(message)

        await self._app(scope, receive, with_cookie)


def cookie(value: str, *, secure: bool, seconds: int | None = None) -> str:
    """The session cookie.

    SameSite is Lax, so that a link in a mail works without a new sign-in; no GET changes anything.
    """
    made = Response()
    made.set_cookie(COOKIE, value, max_age=seconds, path="/", httponly=True, samesite="lax", secure=secure)
    return made.headers["set-cookie"]


def _is_open(path: str) -> bool:
    return path in OPEN or path.startswith((ASSETS, *SIGNED))


def _to_login(scope: Scope, headers: Headers) -> Response:
    """Redirect to the sign-in, and from there back: to the requested page, or to the form that was sent."""
    asked = headers.get("hx-current-url", "") if "hx-request" in headers else _address(scope)
    if scope["method"] != "GET":
        asked = _form_of(headers)
    where = f"{LOGIN}?{urlencode({'next': asked})}" if asked and asked != "/" else LOGIN
    if "hx-request" in headers:
        return Response(status_code=401, headers={"HX-Redirect": where})
    return RedirectResponse(where, 303)


def _form_of(headers: Headers) -> str:
    """The page of ours whose form was sent; empty if it was another's."""
    try:
        parts = urlsplit(headers.get("hx-current-url") or headers.get("referer", ""))
    except ValueError:
        return ""
    if parts.netloc != headers.get("host", ""):
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _address(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return str(scope["path"]) + (f"?{query}" if query else "")
