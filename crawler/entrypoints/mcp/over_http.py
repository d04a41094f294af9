"""`/mcp` of the service: streamable HTTP without sessions, behind the same keys. Its tools call the API right here.

A key that may only read can use what only reads: each call is judged by the API itself.
"""

import asyncio
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler.adapters.operating.event_tail import end
from crawler.bootstrap import App
from crawler.entrypoints.http.auth import READING, KeyGate
from crawler.entrypoints.http.body_limit import BodyLimit
from crawler.entrypoints.http.caller_shares import CallerShare, CallerShares
from crawler.entrypoints.http.failed_logins import FailedAttempts
from crawler.entrypoints.http.problems import http_problem

PATH = "/mcp"
MOST_AT_ONCE = 20
"""Requests of one key: they are read in the event loop, and some wait for pages."""
PREFIX = "/api/v1"
_PASSED_ON = ("authorization", "host", "origin")


class McpDispatch:
    """Leads `/mcp` to the door, unless it is closed by CRAWLER_MCP_DOOR."""

    def __init__(self, app: ASGIApp, door: "McpDoor", tools: App, attempts: FailedAttempts) -> None:
        self._app = app
        self._tools = tools
        shared = CallerShare(BodyLimit(door), CallerShares(MOST_AT_ONCE), patient=frozenset())
        self._door = KeyGate(shared, tools, attempts, reading=READING | {"POST"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        here = scope["type"] == "http" and scope["path"] == PATH and self._tools.settings.mcp_door
        await (self._door if here else self._app)(scope, receive, send)


class _Running(NamedTuple):
    loop: asyncio.AbstractEventLoop
    app: asyncio.Task[ASGIApp]


class McpDoor:
    """Starts with the first request of an event loop: few services are asked by agents, and importing it takes long."""

    def __init__(self, api: ASGIApp) -> None:
        self._api = api
        self._running: _Running | None = None
        self._task: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST":  # a stream of news without a session would stay open, and silent, for ever
            await http_problem("method_not_allowed", headers={"Allow": "POST"})(scope, receive, send)
            return
        await (await asyncio.shield(self._started()))(scope, receive, send)

    async def close(self) -> None:
        if self._task is not None and self._running and self._running.loop is asyncio.get_running_loop():
            await end(self._task)
            self._running = self._task = None

    def _started(self) -> asyncio.Task[ASGIApp]:
        """One start for all who ask meanwhile."""
        loop, running = asyncio.get_running_loop(), self._running
        if running is None or running.loop is not loop or (running.app.done() and running.app.exception()):
            running = self._running = _Running(loop, loop.create_task(self._start()))
        return running.app

    async def _start(self) -> ASGIApp:
        await asyncio.to_thread(import_module, "crawler.entrypoints.mcp.server")  # in this one, all others would wait
        from mcp.server.transport_security import TransportSecuritySettings  # noqa: PLC0415 - as above

        from crawler.entrypoints.mcp.server import make_server  # noqa: PLC0415

        server = make_server(self._call)
        # Whose pages and machines may ask is decided by the key gate.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        app = server.streamable_http_app(
            streamable_http_path=PATH, json_response=True, stateless_http=True, transport_security=security
        )
        ready = asyncio.Event()

        async def run() -> None:
            async with server.session_manager.run():
                ready.set()
                await asyncio.Event().wait()

        self._task = asyncio.create_task(run())
        await ready.wait()
        return app

    async def _call(self, method: str, path: str, given: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        from crawler.entrypoints.mcp.server import MOST_BYTES, is_text, refusal  # noqa: PLC0415 - as above

        status, kind, body = await _ask(self._api, method, path, given, headers)
        if status < 400 and is_text(path):
            return body[:MOST_BYTES].decode("utf-8", "replace")
        told = json.loads(body) if "json" in kind and body else body.decode("utf-8", "replace")
        if status >= 400:
            problem = told if isinstance(told, dict) else {}
            raise refusal(problem.get("code", ""), problem.get("detail", f"It failed ({status})."))
        return told


async def _ask(
    app: ASGIApp, method: str, path: str, given: Mapping[str, Any], headers: Mapping[str, str]
) -> tuple[int, str, bytes]:
    """One request to an application in this process: status, media type, body."""
    reads = method == "GET"
    query = urlencode({name: value for name, value in given.items() if value is not None}) if reads else ""
    body = b"" if reads else json.dumps(given).encode()
    passed = [(name.encode(), headers[name].encode()) for name in _PASSED_ON if name in headers]
    scope: Scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": PREFIX + path,
        "raw_path": (PREFIX + path).encode(),
        "query_string": query.encode(),
        "headers": [*passed, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 0),
        "state": {},
    }
    sent: list[Message] = []
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()
        raise AssertionError("unreachable")

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    kind = next((value.decode() for name, value in sent[0]["headers"] if name.lower() == b"content-type"), "")
    return sent[0]["status"], kind, b"".join(message.get("body", b"") for message in sent[1:])
