"""Each worker says every few seconds which queues it takes messages from."""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.adapters.operating.live_workers import EVERY_SECONDS, MAIL, NOTIFY, LiveWorkers
from crawler.config import Settings
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)


def attendance(settings: Settings) -> type[bootsteps.StartStopStep]:
    """A step of Celery's consumer, as `Pulse` is."""

    class Attendance(bootsteps.StartStopStep):  # type: ignore[misc]
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def __init__(self, consumer: Any, **kwargs: Any) -> None:
            super().__init__(consumer, **kwargs)
            self._book = LiveWorkers(connect_redis(settings.redis_database(0)))

        def start(self, consumer: Any) -> None:
            if not consumer.app.conf.tends_schedules:  # there for one crawl only, and gone with it
                return
            queues = places([str(name) for name in consumer.app.amqp.queues.consume_from], settings)
            _note(self._book, consumer.hostname, queues)
            consumer.timer.call_repeatedly(EVERY_SECONDS, _note, (self._book, consumer.hostname, queues))

        def stop(self, consumer: Any) -> None:
            with suppress(RedisUnavailable):  # it is forgotten by itself in half a minute
                queues = [str(name) for name in consumer.app.amqp.queues.consume_from]
                self._book.leave(consumer.hostname, places(queues, settings))

    return Attendance


def places(queues: Sequence[str], settings: Settings) -> list[str]:
    """Where a worker signs: its queues, and whether it could send a mail."""
    mails = NOTIFY in queues and bool(settings.smtp_url and settings.mail_from)
    return [*queues, *([MAIL] if mails else [])]


def _note(book: LiveWorkers, worker: str, queues: Sequence[str]) -> None:
    try:
        book.note(worker, queues, time.time())
    except RedisUnavailable as exc:
        log.warning("attendance_missed", detail=exc.message)
