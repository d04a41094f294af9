"""Live events of a crawl in a bounded Redis stream.

One stream entry may carry many page events (a whole batch): `seq` counts events, not entries, and is the entry's id, so
a reader who missed some asks for what came after the last number it saw.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from redis import Redis
from redis.exceptions import RedisError

from crawler import telemetry

log = telemetry.logger(__name__)

MAX_ENTRIES = 2000
KEEP_SECONDS = 24 * 3600


class Event(NamedTuple):
    seq: int
    type: str
    crawl_id: UUID
    at: str
    data: dict[str, Any]


class EventStream:
    def __init__(self, redis: Redis, prefix: str = "cr") -> None:
        self._redis = redis
        self._prefix = prefix

    def publish(self, crawl_id: UUID, kind: str, data: dict[str, Any]) -> None:
        self.publish_many(crawl_id, kind, [data])

    def publish_many(self, crawl_id: UUID, kind: str, items: list[dict[str, Any]]) -> None:
        """News is not the record: when Redis cannot take it, the crawl goes on without."""
        if not items:
            return
        key, counter = f"{self._prefix}:events:{crawl_id}", f"{self._prefix}:events:{crawl_id}:seq"
        fields = {"type": kind, "at": datetime.now(UTC).isoformat(), "items": orjson.dumps(items)}
        try:
            last = int(self._redis.incrby(counter, len(items)))
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.xadd(key, fields, id=f"{last}-0", maxlen=MAX_ENTRIES, approximate=True)  # type: ignore[arg-type]
                pipe.expire(key, KEEP_SECONDS)
                pipe.expire(counter, KEEP_SECONDS)
                pipe.execute(raise_on_error=False)
        except RedisError as exc:
            log.warning("event_lost", crawl_id=str(crawl_id), type=kind, error=str(exc))

    def highest(self, crawl_id: UUID, percentage: float) -> float:
        """The highest percentage any process has told of this crawl, this one included."""
        key = f"{self._prefix}:events:{crawl_id}:progress"
        try:
            with self._redis.pipeline(transaction=False) as pipe:
                pipe.zadd(key, {"shown": percentage}, gt=True)
                pipe.zscore(key, "shown")
                pipe.expire(key, KEEP_SECONDS)
                return float(pipe.execute()[1])
        except RedisError as exc:
            log.warning("progress_unknown", crawl_id=str(crawl_id), error=str(exc))
            return percentage

    def read(self, crawl_id: UUID, after: int = 0, wait_seconds: float = 0) -> Iterator[Event]:
        """Events with a number greater than `after`, oldest first; waits for the first if asked to."""
        key = f"{self._prefix}:events:{crawl_id}"
        block = int(wait_seconds * 1000) or None
        answer: Any = self._redis.xread({key: f"{after}-0"}, count=500, block=block)
        for _, entries in answer or ():
            for entry_id, fields in entries:
                yield from _unroll(crawl_id, int(entry_id.split(b"-")[0]), fields, after)

    def latest(self, crawl_id: UUID, kind: str, entries: int = 4) -> list[Event]:
        """What the last few entries tell of this kind, oldest first: for a glance, not for following everything."""
        answer: Any = self._redis.xrevrange(f"{self._prefix}:events:{crawl_id}", count=entries)
        found: list[Event] = []
        for entry_id, fields in reversed(answer):
            if fields[b"type"].decode() == kind:
                found += _unroll(crawl_id, int(entry_id.split(b"-")[0]), fields, 0)
        return found


def _unroll(crawl_id: UUID, last: int, fields: dict[bytes, bytes], after: int) -> Iterator[Event]:
    items = orjson.loads(fields[b"items"])
    first = last - len(items) + 1
    for seq, data in enumerate(items, first):
        if seq > after:
            yield Event(seq, fields[b"type"].decode(), crawl_id, fields[b"at"].decode(), data)
