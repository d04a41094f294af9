"""uvicorn's WebSocket, with a way to write the same bytes to many readers and an end for those who never read.

`uvicorn --ws crawler.entrypoints.api.live.protocol:LiveProtocol`; without it everything works, only more slowly.
"""

import logging
from typing import Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State
from websockets.server import ServerProtocol

EXTENSION = "crawler.direct"
MOST_BYTES = 4096
"""Of a message to us: nobody has anything to say here."""
CLOSE_SECONDS = 5.0
"""To read what is still under way, and to answer; a peer that does not is cut off."""

_log = logging.getLogger("crawler.websockets")
# At lower levels each address is logged with its query, which is where people put keys.
_log.setLevel(logging.WARNING)


class LiveProtocol(WebSocketsSansIOProtocol):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = _log
        # Not compressed: that would be done for each reader again.
        self.conn = ServerProtocol(max_size=MOST_BYTES, logger=_log)

    async def run_asgi(self) -> None:
        cast(dict[str, Any], self.scope["extensions"])[EXTENSION] = self
        await super().run_asgi()

    @property
    def is_open(self) -> bool:
        return self.conn.state is State.OPEN and not self.close_sent and not self.transport.is_closing()

    @property
    def backlog(self) -> int:
        """Bytes that wait for the peer to read."""
        return self.transport.get_write_buffer_size()

    def push(self, frames: bytes) -> None:
        """Whole frames, ready for the wire."""
        if self.is_open:
            self.transport.write(frames)

    def hang_up(self, code: int, reason: str) -> None:
        """Unlike ASGI's close it does not wait until the peer has read the rest: it may never do so."""
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
        """What is closed still waits for its buffer to be read."""
        self.loop.call_later(CLOSE_SECONDS, self.transport.abort)
