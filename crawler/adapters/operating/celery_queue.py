"""Celery: its configuration, and the sender of our hints.

Messages carry ids only and may be lost or repeated: see docs/explanation/architecture.md. What is known of Celery on
Redis, behind the settings: a message can vanish between pop and record, a long task is redelivered after the
visibility timeout, a silent socket waits for ever. None of that may cost more than time.
"""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from celery import Celery, chain
from kombu.entity import Exchange, Queue
from kombu.exceptions import ChannelError, OperationalError

from crawler.config import Settings
from crawler.domain.acquisition.extractions import Handed
from crawler.domain.crawls.frontier import Lane
from crawler.errors import RedisUnavailable

QUEUES = ("coordinator", "notify", "fetch", "render", "ingest")
LANE_QUEUE = {Lane.HTTP: "fetch", Lane.BROWSER: "render"}
ROUTES = {
    "crawler.start_crawl": "coordinator",
    "crawler.finish_crawl": "coordinator",
    "crawler.reconcile": "coordinator",
    "crawler.diff_crawl": "coordinator",
    "crawler.report_crawl": "coordinator",
    "crawler.run_scheduled_crawl": "coordinator",
    "crawler.run_queue": "coordinator",
    "crawler.notify": "notify",
    "crawler.resend_notice": "notify",
    "crawler.extract_entries": "ingest",
    "crawler.ingest_document": "ingest",
    "crawler.ingest_documents": "ingest",
    "crawler.embed_documents": "ingest",
}
# Of others: none of our workers takes from it.
_CLASSIFICATION = Queue("classification", Exchange("classification"), routing_key="classification")
# Classic durable queues, as any Celery app declares them: whoever sends us tasks needs no settings for the broker.
RABBITMQ = ("amqp", "pyamqp")
# Nothing is scheduled further ahead than this: longer waits are frontier scores.
LONGEST_COUNTDOWN_SECONDS = 60
# Beat's lock must outlive several loops, or a short pause of the process loses it.
BEAT_LOOP_SECONDS = 5
BEAT_LOCK_SECONDS = 60
# How often the acquisition queue is looked at when nobody asks for it.
QUEUE_SECONDS = 300


def make_celery(settings: Settings) -> Celery:
    app = Celery("crawler", set_as_current=False)
    hard_limit = int(settings.shift_seconds + settings.lease_seconds + 60)
    visibility = max(3 * hard_limit, 600)
    app.conf.update(
        broker_url=settings.broker,
        result_backend=settings.results,
        task_default_queue="coordinator",
        # Each with an exchange of its own: queues that share the default one would all get every message.
        task_queues=[Queue(name, Exchange(name), routing_key=name) for name in QUEUES],
        task_create_missing_queues=False,
        task_routes={name: {"queue": queue} for name, queue in ROUTES.items()},
        # JSON in both directions: a pickle in the broker is refused, never loaded.
        task_serializer="json",
        result_serializer="json",
        accept_content=["json"],
        result_accept_content=["json"],
        task_ignore_result=True,
        result_expires=3600,
        # Acknowledged late, bounded when a child dies: the frontier's leases decide what is repeated.
        task_acks_late=True,
        task_reject_on_worker_lost=False,
        task_retry_on_worker_lost=True,
        task_time_limit=hard_limit,
        task_soft_time_limit=hard_limit - 15,
        task_track_started=True,
        worker_prefetch_multiplier=1,
        # Less than the supervisor's patience; a shift ends by itself within a second of hearing of it.
        worker_soft_shutdown_timeout=20,
        worker_enable_soft_shutdown_on_idle=True,
        # A shift outlives a lost broker: it works for the frontier, not for the message. Killing it would cost leases.
        worker_cancel_long_running_tasks_on_connection_loss=False,
        worker_eta_task_limit=100,
        worker_hijack_root_logger=False,
        worker_send_task_events=True,
        task_send_sent_event=True,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_transport_options(visibility),
        result_backend_transport_options={"visibility_timeout": visibility},
        visibility_timeout=visibility,
        redis_socket_timeout=15.0,
        redis_socket_connect_timeout=5.0,
        redis_socket_keepalive=not settings.results.startswith("redis+socket"),  # unix sockets know no such thing
        redis_backend_health_check_interval=25,
        enable_utc=True,
        timezone="UTC",
        # Our own, for the coordinator: through which queues it sends canaries, and whether it starts overdue slots.
        canary_queues=QUEUES,
        tends_schedules=True,
        beat_max_loop_interval=BEAT_LOOP_SECONDS,
        redbeat_redis_url=settings.redis_database(2),
        redbeat_lock_timeout=BEAT_LOCK_SECONDS,
        redbeat_key_prefix="redbeat:",
        redbeat_redis_options={"socket_timeout": 15},  # no retries: beat is restarted, and nobody else may wait for it
        beat_schedule={
            "reconcile": {
                "task": "crawler.reconcile",
                "schedule": settings.reconcile_seconds,
                "options": {"expires": settings.reconcile_seconds * 4},
            },
            "run_queue": {
                "task": "crawler.run_queue",
                "schedule": QUEUE_SECONDS,
                "options": {"expires": QUEUE_SECONDS},
            },
        },
    )
    if settings.broker.startswith(RABBITMQ):
        app.conf.update(broker_transport_options={"confirm_publish": True}, broker_heartbeat=30)
    return app


