"""A render worker says every few seconds that it is there, and whether it has a browser."""

from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.browser_fetcher import why_unavailable
from crawler.adapters.lane_watch import LaneWatch
from crawler.adapters.redis_connection import connect_redis
from crawler.config import Settings
from crawler.domain.frontier import Lane
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)

QUEUE = "render"
EVERY_SECONDS = 5.0


def lane_pulse(settings: Settings) -> type[bootsteps.StartStopStep]:
    """A step of Celery's consumer, as `Pulse` is."""

    class LanePulse(bootsteps.StartStopStep):  # type: ignore[misc]
        requires = ("celery.worker.consumer.tasks:Tasks",)

        def start(self, consumer: Any) -> None:
            if QUEUE not in consumer.app.amqp.queues.consume_from:
                return
            lack = why_unavailable(settings.chromium)
            if lack:
                log.warning("render_unavailable", detail=lack)
            lanes = LaneWatch(connect_redis(settings.redis_database(0)))
            _announce(lanes, able=lack is None)
            consumer.timer.call_repeatedly(EVERY_SECONDS, _announce, (lanes,), {"able": lack is None})

    return LanePulse


def _announce(lanes: LaneWatch, *, able: bool) -> None:
    try:
        lanes.announce(Lane.BROWSER, able=able)
    except RedisUnavailable as exc:
        log.warning("lane_pulse_missed", detail=exc.message)
