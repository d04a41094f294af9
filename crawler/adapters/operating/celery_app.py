"""Configuration of the Celery app: queues, broker, timeouts, and the fixed entries of beat.

The settings allow for known behaviour of Celery on Redis: a message can vanish between pop and record, a long task is
redelivered after the visibility timeout, a silent socket waits for ever. None of that may cost more than time.

The tasks are in `workers/tasks.py`, what holds for all of them in `workers/task_contract.py`; queues in `queues.py`.
Scheduled crawls are no fixed entries: `adapters/notices/beat_entries.py`.
"""

from typing import Any

from celery import Celery
from kombu.entity import Exchange, Queue

from crawler.adapters.operating.queues import ALL, OWN_ROUTES, QUEUES
from crawler.config import Settings
from crawler.server_urls import SentinelUrl

# How long Redis may take to answer before it is asked anew, maybe another server.
REDIS_ANSWER_SECONDS = 8.0
# How long RabbitMQ may take to confirm a message. A cluster without a majority of its members never does.
CONFIRM_SECONDS = 10
# A worker tells monitors what it does in between, and nothing else happens while it waits for that.
SILENT_SECONDS = 4
# A silent RabbitMQ is left after twice as long.
HEARTBEAT_SECONDS = 8
# After which the next member of a cluster is tried, if one does not answer.
CONNECT_SECONDS = 4
# The shortest wait that RabbitMQ's quorum queues can count.
SHORTEST_COUNTDOWN_SECONDS = 1
# Beat's lock must outlive several loops, or a short pause of the process loses it.
BEAT_LOOP_SECONDS = 5
BEAT_LOCK_SECONDS = 60
# How often the acquisition queue is checked when nothing triggers it.
QUEUE_SECONDS = 300


class _App(Celery):  # type: ignore[misc]
    """Celery, as far as every message is concerned, whoever sends it."""

    def send_task(
        self, name: str, args: Any = None, kwargs: Any = None, countdown: float | None = None, **options: Any
    ) -> Any:
        if countdown and self.conf.task_default_queue_type == "quorum":
            countdown = max(countdown, SHORTEST_COUNTDOWN_SECONDS)
        return super().send_task(name, args, kwargs, countdown, **{"confirm_timeout": CONFIRM_SECONDS, **options})


def durable_queue(name: str, queue_type: str) -> Queue:
    """A queue with an exchange of its own: queues that share the default one would all get every message.

    Classic ones are declared as any Celery app does: a service that sends us tasks needs no broker settings. Messages
    for quorum queues wait in RabbitMQ until they are due, not in a worker, whose places they would take there; that
    needs an exchange of topics.
    """
    if queue_type == "quorum":
        return Queue(name, Exchange(name, "topic"), routing_key=name, queue_arguments={"x-queue-type": "quorum"})
    return Queue(name, Exchange(name), routing_key=name)


def make_celery(settings: Settings) -> Celery:
    app = _App("crawler", set_as_current=False)
    hard_limit = int(settings.shift_seconds + settings.lease_seconds + 60)
    app.conf.update(
        enable_utc=True,
        timezone="UTC",
        # Our own settings, for the coordinator: which queues get canaries, and whether it starts overdue slots.
        canary_queues=QUEUES,
        tends_schedules=True,
        **_task_settings(settings, hard_limit),
        **_worker_settings(),
        **_redis_settings(settings, visibility=max(3 * hard_limit, 600)),
        **_beat_settings(settings),
    )
    if settings.uses_rabbitmq:
        app.conf.update(_rabbitmq_settings(settings))
    app.on_after_finalize.connect(_drop_tasks_of_celery)
    return app


def _drop_tasks_of_celery(sender: Celery, **_: Any) -> None:
    """Leave none but our own tasks, which bound what a message may cost.

    Celery's run others by the thousand in one message (`celery.starmap`), or themselves again for ever
    (`celery.chord_unlock`). Nothing of ours needs them.
    """
    for name in [name for name in sender.tasks if name.startswith("celery.")]:
        sender.tasks.unregister(name)


