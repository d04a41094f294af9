"""One WebSocket client: sends missed events, then live ones. A client that falls behind catches up at its own pace.

The events come from `adapters/operating/event_tail.py`.
"""

import asyncio
from enum import Enum

from redis.exceptions import RedisError

from crawler import telemetry
from crawler.adapters.operating.event_batch import Batch
from crawler.adapters.operating.event_tail import RETRY_SECONDS, EventTail
from crawler.entrypoints.api.live.outlet import Outlet

log = telemetry.logger(__name__)

MOST_BACKLOG = 256 * 1024
"""Unread bytes of one client; above it nothing more is sent until the client has read some."""
STALL_SECONDS = 10.0
"""A client that stays above `MOST_BACKLOG` for so long is too slow and is disconnected."""
LOOK_SECONDS = 0.05


class Farewell(Enum):
    """Why we close a connection. The close codes are stable; docs/reference/websocket.md explains them."""

    KEY_REVOKED = (4401, "The API key was revoked.")
    PROJECT_DELETED = (4404, "The project was deleted.")
    TOO_SLOW = (4408, "Too slow: come back with ?after= and the last seq you have.")
    FAILED = (1011, "Something went wrong that should not have.")


class LiveReader:
    def __init__(self, outlet: Outlet, after: int) -> None:
        self._outlet = outlet
        self._fell_behind = asyncio.Event()
        self.seen = after

    def take(self, batch: Batch) -> bool:
        if self._outlet.backlog > MOST_BACKLOG:
            self._fell_behind.set()
            return False
        new = batch.since(self.seen)
        if new is not None:
            self._send(new)
        return True

    def lost(self) -> None:
        self.dismiss(Farewell.FAILED)

    def dismiss(self, why: Farewell) -> None:
        self._outlet.hang_up(*why.value)

    def ended(self, following: "asyncio.Task[None]") -> None:
        """Tell the client when its event task failed: otherwise it would wait for events that never come."""
        if not following.cancelled() and (error := following.exception()) is not None:
            log.error("reader_failed", error=type(error).__name__, exc_info=error)
            self.dismiss(Farewell.FAILED)

    async def follow(self, tail: EventTail) -> None:
        """Send events until the task is cancelled or the client is too slow."""
        try:
            while await self._catch_up(tail):
                # No await since the last read, so no event was published in between.
                tail.join(self)
                await self._fell_behind.wait()
                self._fell_behind.clear()
            log.info("reader_too_slow", seen=self.seen)
            self.dismiss(Farewell.TOO_SLOW)
        finally:
            tail.leave(self)

    async def _catch_up(self, tail: EventTail) -> bool:
        """Send the events that the client missed. False if the client is too slow."""
        while await self._has_read():
            try:
                batch = await tail.missed(self.seen)
            except (RedisError, OSError) as exc:
                log.warning("events_unreadable", error=str(exc))
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if batch is None:
                return True
            self._send(batch)
        return False

    async def _has_read(self) -> bool:
        clock = asyncio.get_running_loop().time
        until = clock() + STALL_SECONDS
        while self._outlet.backlog > MOST_BACKLOG:
            if clock() > until:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    def _send(self, batch: Batch) -> None:
        self.seen = batch.last
        if batch.messages:
            self._outlet.push(batch)