def _transport_options(visibility: int) -> dict[str, Any]:
    return {
        "visibility_timeout": visibility,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 15,
        "socket_connect_timeout": 5,
        "socket_keepalive": True,
        "health_check_interval": 25,
    }


class CeleryQueue:
    """Sends hints. A hint that cannot be sent is an error only where a person waits for it."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def ping(self) -> None:
        """Raises when the broker does not answer within a few seconds."""
        try:
            with self._app.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0.1, timeout=5)
        except OperationalError as exc:
            raise _unavailable() from exc

    def length(self, queue: str) -> int:
        """How many messages wait in it."""
        return self.lengths([queue])[queue]

    def lengths(self, queues: Iterable[str] = QUEUES) -> dict[str, int]:
        try:
            # One that is kept: to connect takes ten times as long as to ask.
            with self._app.pool.acquire(block=True) as connection:
                connection.ensure_connection(max_retries=1, interval_start=0.1, timeout=3)
                return {name: _length(connection, name) for name in queues}
        except OperationalError as exc:
            raise _unavailable() from exc

    def start_crawl(self, crawl_id: UUID) -> None:
        self._send("crawler.start_crawl", {"crawl_id": str(crawl_id)})

    def fetch(self, lane: Lane, countdown_seconds: float = 0) -> None:
        countdown = min(countdown_seconds, LONGEST_COUNTDOWN_SECONDS)
        # An old hint is worthless: the work it pointed at has been done or hinted again.
        message = {"lane": lane.value}
        self._send("crawler.fetch", message, LANE_QUEUE[lane], countdown=countdown, expires=countdown + 120)

    def finish_crawl(self, crawl_id: UUID) -> None:
        self._send("crawler.finish_crawl", {"crawl_id": str(crawl_id)})

    def run_queue(self) -> None:
        self._send("crawler.run_queue", {}, expires=QUEUE_SECONDS)

    def extract_entries(self, countdown_seconds: float = 0) -> None:
        self._send("crawler.extract_entries", {}, countdown=countdown_seconds, expires=countdown_seconds + 120)

    def classify(self, task: str, handed: Handed) -> None:
        """To a service that is not ours: it gets the job under the job's own id, however often it is sent."""
        try:
            self._app.send_task(
                task,
                kwargs=handed._asdict(),
                queue=_CLASSIFICATION,
                task_id=handed.job_id,
                ignore_result=True,
                retry=True,
                retry_policy={"max_retries": 2, "interval_start": 0.1, "interval_step": 0.2},
                argsrepr="()",
                kwargsrepr=f"{{'job_id': '{handed.job_id}', …}}",  # what monitors are shown: not a page's text
            )
        except OperationalError as exc:
            raise _unavailable() from exc

    def ingest_documents(self) -> None:
        self._send("crawler.ingest_documents", {}, expires=120)

    def embed_documents(self) -> None:
        self._send("crawler.embed_documents", {}, expires=120)

    def reconcile(self) -> None:
        self._send("crawler.reconcile", {}, expires=60)

    def canary(self, queue: str) -> None:
        self._send("crawler.canary", {"queue": queue}, queue)

    def after_crawl(self, crawl_id: UUID) -> None:
        """The chain that tells people what changed."""
        asked = {"kwargs": {"crawl_id": str(crawl_id)}, "immutable": True}
        steps = [
            self._app.signature(name, queue=ROUTES[name], **asked) for name in ("crawler.diff_crawl", "crawler.notify")
        ]
        try:
            chain(*steps, app=self._app).apply_async(ignore_result=True)
        except OperationalError as exc:
            raise _unavailable() from exc
        self._send("crawler.report_crawl", {"crawl_id": str(crawl_id)})

    def notify(self, crawl_id: UUID) -> None:
        self._send("crawler.notify", {"crawl_id": str(crawl_id)})

    def resend_notice(self, notification_id: UUID) -> None:
        """Somebody waits for it: what nobody takes by then is not sent an hour later."""
        self._send("crawler.resend_notice", {"notification_id": str(notification_id)}, expires=60)

    def _send(
        self,
        task: str,
        message: Mapping[str, str],
        queue: str | None = None,
        *,
        countdown: float = 0,
        expires: float | None = None,
    ) -> None:
        try:
            self._app.send_task(
                task,
                kwargs=dict(message),
                queue=queue or ROUTES[task],
                countdown=countdown or None,
                expires=expires,
                ignore_result=True,
                retry=True,
                retry_policy={"max_retries": 2, "interval_start": 0.1, "interval_step": 0.2},
            )
        except OperationalError as exc:
            raise _unavailable() from exc


def _length(connection: Any, queue: str) -> int:
    try:
        if connection.transport.driver_type == "redis":
            return int(connection.default_channel.queue_declare(queue=queue, passive=True).message_count)
        with connection.channel() as channel:  # RabbitMQ closes one on which it was asked for what is not there
            return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except ChannelError:  # nobody has declared it: nothing was ever sent
        return 0


def _unavailable() -> RedisUnavailable:
    return RedisUnavailable("The Celery broker does not answer; check CRAWLER_BROKER_URL or CRAWLER_REDIS_URL.")
