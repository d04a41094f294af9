"""Streaming responses for exports: a few rows in memory, and the query is closed as soon as the client is gone.

What is in an export: `domain/exports/files.py`.
"""

import threading
from collections.abc import AsyncIterator, Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from crawler.errors import Unavailable

CHUNK_BYTES = 64 * 1024
MOST_STREAMS = 8
"""Parallel streams: each holds a connection to Postgres until its client has read all."""

_places = threading.BoundedSemaphore(MOST_STREAMS)


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
    return StreamingResponse(_sent(first, chunks, held), media_type=media_type, headers=headers)


@contextmanager
def _place() -> Iterator[None]:
    if not _places.acquire(blocking=False):
        raise Unavailable("Too many exports are being read at once; try again in a moment.", retry_seconds=30)
    try:
        yield
    finally:
        _places.release()


async def _sent(first: bytes, chunks: Iterator[bytes], held: ExitStack) -> AsyncIterator[bytes]:
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
