"""A timer in the coordinator that looks for lost work, even when beat is down or Redis lost beat's entries."""

import time
from collections.abc import Callable
from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

QUEUE = "coordinator"
TASK = "crawler.reconcile"
FIRST_SECONDS = 1.0
"""Soon after a start and after each lost connection to the broker, because messages may be lost with it."""
LATE = 1.2
"""So many intervals after the last request beat is late, and the coordinator asks itself."""


class Pulse(bootsteps.StartStopStep):  # type: ignore[misc]
    """A bootstep of Celery's consumer: timers end with a lost connection, but bootsteps are started again."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Start the timer, only in workers that also consume the queue it sends to."""
        if QUEUE not in consumer.app.amqp.queues.consume_from:
            return
        every = consumer.app.conf.beat_schedule["reconcile"]["schedule"]
        watch = Watch(CeleryQueue(consumer.app).reconcile, LATE * every, time.monotonic)
        consumer.on_task_message = {each for each in consumer.on_task_message if not _is_ours(each)} | {watch.saw}
        consumer.timer.call_after(FIRST_SECONDS, watch.ask)
        consumer.timer.call_repeatedly(every / 5, watch.ask_if_late)


class Watch:
    """Knows when this worker was last asked to look for lost work."""

    def __init__(self, send: Callable[[], None], patience_seconds: float, monotonic: Callable[[], float]) -> None:
        self._send = send
        self._patience_seconds = patience_seconds
        self._monotonic = monotonic
        self._asked_at = monotonic()

    def saw(self, request: Any) -> None:
        if request.name == TASK:
            self._asked_at = self._monotonic()

    def ask_if_late(self) -> None:
        if self._monotonic() - self._asked_at > self._patience_seconds:
            self.ask()

    def ask(self) -> None:
        self._asked_at = self._monotonic()
        try:
            self._send()
        except RedisUnavailable as exc:
            log.warning("pulse_missed", detail=exc.message)


def _is_ours(callback: Any) -> bool:
    """Whether it is of an earlier connection to the broker."""
    return isinstance(getattr(callback, "__self__", None), Watch)
