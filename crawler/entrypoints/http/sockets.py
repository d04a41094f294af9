"""Until when a WebSocket is served: its client leaves, or loses its access."""

import asyncio

from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket

from crawler import telemetry
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.http.cookie_session import token_of
from crawler.errors import CrawlerError

log = telemetry.logger(__name__)

CHECK_SECONDS = 3.0
"""Seconds until a connection is closed whose key was revoked, session ended or project was deleted."""


def session_of(socket: WebSocket) -> str | None:
    """The session of a connection from a browser: signing out closes the connection."""
    return token_of(socket.headers) if "authorization" not in socket.headers else None


async def until_gone(socket: WebSocket) -> None:
    """Wait until the client disconnects. Anything it sends is ignored."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


async def until_shut_out(tools: App, socket: WebSocket, caller: ApiKey) -> None:
    """Wait until the key is revoked or the session is over."""
    session = session_of(socket)
    is_allowed = True
    while is_allowed:
        await asyncio.sleep(CHECK_SECONDS)
        try:
            is_allowed = await run_in_threadpool(_is_allowed, tools, caller, session)
        except (CrawlerError, PoolTimeout) as exc:
            log.warning("watcher_unchecked", error=str(exc))


def _is_allowed(tools: App, caller: ApiKey, session: str | None) -> bool:
    if tools.settings.no_auth:
        return True
    if session is not None and session not in tools.operating.sessions.open_ones({session}):
        return False
    return tools.store.find_key_by_id(caller.id) is not None
