"""Live events of a project's crawls in a bounded Redis stream: publish, read and follow.

One stream entry may carry many page events (a whole batch): `seq` counts the project's events without a gap, and an
entry's id is the number of its last one, so a reader who missed some asks for what came after the last it saw.

::

    cr:events:{project}         stream: type, at, crawl, count, items (JSON array of the events' data)
    cr:events:{project}:seq     the number of the last event
    cr:progress:{crawl}         the highest percentage told

What is published, and how often: `handlers/engine/publish_events.py`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from redis import Redis
from redis.exceptions import RedisError

from crawler import telemetry
from crawler.adapters.frontier.redis_connection import redis_unavailable
from crawler.adapters.frontier.redis_scripts import Scripts
from crawler.errors import CrawlerError

log = telemetry.logger(__name__)

MAX_ENTRIES = 2000
KEEP_SECONDS = 24 * 3600
COUNT_SECONDS = 90 * 24 * 3600
MAX_PROJECTS = 2000
AT_ONCE = 500
"""Most entries of one read."""


class Event(NamedTuple):
    seq: int
    type: str
    crawl_id: UUID
    at: str
    data: dict[str, Any]


class StreamKeys(NamedTuple):
    stream: str
    counter: str

    @classmethod
    def of(cls, project_id: UUID, prefix: str = "cr") -> "StreamKeys":
        stream = f"{prefix}:events:{project_id}"
        return cls(stream, f"{stream}:seq")


class EventStream:
    def __init__(self, redis: Redis, project_of: Callable[[UUID], UUID], prefix: str = "cr") -> None:
        """`project_of` gives the project of a crawl; it is called once a crawl."""
        self._redis = redis
        self._scripts = Scripts(redis)
        self._prefix = prefix
        self._project_of = project_of
        self._projects: dict[UUID, UUID] = {}

    def publish(self, crawl_id: UUID, kind: str, data: dict[str, Any]) -> None:
        self.publish_many(crawl_id, kind, [data])

    def publish_many(self, crawl_id: UUID, kind: str, items: list[dict[str, Any]]) -> None:
        """Publish events. An error is only logged: events are not the record, and the crawl must go on."""
        if not items:
            return
        now = datetime.now(UTC).isoformat()
        told = ("type", kind, "at", now, "crawl", crawl_id.bytes, "count", len(items), "items", orjson.dumps(items))
        limits = (len(items), MAX_ENTRIES, KEEP_SECONDS, COUNT_SECONDS)
        try:
            self._scripts.run("publish", self._keys(crawl_id), [*limits, *told])
        except CrawlerError as exc:
            log.warning("event_lost", crawl_id=str(crawl_id), type=kind, error=exc.message)

    def highest(self, crawl_id: UUID, percentage: float) -> float:
        """The highest percentage that any process has published for this crawl, this one included."""
        key = f"{self._prefix}:progress:{crawl_id}"
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.zadd(key, {"shown": percentage}, gt=True)
                pipe.zscore(key, "shown")
                pipe.expire(key, KEEP_SECONDS)
                return float(pipe.execute()[1])
        except RedisError as exc:
            log.warning("progress_unknown", crawl_id=str(crawl_id), error=str(exc))
            return percentage

    def read(self, crawl_id: UUID, after: int = 0) -> list[Event]:
        """A crawl's events with a number greater than `after`, oldest first, as far as they are still kept."""
        found: list[Event] = []
        for events in self.follow(crawl_id, after):
            if events is None:
                break
            found += events
        return found

    def follow(self, crawl_id: UUID, after: int = 0, wait_seconds: float = 0) -> Iterator[list[Event] | None]:
        """A crawl's events after that number, in batches as they come; None when nothing came for `wait_seconds`."""
        key, block = self._keys(crawl_id).stream, int(wait_seconds * 1000) or None
        while True:
            with self._redis_errors():
                answer: Any = self._redis.xread({key: f"{after}-0"}, count=AT_ONCE, block=block)
            entries: list[tuple[bytes, dict[bytes, bytes]]] = answer[0][1] if answer else []
            if not entries:
                yield None
                continue
            yield [event for number, told in entries for event in _unroll(number, told, crawl_id, after)]
            after = int(entries[-1][0].split(b"-")[0])

    def latest(self, crawl_id: UUID, kind: str, entries: int = 4) -> list[Event]:
        """Events of this kind in the last few entries, oldest first. For a quick look, not for following all."""
        with self._redis_errors():
            answer: Any = self._redis.xrevrange(self._keys(crawl_id).stream, count=entries)
        found: list[Event] = []
        for entry_id, fields in reversed(answer):
            if fields[b"type"].decode() == kind:
                found += _unroll(entry_id, fields, crawl_id, 0)
        return found

    @contextmanager
    def _redis_errors(self) -> Iterator[None]:
        try:
            yield
        except RedisError as exc:
            raise redis_unavailable(self._redis, exc) from exc

    def _keys(self, crawl_id: UUID) -> StreamKeys:
        project_id = self._projects.get(crawl_id)
        if project_id is None:
            if len(self._projects) >= MAX_PROJECTS:
                self._projects.clear()
            project_id = self._projects[crawl_id] = self._project_of(crawl_id)
        return StreamKeys.of(project_id, self._prefix)


def _unroll(entry_id: bytes, fields: dict[bytes, bytes], crawl_id: UUID, after: int) -> Iterator[Event]:
    if fields[b"crawl"] != crawl_id.bytes:
        return
    first = int(entry_id.split(b"-")[0]) - int(fields[b"count"]) + 1
    for seq, data in enumerate(orjson.loads(fields[b"items"]), first):
        if seq > after:
            yield Event(seq, fields[b"type"].decode(), crawl_id, fields[b"at"].decode(), data)
