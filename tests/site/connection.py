"""HTTP/1.1 by hand: a connection reads requests, sends answers in their manner, and logs both moments."""

import asyncio
import socket
import struct
from itertools import count
from typing import cast

from tests.site.answers import Answer, Manner, Request
from tests.site.log import AccessLog, LoggedRequest, now
from tests.site.website import Website

MAX_HEAD = 256 * 1024
_numbers = count(1)


class Traffic:
    """What all connections share."""

    def __init__(self, website: Website, log: AccessLog) -> None:
        self.website = website
        self.log = log
        self.under_way: dict[int, Request] = {}
        self.open: set[Connection] = set()
        self.served = 0


class Connection(asyncio.Protocol):
    def __init__(self, traffic: Traffic) -> None:
        self._traffic = traffic
        self._number = next(_numbers)
        self._buffer = bytearray()
        self._arrived = 0.0
        self._sending: asyncio.Task[None] | None = None
        self._drained = asyncio.Event()
        self._drained.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.set_write_buffer_limits(high=0)
        self._address: str = transport.get_extra_info("sockname")[0]
        self._traffic.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._traffic.open.discard(self)
        self._drained.set()
        if self._sending:
            self._sending.cancel()
        request = self._traffic.under_way.get(self._number)
        if request:
            self._ended(request, 0)

    def pause_writing(self) -> None:
        self._drained.clear()

    def resume_writing(self) -> None:
        self._drained.set()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        self._serve()

    def abort(self) -> None:
        self._transport.abort()

    def _serve(self) -> None:
        """Answer what stands in the buffer, one after the other."""
        while self._sending is None and not self._transport.is_closing():
            request = self._next_request()
            if request is None:
                return
            self._arrived = now()
            answer = self._traffic.website.answer(request)
            self._traffic.under_way[self._number] = request
            if answer.manner is None:
                self._transport.write(answer.encoded(with_body=request.method != "HEAD"))
                if self._drained.is_set():
                    self._ended(request, answer.status)
                    continue
            self._sending = asyncio.create_task(self._send(request, answer))

    def _next_request(self) -> Request | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > MAX_HEAD:
                self.abort()
            return None
        head = self._buffer[:end].decode("latin-1")
        line, *fields = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
        length = int(headers.get("content-length", 0))
        if len(self._buffer) < end + 4 + length:
            return None
        del self._buffer[: end + 4 + length]
        method, _, target = line.partition(" ")
        return Request(method, target.rpartition(" ")[0], headers, self._address)

    async def _send(self, request: Request, answer: Answer) -> None:
        """Send in the answer's manner (or only wait until a large one is gone), then go on."""
        closes = False
        if answer.manner is not None:
            closes = await self._perform(answer, answer.manner, with_body=request.method != "HEAD")
        await self._drained.wait()
        self._ended(request, 0 if closes else answer.status)
        self._sending = None
        if closes:
            self._transport.close()
        else:
            self._serve()

    async def _perform(self, answer: Answer, manner: Manner, *, with_body: bool) -> bool:
        """Returns whether the connection ends with this answer."""
        await asyncio.sleep(manner.delay)
        if manner.hang:
            await asyncio.Event().wait()
        if manner.reset:
            self._reset()
            return True
        if manner.raw is not None:
            self._transport.write(manner.raw)
            return True
        await self._perform_http(answer, manner, with_body=with_body)
        return manner.cut is not None

    async def _perform_http(self, answer: Answer, manner: Manner, *, with_body: bool) -> None:
        self._transport.write(answer.encoded(with_body=False))
        body = answer.body[: manner.cut] if with_body else b""
        if manner.endless:
            await self._repeat(body)
        elif manner.drip:
            for start in range(0, len(body), manner.piece):
                self._transport.write(body[start : start + manner.piece])
                await asyncio.sleep(manner.drip)
        else:
            self._transport.write(body)

    async def _repeat(self, body: bytes) -> None:
        chunk = b"%x\r\n%b\r\n" % (len(body), body)
        while True:
            self._transport.write(chunk)
            await self._drained.wait()
            await asyncio.sleep(0)

    def _reset(self) -> None:
        own = self._transport.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def _ended(self, request: Request, status: int) -> None:
        self._traffic.under_way.pop(self._number, None)
        self._traffic.served += 1
        if request.headers.get("connection", "").lower() == "close":
            self._transport.close()
        agent = request.headers.get("user-agent", "")
        self._traffic.log.write(
            LoggedRequest(
                self._arrived, now(), self._address, request.method, request.target, status, self._number, agent
            )
        )
