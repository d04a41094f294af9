"""Pace of WebSockets and event streams: how fast what comes on them is passed on to a page.

The browser tells its driver of each message that comes, and all tabs share both. A site can send a million messages of
one byte in a second: they would stand in a queue before whatever other tabs have to say. So where many are heard, only
little is passed on that was not heard of yet. A large message is not held up: the browser tells of it only at its end.

Of events in streams the driver tells us nothing: a little is passed on whenever the page has answered.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

FIRST_BYTES = 512
"""May be under way unheard at first."""
UNDER_WAY = 100
"""Messages that may be under way, of the size of the last ones."""
MOST_BYTES = 64 * 1024
TURN_SECONDS = 0.01
LATE_SECONDS = 0.03
"""When the page answers later, there is much that stands before its answer."""
ANSWER_SECONDS = 1.0
FEW = 20
"""Messages heard in one turn. When no more were heard, what is under way is large: twice as much is passed on."""
LEAST_BYTES = 4 * 1024
"""Passed on of a stream between two answers of the page: some hundred events of one byte. More where it answers in
time."""
LAST = 16
"""So many of the last messages say how large they are."""
FRAME_BYTES = 2
"""What a short message takes on the wire beside its own bytes."""


class Pace:
    """That of all channels of one visit."""

    def __init__(self) -> None:
        self._unheard = self._messages = 0
        self._size = 0.0
        self._most, self._stream = FIRST_BYTES, LEAST_BYTES
        self._has_room = asyncio.Event()
        self._waiting = asyncio.Lock()
        self.ask: Callable[[], Awaitable[object]] | None = None
        """Asks the page something. What it heard before is told before it answers: on a busy machine that takes long,
        and that nothing was heard yet says nothing."""
        self.has_streams: Callable[[], bool] = lambda: False
        """Whether an event stream may be in a tunnel."""

    def heard(self, size: int) -> None:
        """The browser told of a message of so many bytes."""
        self._messages += 1
        self._size += (size + FRAME_BYTES - self._size) / LAST
        self._unheard = max(0, self._unheard - size - FRAME_BYTES)
        if self._unheard <= self._most // 2:
            self._has_room.set()

    async def of_tunnels(self, data: bytes) -> AsyncIterator[bytes]:
        """What has come in a tunnel, where nobody sees what it is."""
        if not self.has_streams():
            yield data
            return
        async for piece in self.of_streams(data):
            yield piece

    async def of_streams(self, data: bytes) -> AsyncIterator[bytes]:
        """What has come, where an event stream may be among it."""
        while data:
            async with self._waiting:
                await self._turn()
            piece, data = data[: self._stream], data[self._stream :]
            yield piece

    async def of_sockets(self, data: bytes) -> AsyncIterator[bytes]:
        """What has come, each piece when it may be passed on."""
        while data:
            async with self._waiting:
                if self._unheard >= self._most:
                    await self._wait()
                room = self._most - self._unheard
                piece, data = data[:room], data[room:]
                self._unheard += len(piece)
            yield piece

    async def _wait(self) -> None:
        self._has_room.clear()
        before = self._messages
        if await self._is_heard() or self._messages - before > FEW:
            self._most = min(max(FIRST_BYTES, round(UNDER_WAY * self._size)), MOST_BYTES)
            self._unheard = min(self._unheard, self._most // 2)
        else:
            self._most, self._unheard = min(2 * self._most, MOST_BYTES), 0

    async def _turn(self) -> None:
        """Wait for an answer of the page; it may be busy, or gone."""
        began_at = time.monotonic()
        if self.ask is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.ask(), ANSWER_SECONDS)
        is_late = time.monotonic() - began_at > LATE_SECONDS
        self._stream = max(LEAST_BYTES, self._stream // 2) if is_late else min(2 * self._stream, MOST_BYTES)

    async def _is_heard(self) -> bool:
        """Whether what is under way was heard of, in one turn of the clock and one of the page."""
        turn = asyncio.gather(asyncio.sleep(TURN_SECONDS), self.ask() if self.ask else asyncio.sleep(0))
        heard = asyncio.create_task(self._has_room.wait())
        try:
            await asyncio.wait((turn, heard), timeout=ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            return heard.done()
        finally:
            heard.cancel()
            turn.cancel()
            await asyncio.gather(turn, heard, return_exceptions=True)
