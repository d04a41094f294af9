"""Authentication by API key, for HTTP and WebSocket: every path except the liveness probe needs one.

Reading needs scope `read`, every other method `write`. Routes that affect the whole system add `AdminOnly`.

Scopes: `domain/api_keys.py`. Rate limit for wrong keys: `failed_logins.py`. Which projects a key may see: `access.py`.
The dashboard's pages: `entrypoints/dashboard/serving/session_gate.py`.
"""

from collections.abc import Callable, Set
from typing import Annotated
from uuid import UUID

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from crawler import telemetry
from crawler.bootstrap import App
from crawler.domain import judging
from crawler.domain.api_keys import ApiKey
from crawler.domain.api_keys import Scope as KeyScope
from crawler.entrypoints.http.cookie_session import CSRF_HEADER, is_csrf, key_of, token_of
from crawler.entrypoints.http.failed_logins import FailedAttempts
from crawler.entrypoints.http.origins import LOOPBACK, is_from_this_machine, is_own_origin, is_own_page
from crawler.entrypoints.http.problems import problem_of
from crawler.errors import CrawlerError, Forbidden, Unauthorized

log = telemetry.logger(__name__)

OPEN_PATHS = frozenset({"/api/v1/health/live"})
LONGEST_SECRET = 200
READING = frozenset({"GET", "HEAD", "OPTIONS"})


class TooManyFailures(CrawlerError):
    """Too many wrong keys came from this address."""

    code = "too_many_failures"
    http_status = 429


class KeyGate:
    """Authentication middleware around all routes, so that no route can forget it.

    Puts the key in `scope["state"]["key"]`.
    """

    def __init__(
        self,
        app: ASGIApp,
        tools: App,
        attempts: FailedAttempts | None = None,
        refusal: Callable[[CrawlerError], ASGIApp] = problem_of,
        reading: Set[str] = READING,
    ) -> None:
        self._app = app
        self._tools = tools
        self._attempts = attempts or FailedAttempts()
        self._refusal = refusal
        self._reading = reading

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            key = await self._caller(scope)
        except CrawlerError as exc:
            await self._refuse(exc, scope, receive, send)
            return
        scope.setdefault("state", {})["key"] = key
        judging.caller.set(key.id)
        await self._app(scope, receive, send)

    async def _caller(self, scope: Scope) -> ApiKey:
        headers = Headers(scope=scope)
        if scope["type"] == "websocket" and not is_own_origin(headers, self._tools.settings.cors_origins):
            raise Forbidden("Pages of this origin may not watch; CRAWLER_CORS_ORIGINS names those that may.")
        if self._tools.settings.no_auth:
            refuse_strangers(scope, headers, self._tools.settings.cors_origins)
            return everybody(self._tools)
        session = token_of(headers) if "authorization" not in headers else None
        key = await self._by_session(scope, headers, session) if session else await self._by_secret(scope, headers)
        if scope["type"] == "http" and scope["method"] not in self._reading and not key.scope.allows(KeyScope.WRITE):
            raise Forbidden("This API key may only read; changes need one of scope write.")
        return key

    async def _by_session(self, scope: Scope, headers: Headers, session: str) -> ApiKey:
        """Authenticate a dashboard page by its session cookie.

        Changes also need our origin and a CSRF token: browsers send the cookie for any site's page.
        """
        changes = scope["type"] == "websocket" or scope["method"] not in READING
        if changes and not is_own_page(headers):
            raise Forbidden("A session serves only pages of this service; send an API key.")
        if scope["type"] == "http" and changes and not is_csrf(session, headers.get(CSRF_HEADER, "")):
            raise Forbidden(f"With a session a change needs the page's own token as {CSRF_HEADER}.")
        key = await run_in_threadpool(key_of, self._tools, session)
        if key is None:
            raise Unauthorized("This session is over; sign in again.")
        return key

    async def _by_secret(self, scope: Scope, headers: Headers) -> ApiKey:
        return await run_in_threadpool(look_up, self._tools, self._attempts, _secret(headers), address_of(scope))

    async def _refuse(self, exc: CrawlerError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": exc.code})
            return
        await self._refusal(exc)(scope, receive, send)


def look_up(tools: App, attempts: FailedAttempts, secret: str | None, address: str) -> ApiKey:
    """Find the API key for a secret, for the API and the dashboard's sign-in.

    Wrong keys count towards the address's limit, missing ones do not. A valid key always passes: others may share the
    address, and nobody guesses a key of 256 bits.
    """
    key = tools.store.find_key(secret) if secret else None
    if key is not None:
        return key
    if secret:
        wait = attempts.seconds_to_wait(address)
        if wait:
            raise TooManyFailures(f"Too many wrong keys came from here; try again in {wait} s.", retry_seconds=wait)
        attempts.failed(address)
        log.warning("key_refused", address=address)
    raise Unauthorized("Send an API key as 'Authorization: Bearer …'; 'crawler key create' makes one.")


def address_of(scope: Scope) -> str:
    return str(scope["client"][0]) if scope.get("client") else "unknown"


def _secret(headers: Headers) -> str | None:
    """The secret from the Authorization header. Never from the query: URLs are logged and shared."""
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    secret = secret.strip()
    usable = scheme.lower() == "bearer" and secret.isascii() and 0 < len(secret) <= LONGEST_SECRET
    return secret if usable else None


def refuse_strangers(scope: Scope, headers: Headers, allowed: tuple[str, ...]) -> None:
    """Refuse all but this machine's own requests when keys are switched off."""
    server = (scope.get("server") or ("", 0))[0]
    is_local = server in LOOPBACK or server.startswith("/")
    if not is_local or not is_from_this_machine(scope.get("method", "GET"), headers, allowed):
        raise Forbidden("Without keys only this machine is served, at its loopback address.")


def everybody(tools: App) -> ApiKey:
    return ApiKey(id=UUID(int=0), name="no-auth", key_hash="", hint="", scope=KeyScope.ADMIN, created_at=tools.clock())


def caller_of(connection: HTTPConnection) -> ApiKey:
    key: ApiKey = connection.state.key
    return key


Caller = Annotated[ApiKey, Depends(caller_of)]


def _admin(caller: Caller) -> ApiKey:
    if not caller.scope.allows(KeyScope.ADMIN) or caller.project_ids is not None:
        raise Forbidden("This needs an API key of scope admin that is not limited to projects.")
    return caller


AdminOnly = Depends(_admin)


def _unlimited(caller: Caller) -> ApiKey:
    if caller.project_ids is not None:
        raise Forbidden("This is of all projects, and this API key is limited to some.")
    return caller


WholeSystem = Depends(_unlimited)
