"""The coordinator's own clock: lost work is looked for even when beat is dead or Redis forgot beat's entries."""

from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

QUEUE = "coordinator"
FIRST_SECONDS = 1.0
"""After a start, and after each time the broker was lost: whatever was lost with it is found soon."""


class Pulse(bootsteps.StartStopStep):  # type: ignore[misc]
    """A step of Celery's consumer, because timers end with each lost connection and steps are started again."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Only in the workers that also run what it sends."""
        if QUEUE not in consumer.app.amqp.queues.consume_from:
            return
        hints = CeleryQueue(consumer.app)
        consumer.timer.call_after(FIRST_SECONDS, _beat, (hints,))
        consumer.timer.call_repeatedly(consumer.app.conf.beat_schedule["reconcile"]["schedule"], _beat, (hints,))


def _beat(hints: CeleryQueue) -> None:
    try:
        hints.reconcile()
    except RedisUnavailable as exc:
        log.warning("pulse_missed", detail=exc.message)
