"""A timer in the coordinator that looks for lost work, even when beat is down or Redis lost beat's entries."""

from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

QUEUE = "coordinator"
FIRST_SECONDS = 1.0
"""Soon after a start and after each lost connection to the broker, because messages may be lost with it."""


class Pulse(bootsteps.StartStopStep):  # type: ignore[misc]
    """A bootstep of Celery's consumer: timers end with a lost connection, but bootsteps are started again."""

    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, consumer: Any) -> None:
        """Start the timer, only in workers that also consume the queue it sends to."""
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
