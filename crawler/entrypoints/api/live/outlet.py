"""Sends events to one WebSocket client without blocking, and counts the bytes the client has not read yet.

A client that is too slow is closed by `reader.py` (4408).
"""

import asyncio
from collections import deque
from typing import Protocol

from starlette.types import Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from crawler.adapters.operating.event_batch import Batch
from crawler.entrypoints.api.live.protocol import CLOSE_SECONDS, EXTENSION, LiveProtocol


class Outlet(Protocol):
    @property
    def backlog(self) -> int:
        """Bytes sent that the client has not read yet."""

    def push(self, batch: Batch) -> None: ...

    def hang_up(self, code: int, reason: str) -> None: ...

    async def end(self) -> None: ...


def outlet_of(socket: WebSocket) -> Outlet:
    direct = socket.scope.get("extensions", {}).get(EXTENSION)
    return DirectOutlet(direct) if isinstance(direct, LiveProtocol) else QueuedOutlet(socket.send)


class DirectOutlet:
    """Writes frames straight to uvicorn's connection.

    The frames of a batch are encoded once for all clients. Unread bytes are buffered once, by the transport.
    """

    def __init__(self, protocol: LiveProtocol) -> None:
        self._protocol = protocol

    @property
    def backlog(self) -> int:
        return self._protocol.backlog

    def push(self, batch: Batch) -> None:
        self._protocol.push(batch.frames)

    def hang_up(self, code: int, reason: str) -> None:
        self._protocol.hang_up(code, reason)

    async def end(self) -> None: ...


class QueuedOutlet:
    """Sends through ASGI, message by message: for servers that do not run our `LiveProtocol`."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._queue: deque[bytes] = deque()
        self._closing: tuple[int, str] | None = None
        self._more = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        self.backlog = 0

    def push(self, batch: Batch) -> None:
        self._queue.extend(batch.messages)
        self.backlog += len(batch.frames)
        self._more.set()

    def hang_up(self, code: int, reason: str) -> None:
        self._closing = self._closing or (code, reason)
        self._more.set()

    async def end(self) -> None:
        if self._closing is not None:
            await asyncio.wait({self._task}, timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _run(self) -> None:
        try:
            while self._closing is None:
                self._more.clear()
                await self._send_queued()
                await self._more.wait()
            code, reason = self._closing
            await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except (WebSocketDisconnect, OSError, RuntimeError):
            return  # the connection is gone; the task that receives from it learns that itself

    async def _send_queued(self) -> None:
        while self._queue and self._closing is None:
            message = self._queue.popleft()
            await self._send({"type": "websocket.send", "text": message.decode()})
            self.backlog -= len(message)
        if not self._queue:
            self.backlog = 0
