"""Middleware that limits the time of a request: a server that hangs blocks a thread of ours, but never the caller.

Which paths may take longer: `STREAMED` in `body_limit.py`.
"""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crawler import telemetry
from crawler.entrypoints.http.body_limit import STREAMED
from crawler.entrypoints.http.problems import problem_of
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

SECONDS = 30.0
"""Seconds until the response must begin. Streamed requests and responses may take longer."""


PATIENT = frozenset({"/api/v1/scrape", "/api/v1/map", "/v2/scrape", "/v2/map", "/mcp"})
"""Paths whose caller says how long to wait, without a thread that waits."""
PATIENT_SECONDS = 150.0


class Deadline:
    def __init__(self, app: ASGIApp, seconds: float = SECONDS) -> None:
        self._app = app
        self._seconds = seconds
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer, asked = _Answer(send), _Asked(receive, is_long=scope.get("path") in STREAMED)
        seconds = max(self._seconds, PATIENT_SECONDS) if scope.get("path") in PATIENT else self._seconds
        # A task of its own: a thread that waits for a server cannot be cancelled, only left to itself.
        task = asyncio.create_task(self._run(scope, asked, answer))
        begun = asyncio.create_task(answer.begun.wait())
        try:
            while (left := asked.at + seconds - asyncio.get_running_loop().time()) > 0:
                done, _ = await asyncio.wait({task, begun}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    break
            if not task.done() and not answer.begun.is_set():
                self._leave_behind(task, answer)
                log.warning("answer_too_late", method=scope["method"], seconds=seconds)
                await problem_of(Unavailable("A server behind this one does not answer in time."))(scope, receive, send)
                return
            await task
        finally:
            begun.cancel()
            if not task.done() and task not in self._late:
                task.cancel()

    async def _run(self, scope: Scope, receive: Receive, answer: "_Answer") -> None:
        await self._app(scope, receive, answer)

    def _leave_behind(self, task: asyncio.Task[None], answer: "_Answer") -> None:
        """Let a late request run on until its server responds or disconnects. Its response is dropped."""
        answer.too_late = True
        self._late.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._late.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.warning("late_answer_failed", error=type(task.exception()).__name__)


class _Asked:
    """When the request arrived; for a long upload, when its last piece arrived."""

    def __init__(self, receive: Receive, *, is_long: bool) -> None:
        self._receive = receive
        self._is_long = is_long
        self.at = asyncio.get_running_loop().time()

    async def __call__(self) -> Message:
        message = await self._receive()
        if self._is_long and message["type"] == "http.request":
            self.at = asyncio.get_running_loop().time()
        return message


class _Answer:
    """Passes the response on, unless it comes after the deadline."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = asyncio.Event()
        self.too_late = False

    async def __call__(self, message: Message) -> None:
        if self.too_late:
            return
        self.begun.set()
        await self._send(message)
