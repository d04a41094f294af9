"""What is no message holds up none that comes after it."""

import json
from typing import Any

import pytest
from celery import Celery
from kombu.entity import Queue
from kombu.transport import redis as transport
from redis import Redis

from workers.unreadable_messages import drop_unreadable

QUEUE = "readable"
PLACE = {"exchange": "", "routing_key": QUEUE}
NO_MESSAGES: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "a number": 5,
    "text": "crawl",
    "no properties": {"body": "1"},
    "properties of another kind": {"properties": []},
    "no tag": {"properties": {"delivery_info": PLACE}},
    "a tag that cannot be a key": {"properties": {"delivery_tag": {}, "delivery_info": PLACE}},
    "no place": {"properties": {"delivery_tag": "1"}},
    "a body that is no text": {
        "body": 5,
        "properties": {"delivery_tag": "1", "delivery_info": PLACE, "body_encoding": "base64"},
    },
}
NO_JSON = {"half of it": b"{", "bytes": b"\xff\xfe", "without end": b"[" * 100_000, "empty": b""}


@pytest.mark.parametrize(
    "sent",
    [*(json.dumps(each).encode() for each in NO_MESSAGES.values()), *NO_JSON.values()],
    ids=[*NO_MESSAGES, *NO_JSON],
)
def test_what_is_no_message_is_dropped_and_the_next_one_comes(
    redis_url: str, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    for kind in (transport.Transport, transport.SentinelTransport):
        monkeypatch.setattr(kind, "Channel", kind.Channel)
    drop_unreadable()
    app, came = Celery(broker=redis_url.replace("unix://", "redis+socket://")), []

    def take(body: str, message: Any) -> None:
        came.append(body)
        message.ack()

    with Redis.from_url(redis_url) as redis, app.connection_for_read() as connection:
        consumer = connection.Consumer(Queue(QUEUE), callbacks=[take])  # type: ignore[no-untyped-call]
        consumer.consume()
        redis.lpush(QUEUE, sent)
        with connection.Producer() as producer:
            producer.publish("the next one", routing_key=QUEUE)
        while not came:
            connection.drain_events(timeout=10)
    assert came == ["the next one"]
