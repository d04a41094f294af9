"""Send our task messages (hints) through Celery, and read queue lengths. The configuration is in `celery_app.py`.

Messages carry ids only and may be lost or repeated: see docs/explanation/architecture.md.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from celery import Celery, chain
from kombu.exceptions import ChannelError, OperationalError

from crawler.adapters.operating.celery_app import QUEUE_SECONDS, durable_queue
from crawler.adapters.operating.queues import ALL, ENDS, LANE_QUEUE, LATER, OWN, OWN_ROUTES, ROUTES
from crawler.domain.crawls.frontier import Lane
from crawler.errors import RedisUnavailable

if TYPE_CHECKING:
    from crawler.domain.acquisition.extractions import Handed

# A queue of another service: none of our workers takes from it.
CLASSIFICATION = "classification"
# A hint at documents or entries that no worker took by then is worthless: the reconciler has sent others.
WORK_EXPIRES_SECONDS = 120
# Longest countdown of a message: longer waits are scores in the frontier.
LONGEST_COUNTDOWN_SECONDS = 60


class CeleryQueue:
    """Sends hints. A hint that cannot be sent is an error only where a person waits for it."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        members = str(app.conf.broker_write_url or "").count("://")
        self._retry_policy = {"max_retries": 2 * max(1, members), "interval_start": 0.1, "interval_step": 0.2}

    def ping(self) -> None:
        """Raises when the broker does not respond within a few seconds."""
        try:
            with self._app.connection_for_write() as connection:
                _reach(connection, 5)
        except OperationalError as exc:
            raise _unavailable() from exc

    def length(self, queue: str) -> int:
        """Number of messages in the queue."""
        return self.lengths([queue])[queue]

    def classification_length(self) -> int:
        """Jobs that wait for who classifies them."""
        return self.length(CLASSIFICATION)

    def lengths(self, queues: Iterable[str] = ALL) -> dict[str, int]:
        try:
            # A kept connection: connecting takes ten times as long as asking.
            with self._app.pool.acquire(block=True) as connection:
                _reach(connection, 3)
                try:
                    return {name: _length(connection, name) for name in queues}
                except connection.recoverable_connection_errors:  # its server has gone since it was used last
                    connection.collect()
                    _reach(connection, 3)
                    return {name: _length(connection, name) for name in queues}
        except OperationalError as exc:
            raise _unavailable() from exc

    def declare(self) -> None:
        """Make all queues, too those that no worker takes from yet: RabbitMQ binds them where messages wait."""
        try:
            with self._app.connection_for_write() as connection:
                _reach(connection, 5)
                for queue in self._app.amqp.queues.values():
                    queue(connection.default_channel).declare()
        except OperationalError as exc:
            raise _unavailable() from exc

    def start_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        """`later`, here and below: nobody sits and waits for it."""
        task = "crawler.start_crawl"
        self._send(task, {"crawl_id": str(crawl_id)}, _queue_of(task, later=later))

    def fetch(self, lane: Lane, countdown_seconds: float = 0) -> None:
        countdown = min(countdown_seconds, LONGEST_COUNTDOWN_SECONDS)
        # An old hint is worthless: the work it pointed at has been done or hinted again.
        message = {"lane": lane.value}
        self._send("crawler.fetch", message, OWN[LANE_QUEUE[lane]], countdown=countdown, expires=countdown + 120)

    def finish_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        task = "crawler.finish_crawl"
        self._send(task, {"crawl_id": str(crawl_id)}, ENDS[ROUTES[task]] if later else None)

    def tend_large_crawl(self, crawl_id: UUID) -> None:
        self._send("crawler.tend_large_crawl", {"crawl_id": str(crawl_id)})

    def run_queue(self) -> None:
        self._send("crawler.run_queue", {}, expires=QUEUE_SECONDS)

    def extract_entries(self, countdown_seconds: float = 0) -> None:
        expires = countdown_seconds + WORK_EXPIRES_SECONDS
        self._send("crawler.extract_entries", {}, countdown=countdown_seconds, expires=expires)

    def classify(self, task: str, handed: "Handed") -> None:
        """Send a job to another service, under the job's own id, however often it is sent."""
        try:
            self._app.send_task(
                task,
                kwargs=handed._asdict(),
                queue=durable_queue(CLASSIFICATION, self._app.conf.task_default_queue_type),
                task_id=handed.job_id,
                ignore_result=True,
                retry=True,
                retry_policy=self._retry_policy,
                argsrepr="()",
                kwargsrepr=f"{{'job_id': '{handed.job_id}', …}}",  # shown by monitors: without the page's text
            )
        except OperationalError as exc:
            raise _unavailable() from exc

    def ingest_documents(self) -> None:
        self._send("crawler.ingest_documents", {}, expires=WORK_EXPIRES_SECONDS)

    def embed_documents(self) -> None:
        self._send("crawler.embed_documents", {}, expires=WORK_EXPIRES_SECONDS)

    def reconcile(self) -> None:
        self._send("crawler.reconcile", {}, expires=60)

    def canary(self, queue: str) -> None:
        self._send("crawler.canary", {"queue": queue}, queue)

    def after_crawl(self, crawl_id: UUID, *, later: bool = False) -> None:
        """Send what runs after a crawl: the comparison, then notifications; and the report."""
        asked = {"kwargs": {"crawl_id": str(crawl_id)}, "immutable": True}
        compare, tell = "crawler.diff_crawl", "crawler.notify"
        steps = [
            self._app.signature(compare, queue=_queue_of(compare, later=later), **asked),
            self._app.signature(tell, queue=OWN_ROUTES[tell], **asked),
        ]
        try:
            chain(*steps, app=self._app).apply_async(ignore_result=True)
        except OperationalError as exc:
            raise _unavailable() from exc
        self._send("crawler.report_crawl", {"crawl_id": str(crawl_id)})

    def notify(self, crawl_id: UUID, countdown_seconds: float = 0) -> None:
        self._send("crawler.notify", {"crawl_id": str(crawl_id)}, countdown=countdown_seconds)

    def resend_notice(self, notification_id: UUID) -> None:
        """Send a notification again. A person waits for it, so the message expires if no worker takes it soon."""
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
                queue=queue or OWN_ROUTES[task],
                countdown=countdown or None,
                expires=expires,
                ignore_result=True,
                retry=True,
                retry_policy=self._retry_policy,
            )
        except OperationalError as exc:
            raise _unavailable() from exc


def _queue_of(task: str, *, later: bool) -> str:
    return LATER[ROUTES[task]] if later else OWN_ROUTES[task]


def _reach(connection: Any, seconds: float) -> None:
    """Connect, if need be to another member of the cluster. `seconds` for each of them."""
    members = max(1, len(connection.alt))
    connection.ensure_connection(max_retries=members, interval_start=0.1, timeout=members * seconds)


def _length(connection: Any, queue: str) -> int:
    try:
        if connection.transport.driver_type == "redis":
            return int(connection.default_channel.queue_declare(queue=queue, passive=True).message_count)
        with connection.channel() as channel:  # RabbitMQ closes a channel that asked for a missing queue
            return int(channel.queue_declare(queue=queue, passive=True).message_count)
    except ChannelError:  # no process has declared it: nothing was ever sent
        return 0


def _unavailable() -> RedisUnavailable:
    return RedisUnavailable("The Celery broker does not answer; check CRAWLER_BROKER_URL or CRAWLER_REDIS_URL.")
