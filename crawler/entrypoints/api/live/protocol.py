"""A WebSocket protocol for uvicorn: sends the same bytes to many clients, and disconnects those that never read.

`python -m crawler.entrypoints.api` uses it. Without it live events still work, but more slowly.
"""

import logging
from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State
from websockets.server import ServerProtocol

EXTENSION = "crawler.direct"
MOST_BYTES = 4096
"""The largest message a client may send. Clients have nothing to send here."""
MOST_SAID = 8192
SAID_PER_SECOND = 100
"""Bytes a client may send before it is cut off, and how many more with each second. Reading them holds up everybody: a
frame is six bytes, and some work of the event loop."""
CLOSE_SECONDS = 5.0
"""Seconds for a client to read what was sent and to confirm the close; then the connection is cut."""

_log = logging.getLogger("crawler.websockets")
# At lower log levels websockets logs each URL with its query, and people put keys there.
_log.setLevel(logging.WARNING)


class LiveProtocol(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = _log
        # No compression: each message would be compressed again for each client.
        self.conn = ServerProtocol(max_size=MOST_BYTES, logger=_log)
        self._said = 0.0
        self._heard_at: float | None = None
        """None: the handshake, which was read as a request, did not come yet."""

    def data_received(self, data: bytes) -> None:
        now = self.loop.time()
        if self._heard_at is not None:
            self._said = max(0.0, self._said - SAID_PER_SECOND * (now - self._heard_at)) + len(data)
        self._heard_at = now
        if self._said <= MOST_SAID:
            super().data_received(data)
        elif self.is_open:
            self.hang_up(1008, "You send too much; nothing is read here.")
        elif not self.close_sent:
            self.transport.abort()

    async def run_asgi(self) -> None:
        cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self
        await super().run_asgi()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            self.handshake_complete = True  # a refusal: without this uvicorn would log it as an error of ours

    @property
    def is_open(self) -> bool:
        return self.conn.state is State.OPEN and not self.close_sent and not self.transport.is_closing()

    @property
    def backlog(self) -> int:
        """Bytes in the write buffer that the client has not read yet."""
        return self.transport.get_write_buffer_size()

    def push(self, frames: bytes) -> None:
        """Write complete, already encoded WebSocket frames."""
        if self.is_open:
            self.transport.write(frames)

    def hang_up(self, code: int, reason: str) -> None:
        """Close without waiting until the client has read the buffer, as ASGI's close would: it may never read it."""
        if not self.is_open:
            return
        self.stop_keepalive()
        self.conn.send_close(code, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._cut_off_later()

    def shutdown(self) -> None:
        super().shutdown()
        self._cut_off_later()

    def _cut_off_later(self) -> None:
        """Abort the connection after `CLOSE_SECONDS`: a closed transport would wait for its buffer to be read."""
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
