"""A render worker says every few seconds that it is there, and whether it has a browser."""

from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.browser.chromium_process import browser_use
from crawler.adapters.browser.chromium_records import reap_orphans
from crawler.adapters.browser.fetcher import why_unavailable
from crawler.adapters.browser.lane_watch import LaneWatch, LaneWorker
from crawler.adapters.browser.options import RECORDS
from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.config import Settings
from crawler.domain.crawls.frontier import Lane
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
            reap_orphans(settings.data_dir / RECORDS)
            announcer = Announcer(LaneWatch(connect_redis(settings.redis_database(0))), settings, consumer.hostname)
            announcer()
            consumer.timer.call_repeatedly(EVERY_SECONDS, announcer)

    return LanePulse


class Announcer:
    """Looks each time anew: a browser that would not start in the pool's process has left word why."""

    def __init__(self, lanes: LaneWatch, settings: Settings, worker: str) -> None:
        self._lanes = lanes
        self._settings = settings
        self._worker = worker
        self._told: str | None = None

    def __call__(self) -> None:
        lack = why_unavailable(self._settings.chromium, self._settings.data_dir)
        if lack and lack != self._told:
            log.warning("render_unavailable", detail=lack)
        self._told = lack
        try:
            self._lanes.announce(Lane.BROWSER, self._worker, LaneWorker(lack or "", *browser_use()))
        except RedisUnavailable as exc:
            log.warning("lane_pulse_missed", detail=exc.message)
