"""The Celery app: `celery -A workers.app worker -Q fetch`.

The configuration is in `crawler/adapters/operating/celery_app.py`, the tasks in `tasks.py`.
"""

import gc
import multiprocessing
import threading
import time
from contextlib import suppress
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    celeryd_after_setup,
    setup_logging,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)

from crawler.adapters.frontier.redis_connection import check_redis, connect_redis
from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.celery_queue import CeleryQueue
from crawler.bootstrap import App, build, with_servers
from crawler.bootstrap.fitness import refuse_unfit_machine
from crawler.config import load_settings
from crawler.errors import CrawlerError, RedisUnavailable
from crawler.telemetry import configure_logs, logger
from workers.announce import announce
from workers.apart import apart
from workers.broken_worker import EndBroken
from workers.dropped_messages import hide_contents
from workers.message_wait import wait_longer, wait_no_more
from workers.own_queues import take_own_queues
from workers.places import places
from workers.reconcile_timer import Pulse
from workers.unreadable_messages import drop_unreadable

settings, _embedded = with_servers(load_settings())
app: Celery = make_celery(settings)
app.set_current()
app.steps["consumer"].add(Pulse)
app.steps["consumer"].add(announce(settings))
app.steps["worker"].add(EndBroken)

log = logger(__name__)


class _Common:
    """What the processes of one worker's pool share; no other worker that was forked from the same process does."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.stopping = multiprocessing.Event()
        """The pool's processes get no other notice of the worker's end."""
        self.embed_rest = multiprocessing.RawArray("d", 3)


_common = _Common()
_making = threading.Lock()


def container() -> App:
    """The App of this process. It is made after the fork, never inherited, and only once even if tasks are threads."""
    with _making:
        return _container()


@cache
def _container() -> App:
    redis = connect_redis(settings.redis_database(0), patience_seconds=settings.lease_seconds / 2)
    return build(settings, celery=app, redis=redis, embed_rest=_common.embed_rest)


def is_stopping() -> bool:
    return _common.stopping.is_set()


@celeryd_after_setup.connect
def _take_own_queues(**_: Any) -> None:
    take_own_queues(app)


@worker_process_init.connect
def _begin(**_: Any) -> None:
    """Set up a pool's child process.

    It uses nothing of its parent's App, and collects garbage less often: little is cyclic.
    """
    _container.cache_clear()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@worker_init.connect
def _start(**_: Any) -> None:
    places.open()
    _common.begin()
    apart(_check_servers)
    wait_longer(app)
    drop_unreadable()


def _check_servers() -> None:
    refuse_unfit_machine(settings)
    if settings.broker_queue_type == "quorum":
        with suppress(RedisUnavailable):  # the worker waits for its broker
            CeleryQueue(app).declare()
    with connect_redis(settings.redis_database(0)) as redis:
        try:
            check_redis(redis, time.time())
        except RedisUnavailable as exc:
            # A Redis that is down may come back. One that evicts keys, or whose clock differs, must not be used.
            if exc.details.get("unfit"):
                raise SystemExit(exc.message) from exc


@worker_process_shutdown.connect
def _end(**_: Any) -> None:
    """Close the browser: it must not outlive its worker."""
    if _container.cache_info().currsize and "engine" in vars(container()):
        container().engine.close_browser()


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    _common.stopping.set()
    wait_no_more(app)


@beat_init.connect
def _begin_beat(**_: Any) -> None:
    # When many entries are due, a third of the time is spent on these events, which monitors get again on receipt.
    app.conf.task_send_sent_event = False
    apart(_mirror_schedules)


def _mirror_schedules() -> None:
    """Write the schedules' entries for beat again, in case Redis lost them.

    The coordinator starts runs missed meanwhile.
    """
    refuse_unfit_machine(settings)
    try:
        log.info("beat_entries_made", count=container().notices.set_schedule.rebuild_entries())
    except CrawlerError as exc:
        log.warning("beat_entries_not_made", detail=exc.message)


@setup_logging.connect
def _logs(**_: Any) -> None:
    configure_logs(settings.log_level, as_json=settings.log_json)
    hide_contents()


app.autodiscover_tasks(["workers"])
