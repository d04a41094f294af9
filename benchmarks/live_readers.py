"""People who watch a crawl: a process of its own that opens so many WebSockets and reads them to the end.

`python -m benchmarks.live_readers URL COUNT` with the key in the environment; says `ready` when all are connected, and
at the end one JSON object.
"""

import asyncio
import base64
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

KEY_NAME = "BENCH_KEY"
OPENING = 20
"""At once."""
_END = b'"type":"completed"'


@dataclass
class Reading:
    readers: int
    events: int = 0
    complete: int = 0
    """Readers who got every event, in order, to the last."""
    last_at: float = 0.0
    """When the last of them had it (unix time)."""


class Reader(asyncio.Protocol):
    """Takes what comes and looks at it when all is over: elsewhere each reader would be a machine of its own."""

    def __init__(self, path: str, host: str, key: str) -> None:
        self._request = (
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\nSec-WebSocket-Version: 13\r\n"
            f"Authorization: Bearer {key}\r\n\r\n"
        ).encode()
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.ended: asyncio.Future[float] = loop.create_future()
        self.received = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        known = max(0, len(self.received) - len(_END))
        self.received += data
        if not self.opened.done() and b"\r\n\r\n" in self.received:
            if not self.received.startswith(b"HTTP/1.1 101"):
                raise SystemExit(bytes(self.received[:200]))
            self.opened.set_result(None)
        if not self.ended.done() and self.received.find(_END, known) >= 0:
            self.ended.set_result(time.time())
            self._transport.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_result(0.0)

    def events(self) -> Iterator[dict[str, Any]]:
        """Frames of a server: no mask, no compression, none in pieces."""
        at = self.received.index(b"\r\n\r\n") + 4
        while at + 2 <= len(self.received):
            kind, size = self.received[at] & 0x0F, self.received[at + 1] & 0x7F
            extra = {126: 2, 127: 8}.get(size, 0)
            start = at + 2 + extra
            size = int.from_bytes(self.received[at + 2 : start]) if extra else size
            if start + size > len(self.received):
                return
            if kind == 1:
                yield json.loads(self.received[start : start + size])
            at = start + size


async def main(url: str, count: int, key: str) -> Reading:
    parts, doors = urlsplit(url), asyncio.Semaphore(OPENING)
    host, port = parts.hostname, parts.port
    assert host
    assert port
    path = f"{parts.path}{'?' if parts.query else ''}{parts.query}"

    async def open_one() -> Reader:
        async with doors:
            loop = asyncio.get_running_loop()
            _, reader = await loop.create_connection(lambda: Reader(path, parts.netloc, key), host, port)
            await reader.opened
            return reader

    readers = await asyncio.gather(*(open_one() for _ in range(count)))
    print("ready", flush=True)
    ends = await asyncio.gather(*(reader.ended for reader in readers))
    reading = Reading(count, last_at=max(ends))
    for reader in readers:
        seen = [event["seq"] for event in reader.events()]
        reading.events += len(seen)
        whole = bool(seen) and seen == list(range(seen[0], seen[0] + len(seen)))
        reading.complete += whole and reader.ended.result() > 0
    return reading


if __name__ == "__main__":
    done = asyncio.run(main(sys.argv[1], int(sys.argv[2]), os.environ[KEY_NAME]))
    print(json.dumps(asdict(done)), flush=True)
