"""A network that misbehaves when told to: a TCP proxy in front of a server's unix socket."""

import asyncio
import contextlib
import socket
import struct
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

CHUNK = 64 * 1024
RESET = struct.pack("ii", 1, 0)


class Proxy:
    """Forwards loopback connections; runs in a thread of its own."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._latency = 0.0
        self._bytes_a_second = 0.0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=f"proxy of {target.name}", daemon=True)
        self._links: set[_Link] = set()
        self._refusing = False
        self._open = asyncio.Event()
        self.port = 0

    def start(self) -> None:
        self._thread.start()
        self._call(self._listen())

    def stop(self) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # -- faults -----------------------------------------------------------------------------

    def slow_down(self, *, latency: float = 0.0, bytes_a_second: float = 0.0) -> None:
        """Each piece takes so long, and no more than so many bytes pass."""
        self._latency, self._bytes_a_second = latency, bytes_a_second

    def freeze(self) -> None:
        """Nothing passes, nothing is refused: packets are dropped and nobody is told."""
        self._loop.call_soon_threadsafe(self._open.clear)

    def thaw(self) -> None:
        self._loop.call_soon_threadsafe(self._open.set)

    def cut(self) -> None:
        """Every connection is reset, and so is each new one until `mend`."""
        self._refusing = True
        self._call(self._reset_all())

    def reset(self) -> None:
        """Every connection is reset; new ones are welcome."""
        self._call(self._reset_all())

    def forget(self) -> None:
        """Connections of now are dead without a word (a firewall lost its table); new ones work."""
        self._call(self._forget_all())

    def mend(self) -> None:
        self._refusing = False
        self.slow_down()
        self.thaw()

    # -- inside the thread ------------------------------------------------------------------

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> None:
        self._open.set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _close(self) -> None:
        self._server.close()
        await self._reset_all()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            _reset(writer)
            return
        await self._open.wait()
        try:
            there = await asyncio.open_unix_connection(self._target)
        except OSError:
            _reset(writer)
            return
        link = _Link(self, (reader, writer), there)
        self._links.add(link)
        with contextlib.suppress(asyncio.CancelledError):  # asyncio would print a trace of it
            await link.run()
        self._links.discard(link)

    async def _reset_all(self) -> None:
        for link in self._links:
            link.reset()

    async def _forget_all(self) -> None:
        for link in self._links:
            link.dead = True

    async def passage(self, size: int) -> None:
        """Returns when so many bytes may pass."""
        await self._open.wait()
        seconds = self._latency + (size / self._bytes_a_second if self._bytes_a_second else 0.0)
        if seconds:
            await asyncio.sleep(seconds)
            await self._open.wait()


Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _Link:
    """One connection, both ways."""

    def __init__(self, proxy: Proxy, here: Ends, there: Ends) -> None:
        self._proxy = proxy
        self._here = here
        self._there = there
        self.dead = False

    async def run(self) -> None:
        ways = (self._pump(self._here[0], self._there[1]), self._pump(self._there[0], self._here[1]))
        await asyncio.gather(*ways)
        self.reset()

    def reset(self) -> None:
        _reset(self._here[1])
        _reset(self._there[1])

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._proxy.passage(len(data))
                if not self.dead:
                    writer.write(data)
                    await writer.drain()
        if self.dead:
            await asyncio.Event().wait()  # neither side hears that the other has gone
        writer.close()


def _reset(writer: asyncio.StreamWriter) -> None:
    found = writer.get_extra_info("socket")
    if found is not None and found.family == socket.AF_INET:
        with contextlib.suppress(OSError):
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()
