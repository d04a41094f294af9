"""Heartbeat of workers: each announces every few seconds which queues it consumes, and whether it can do their work."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from celery import bootsteps

from crawler import telemetry
from crawler.adapters.browser.chromium_process import browser_use
from crawler.adapters.browser.chromium_records import reap_orphans
from crawler.adapters.browser.fetcher import why_unavailable
from crawler.adapters.browser.options import RECORDS
from crawler.adapters.frontier.redis_connection import connect_redis
from crawler.adapters.operating.live_workers import EVERY_SECONDS, NOTIFY, RENDER, LiveWorkers, WorkerState
from crawler.config import Settings
from crawler.errors import RedisUnavailable

log = telemetry.logger(__name__)


def announce(settings: Settings) -> type[bootsteps.StartStopStep]:
    """A bootstep of Celery's consumer that announces the worker; it is started again after a lost connection."""

    class Announce(bootsteps.StartStopStep):  # type: ignore[misc]
        requires = ("celery.worker.consumer.tasks:Tasks",)
        _announcer: "Announcer | None" = None

        def start(self, consumer: Any) -> None:
            consumed = [str(name) for name in consumer.app.amqp.queues.consume_from]
            # Workers of a single crawl end with it, so nothing else may rely on them.
            queues = consumed if consumer.app.conf.tends_schedules else [name for name in consumed if name == RENDER]
            if RENDER in queues:
                reap_orphans(settings.data_dir / RECORDS)
            workers = LiveWorkers(connect_redis(settings.redis_database(0)))
            self._announcer = Announcer(workers, settings, consumer.hostname, queues)
            self._announcer()
            consumer.timer.call_repeatedly(EVERY_SECONDS, self._announcer)

        def stop(self, _: Any) -> None:
            if self._announcer is not None:
                with suppress(RedisUnavailable):  # else the announcement expires in half a minute
                    self._announcer.leave()

    return Announce


class Announcer:
    """Announces the worker's state. It is read each time: the pool's process records why a browser did not start."""

    def __init__(self, workers: LiveWorkers, settings: Settings, worker: str, queues: Sequence[str]) -> None:
        self._workers = workers
        self._settings = settings
        self._worker = worker
        self._queues = queues
        self._told: str | None = None

    def __call__(self) -> None:
        try:
            self._workers.announce(self._worker, self._queues, self._state(), self._settings.egress_allow)
        except RedisUnavailable as exc:
            log.warning("attendance_missed", detail=exc.message)
        else:
            self._beat()

    def _beat(self) -> None:
        """Touch the pulse file, which health checks of containers look at: asking the worker itself costs seconds."""
        if self._settings.pulse_file is None:
            return
        try:
            self._settings.pulse_file.touch()
        except OSError as exc:
            log.warning("pulse_not_written", error=str(exc))

    def leave(self) -> None:
        self._workers.leave(self._worker, self._queues)

    def _state(self) -> WorkerState:
        sends_mail = NOTIFY in self._queues and bool(self._settings.smtp_url and self._settings.mail_from)
        if RENDER not in self._queues:
            return WorkerState(sends_mail=sends_mail)
        lack = why_unavailable(self._settings.chromium, self._settings.data_dir)
        if lack and lack != self._told:
            log.warning("render_unavailable", detail=lack)
        self._told = lack
        return WorkerState(lack or "", sends_mail, *browser_use())
