"""Streaming responses for exports: a few rows in memory, and the query is closed as soon as the client is gone.

What is in an export: `domain/exports/files.py`.
"""

import asyncio
import threading
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Hashable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Message, Send

from crawler import telemetry
from crawler.domain import judging
from crawler.errors import Unavailable

CHUNK_BYTES = 64 * 1024
MOST_STREAMS = 8
"""Parallel streams: each holds a connection to Postgres until its client has read all."""

MOST_OF_ONE = 4
"""Of these, of one caller: the others are left to others."""
MOST_OF_NEW = 4
"""On top of them, for callers who read none yet: two who read slowly must not keep out everybody."""
STALL_SECONDS = 60.0
"""A client that takes nothing for so long gets no more."""

_lock = threading.Lock()
_held: Counter[Hashable] = Counter()
log = telemetry.logger(__name__)


def stream(
    rows: Generator[Any], pieces: Iterable[bytes], media_type: str, file_name: str | None = None
) -> StreamingResponse:
    """Stream `pieces`, which are made from `rows`.

    The first piece is made at once, so that a failing query is an error response.
    """
    held = ExitStack()
    held.enter_context(closing(rows))
    held.enter_context(_place())
    chunks = _chunks(pieces)
    try:
        first = next(chunks, b"")
    except BaseException:
        held.close()
        raise
    headers = {"Content-Disposition": f'attachment; filename="{file_name}"'} if file_name else None
    return _Stream(_sent(first, chunks, held), media_type, headers)


@contextmanager
def _place() -> Iterator[None]:
    who = judging.caller.get()
    with _lock:
        most = MOST_STREAMS if who is None or _held[who] else MOST_STREAMS + MOST_OF_NEW
        if _held.total() >= most or (who is not None and _held[who] >= MOST_OF_ONE):
            raise Unavailable("Too many exports are being read at once; try again in a moment.", retry_seconds=30)
        _held[who] += 1
    try:
        yield
    finally:
        with _lock:
            _held[who] -= 1
            if not _held[who]:
                del _held[who]


class _Stream(StreamingResponse):
    """A response whose client has to go on reading."""

    def __init__(self, pieces: AsyncGenerator[bytes], media_type: str, headers: dict[str, str] | None) -> None:
        super().__init__(pieces, media_type=media_type, headers=headers)
        self._pieces = pieces

    async def stream_response(self, send: Send) -> None:
        async def in_time(message: Message) -> None:
            async with asyncio.timeout(STALL_SECONDS):
                await send(message)

        try:
            await super().stream_response(in_time)
        except TimeoutError:
            log.info("stream_stalled", seconds=STALL_SECONDS)
            raise ClientDisconnect from None  # nothing more can be told: the answer has begun
        finally:
            await self._pieces.aclose()  # however it ended: what is left to the garbage collector stays open for long


async def _sent(first: bytes, chunks: Iterator[bytes], held: ExitStack) -> AsyncGenerator[bytes]:
    try:
        yield first
        while chunk := await run_in_threadpool(next, chunks, b""):
            yield chunk
    finally:
        # Also after the client disconnected. Not in a thread: a cancelled task gets none.
        held.close()


def _chunks(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces into chunks, because sending each piece costs more than making it."""
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        if len(waiting) >= CHUNK_BYTES:
            yield bytes(waiting)
            waiting.clear()
    if waiting:
        yield bytes(waiting)
