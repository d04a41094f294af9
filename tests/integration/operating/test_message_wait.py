"""A worker that waits long for messages stops all the same at once, and loses none."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from celery import Celery
from kombu.entity import Queue
from kombu.transport.redis import Transport
from redis import Redis

from workers import message_wait
from workers.message_wait import WAIT_SECONDS, wait_longer, wait_no_more

QUEUE = "waits"


@pytest.fixture
def app(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Celery:
    monkeypatch.setattr(Transport, "brpop_timeout", Transport.brpop_timeout)
    app = Celery(broker=redis_url.replace("unix://", "redis+socket://"))
    wait_longer(app)
    return app


@pytest.fixture
def consumer(app: Celery) -> Iterator[Any]:
    with app.connection_for_read() as connection:
        yield connection


def begin_to_wait(connection: Any) -> list[str]:
    """Ask for messages, as a worker at rest does. Returns what comes later."""
    came: list[str] = []

    def take(body: str, message: Any) -> None:
        came.append(body)
        message.ack()

    consumer = connection.Consumer(Queue(QUEUE), callbacks=[take])  # type: ignore[no-untyped-call]
    consumer.consume()
    with pytest.raises(socket.timeout):
        connection.drain_events(timeout=0.1)
    return came


def seconds_to_stop(connection: Any) -> float:
    began = time.monotonic()
    connection.default_channel.close()
    return time.monotonic() - began


def test_a_wait_ends_when_the_worker_stops(app: Celery, consumer: Any, redis_url: str) -> None:
    begin_to_wait(consumer)
    with Redis.from_url(redis_url) as redis:
        (waiting,) = [client for client in redis.client_list() if client["cmd"] == "brpop"]
        assert waiting["name"].startswith("crawler-")
    wait_no_more(app)
    assert seconds_to_stop(consumer) < WAIT_SECONDS / 2


def test_a_wait_that_begins_later_ends_too(app: Celery, consumer: Any) -> None:
    wait_no_more(app)
    time.sleep(2 * message_wait.AGAIN_SECONDS)
    begin_to_wait(consumer)
    assert seconds_to_stop(consumer) < WAIT_SECONDS / 2


def test_others_go_on_waiting(app: Celery, consumer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    came = begin_to_wait(consumer)
    monkeypatch.setattr(message_wait, "_name", lambda: "crawler-another-1")
    with app.connection_for_read() as connection:
        message_wait.wake(connection)
    with pytest.raises(socket.timeout):
        consumer.drain_events(timeout=0.2)
    with app.connection_for_write() as connection:
        connection.Producer().publish("hello", routing_key=QUEUE)
    consumer.drain_events(timeout=2)
    assert came == ["hello"]
