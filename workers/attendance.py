"""Each worker says every few seconds which queues it takes messages from."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.attendance import EVERY_SECONDS, AttendanceBook
from crawler.adapters.redis_connection import connect_redis
from crawler.config import Settings
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)


def attendance(settings: Settings) -> type[bootsteps.StartStopStep]:
    """A step of Celery's consumer, as `Pulse` is."""

    class Attendance(bootsteps.StartStopStep):  # type: ignore[misc]
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def __init__(self, consumer: Any, **kwargs: Any) -> None:
            super().__init__(consumer, **kwargs)
            self._book = AttendanceBook(connect_redis(settings.redis_database(0)))

        def start(self, consumer: Any) -> None:
            queues = [str(name) for name in consumer.app.amqp.queues.consume_from]
            _note(self._book, consumer.hostname, queues)
            consumer.timer.call_repeatedly(EVERY_SECONDS, _note, (self._book, consumer.hostname, queues))

        def stop(self, consumer: Any) -> None:
            with suppress(RedisUnavailable):  # it is forgotten by itself in half a minute
                self._book.leave(consumer.hostname, [str(name) for name in consumer.app.amqp.queues.consume_from])

    return Attendance


def _note(book: AttendanceBook, worker: str, queues: Sequence[str]) -> None:
    try:
        book.note(worker, queues, time.time())
    except RedisUnavailable as exc:
        log.warning("attendance_missed", detail=exc.message)
