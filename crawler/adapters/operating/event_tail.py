"""Follow a project's live events for many clients: one reader of the Redis stream per process serves all listeners.

The clients are in `entrypoints/api/live`.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol
from uuid import UUID

from redis.asyncio import Redis
from redis.asyncio.sentinel import Sentinel
from redis.exceptions import RedisError

from crawler import telemetry
from crawler.adapters.operating.event_batch import Batch, batch_of, gap, kind_of
from crawler.adapters.operating.event_stream import StreamKeys
from crawler.server_urls import SentinelUrl

log = telemetry.logger(__name__)

AT_ONCE = 20
"""Entries in a batch; each may have dozens of pages."""
WAIT_SECONDS = 5
RETRY_SECONDS = 0.5
TICK_SECONDS = 0.1
"""Events that come in quick succession are sent together: a write to each reader costs more than its bytes."""
MOST_PER_SECOND = 5_000
"""Most events times readers per second. Beyond it events come later: readers must not slow down a crawl."""
BURST_SECONDS = 0.5
LOOK_SECONDS = 0.25
AGAIN_SECONDS = 0.1


class Listener(Protocol):
    def take(self, batch: Batch) -> bool:
        """Take a batch. False: the listener has not read the one before; it gets no more until it joins again."""

    def lost(self) -> None:
        """The stream is lost: nothing will come any more."""


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel tasks until they have ended.

    Once is not always enough: before Python 3.12 `asyncio.wait_for`, with which redis-py sends, forgets a cancellation
    that comes when it is just done.
    """
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)


def _connect(url: str, **options: Any) -> Redis:
    if (known := SentinelUrl.read(url)) is None:
        return Redis.from_url(url, **options)
    asking: dict[str, Any] = {"socket_timeout": 1, **known.sentinel_options}
    sentinels: Any = Sentinel(known.hosts, sentinel_kwargs=asking)  # type: ignore[no-untyped-call]
    login = {"username": known.username, "password": known.password, "db": known.database}
    client: Redis = sentinels.master_for(known.service, Redis, **login, **options)
    return client


class EventTails:
    """The streams that are followed in this event loop, each as long as it has a listener."""

    def __init__(self, redis_url: str, prefix: str = "cr", tick_seconds: float = TICK_SECONDS) -> None:
        # A server that hangs without closing is given up: a wait for events is shorter than the timeout of a response.
        self._redis = _connect(redis_url, socket_timeout=3 * WAIT_SECONDS, socket_connect_timeout=5)
        self._prefix = prefix
        self._tick = tick_seconds
        self._tails: dict[UUID, EventTail] = {}

    @asynccontextmanager
    async def of(self, project_id: UUID) -> AsyncIterator["EventTail"]:
        tail = self._tails.get(project_id)
        if tail is None:
            tail = self._tails[project_id] = EventTail(self._redis, StreamKeys.of(project_id, self._prefix), self._tick)
        tail.users += 1
        try:
            await tail.ready()
            yield tail
        finally:
            tail.users -= 1
            if not tail.users and self._tails.get(project_id) is tail:
                del self._tails[project_id]
                await tail.stop()

    async def close(self) -> None:
        for tail in list(self._tails.values()):
            await tail.stop()
        await self._redis.aclose()


class EventTail:
    """Follows one project's stream.

    `last` is the number of the last event handed out. A reader who has seen it may join; others first ask for what they
    `missed`.
    """

    def __init__(self, redis: Redis, keys: StreamKeys, tick_seconds: float = TICK_SECONDS) -> None:
        self._redis = redis
        self._keys = keys
        self._tick = tick_seconds
        self._listeners: dict[Listener, None] = {}
        self._begin = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._hurry = False
        self.last = 0
        self.users = 0

    async def ready(self) -> None:
        async with self._begin:
            if self._task is None:
                self.last = await self._counted()
                self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        if (task := self._task) is not None:
            await end(task)

    def join(self, listener: Listener) -> None:
        self._listeners[listener] = None

    def leave(self, listener: Listener) -> None:
        self._listeners.pop(listener, None)

    async def missed(self, after: int) -> Batch | None:
        """Events after this number that were already handed out, a part at a time; None when there are no more."""
        if after > self.last and after > await self._counted():
            return gap(after, self.last)
        if after >= self.last:  # greater: another process has already sent it
            return None
        entries: Any = await self._redis.xrange(self._keys.stream, f"({after}", count=AT_ONCE)
        batch = batch_of(entries, after, until=self.last) if entries else Batch(self.last)
        return gap(after, self.last) if after and not batch.messages else batch

    async def _run(self) -> None:
        try:
            while True:
                await self._step()
        finally:
            self._task = None
            for listener in list(self._listeners):
                listener.lost()

    async def _step(self) -> None:
        try:
            batch = await self._next()
            while batch is not None:
                part, batch = batch.parts(self._most())
                await self._rest(self._hand_out(part) * len(part.messages))
        except (RedisError, OSError) as exc:
            log.warning("events_unreadable", error=str(exc))
            await asyncio.sleep(RETRY_SECONDS)

    async def _next(self) -> Batch | None:
        answer: Any = await self._redis.xread(
            {self._keys.stream: f"{self.last}"}, count=AT_ONCE, block=WAIT_SECONDS * 1000
        )
        if answer:
            self._hurry = self._hurry and await self._is_over()
            return batch_of(answer[0][1], self.last)
        counted = await self._counted()
        # Redis lost some or all of its data: the next events might have numbers that were used before.
        return gap(self.last, counted) if counted < self.last else None

    async def _counted(self) -> int:
        return int(await self._redis.get(self._keys.counter) or 0)

    def _hand_out(self, batch: Batch) -> int:
        self.last = batch.last
        readers = list(self._listeners)
        for listener in readers:
            if not listener.take(batch):
                self.leave(listener)
        return len(readers)

    def _most(self) -> int:
        """Most events to hand out to each reader at once."""
        at_once = sys.maxsize if self._hurry else int(MOST_PER_SECOND * BURST_SECONDS)
        return max(1, at_once // max(1, len(self._listeners)))

    async def _rest(self, told: int) -> None:
        """Wait long enough to keep the rate limit, unless the crawl is over: then readers cannot slow it down."""
        clock = asyncio.get_running_loop().time
        until = clock() + max(self._tick, 0 if self._hurry else told / MOST_PER_SECOND)
        while (left := until - clock()) > 0:
            await asyncio.sleep(min(left, LOOK_SECONDS))
            if left > LOOK_SECONDS and await self._is_over():
                self._hurry = True
                return

    async def _is_over(self) -> bool:
        newest: Any = await self._redis.xrevrange(self._keys.stream, count=1)
        return bool(newest) and kind_of(newest[0]) == "completed"