def _task_settings(settings: Settings, hard_limit: int) -> dict[str, Any]:
    return {
        "task_default_queue": "coordinator",
        "task_default_queue_type": settings.broker_queue_type,
        "task_queues": [durable_queue(name, settings.broker_queue_type) for name in ALL],
        "task_create_missing_queues": False,
        "task_routes": {name: {"queue": queue} for name, queue in OWN_ROUTES.items()},
        # JSON in both directions: a pickle in the broker is refused, never loaded.
        "task_serializer": "json",
        "result_serializer": "json",
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_ignore_result": True,
        "result_expires": 3600,
        # Acknowledged late, with a limit when a child dies: the frontier's leases decide what is repeated.
        "task_acks_late": True,
        "task_reject_on_worker_lost": False,
        "task_retry_on_worker_lost": True,
        "task_time_limit": hard_limit,
        "task_soft_time_limit": hard_limit - 15,
        "task_track_started": True,
        "task_send_sent_event": True,
    }


def _worker_settings() -> dict[str, Any]:
    return {
        "worker_prefetch_multiplier": 1,
        # Less than the supervisor's timeout; a shift ends by itself within a second of being asked.
        "worker_soft_shutdown_timeout": 20,
        "worker_enable_soft_shutdown_on_idle": True,
        # A shift goes on without a broker: it works for the frontier, not for the message. Killing it would cost
        # leases.
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        # No limit of messages with a countdown here: a worker that holds as many takes no other message, and afterwards
        # fewer at a time than before. How many are held is decided in `workers/task_contract.py`.
        "worker_eta_task_limit": None,
        "worker_hijack_root_logger": False,
        "worker_send_task_events": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
    }


def _redis_settings(settings: Settings, visibility: int) -> dict[str, Any]:
    sentinels = _sentinel_options(settings)
    return {
        "broker_url": settings.broker,
        "result_backend": settings.results,
        "broker_transport_options": {**_transport_options(visibility), **sentinels},
        "result_backend_transport_options": {"visibility_timeout": visibility, **sentinels},
        "visibility_timeout": visibility,
        "redis_socket_timeout": REDIS_ANSWER_SECONDS,
        "redis_socket_connect_timeout": 5.0,
        # unix sockets know no such thing
        "redis_socket_keepalive": not settings.results.startswith("redis+socket"),
        "redis_backend_health_check_interval": 25,
    }


def _beat_settings(settings: Settings) -> dict[str, Any]:
    every = settings.reconcile_seconds
    return {
        "beat_max_loop_interval": BEAT_LOOP_SECONDS,
        "redbeat_redis_url": "redis-sentinel://" if settings.sentinels else settings.redis_database(2),
        "redbeat_lock_timeout": BEAT_LOCK_SECONDS,
        "redbeat_key_prefix": "redbeat:",
        "redbeat_redis_options": _beat_options(settings),
        "beat_schedule": {
            "reconcile": {"task": "crawler.reconcile", "schedule": every, "options": {"expires": every * 4}},
            "run_queue": {
                "task": "crawler.run_queue",
                "schedule": QUEUE_SECONDS,
                "options": {"expires": QUEUE_SECONDS},
            },
        },
    }


def _rabbitmq_settings(settings: Settings) -> dict[str, Any]:
    return {
        # As a list of one: Celery prepares each entry for messages that wait, and waits for those that are away.
        "broker_url": [settings.broker],
        "broker_read_url": settings.broker,
        "broker_write_url": settings.broker,
        "broker_transport_options": {
            "confirm_publish": True,
            "read_timeout": SILENT_SECONDS,
            "write_timeout": SILENT_SECONDS,
            # For all members: kombu gives up after the first one that does not answer in the time for one.
            "connect_retries_timeout": CONNECT_SECONDS * (settings.broker.count(";") + 1),
        },
        "broker_connection_timeout": CONNECT_SECONDS,
        "broker_heartbeat": HEARTBEAT_SECONDS,
    }


def _sentinel_options(settings: Settings) -> dict[str, Any]:
    """Who the sentinels are asked for. A broker of sentinels that is set by itself has the same service."""
    known = settings.sentinels
    return {"master_name": known.service, "sentinel_kwargs": known.sentinel_options} if known else {}


def _beat_options(settings: Settings) -> dict[str, Any]:
    """RedBeat's connection. No retries: beat is restarted, and nothing else may wait for it."""
    known = SentinelUrl.read(settings.redis_database(2))
    if known is None:
        return {"socket_timeout": REDIS_ANSWER_SECONDS}
    return {
        "socket_timeout": REDIS_ANSWER_SECONDS,
        "sentinels": known.hosts,
        "service_name": known.service,
        "db": known.database,
        "username": known.username,
        "password": known.password,
        "sentinel_kwargs": known.sentinel_options,
    }


def _transport_options(visibility: int) -> dict[str, Any]:
    return {
        "visibility_timeout": visibility,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": REDIS_ANSWER_SECONDS,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 8,  # how long after that a silent connection is given up
    }
