"""The base class of all tasks: checks arguments, maps errors, retries. docs/reference/tasks.md is its contract.

Arguments are checked before anything is done. An error is returned once, as a code for programs and a sentence for
people, in a form that callers can read without our classes. Only a server that does not answer is retried, a few times.

Task names are in `workers/tasks.py`, their queues in `crawler/adapters/operating/queues.py`.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn

from celery import Task
from celery.exceptions import InvalidTaskError
from celery.worker import state
from celery.worker.request import Request
from celery.worker.strategy import default
from kombu.exceptions import OperationalError
from structlog.contextvars import bind_contextvars, clear_contextvars

from crawler import telemetry
from crawler.domain.retries import TASK_WAITS_SECONDS
from crawler.errors import CrawlerError, Unavailable
from crawler.redaction import redact

log = telemetry.logger(__name__)

LONGEST_SENTENCE = 500
LONGEST_ARGUMENTS = 2000
"""The longest text of arguments for monitors; Celery's own senders shorten it too."""
MOST_LEVELS = 60
LONGEST_WAIT = timedelta(minutes=5)
"""Of a message with a countdown. Workers hold such messages in memory, and the broker sends those again that are held
for ten minutes: each would be held many times over."""
MOST_WAITING = 5000
"""Messages with a countdown that a worker holds. What comes on top is run at once, which does no harm: it is a hint, or
the start of a crawl within minutes."""
_IDS = ("crawl_id", "project_id")
_SECRET = re.compile(
    r"""(['"](?!idempotency_key)[^'"]*(?:token|key|sig|password|secret|authorization|cookie)[^'"]*['"]: )(['"]).*?\2""",
    re.IGNORECASE,
)


class TaskRefused(Exception):
    """Its arguments are a stable code and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code, redact(sentence[:LONGEST_SENTENCE]))


def careful(task: Task, app: Any, consumer: Any, **options: Any) -> Callable[..., Any]:
    """Celery's strategy to receive messages. Unreadable messages are dropped and logged, and do not end the worker."""
    receive = default(task, app, consumer, **options)

    def receive_carefully(*args: Any, **kwargs: Any) -> Any:
        try:
            return receive(*args, **kwargs)
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise InvalidTaskError(f"not a message of Celery: {exc}") from exc

    return receive_carefully


class ShownRequest(Request):  # type: ignore[misc]
    """A message in the worker's main process. Monitors see its arguments without secrets."""

    _eta: datetime | None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._argsrepr: str = shown(self._request_dict.get("argsrepr"))
        self._kwargsrepr: str = shown(self._request_dict.get("kwargsrepr"))
        if is_deep(self._request_dict):
            self._refuse(TaskRefused("invalid", "The arguments are nested too deep."))
        if self._eta is not None:
            self._check_wait(self._eta - datetime.now(UTC))

    def _check_wait(self, wait: timedelta) -> None:
        if wait > LONGEST_WAIT:
            words = f"A message may wait for {LONGEST_WAIT.seconds // 60} minutes at most (countdown, eta)."
            self._refuse(TaskRefused("invalid", f"{words} Send it when it is time, or give the project a schedule."))
        if len(state.scheduled_requests) >= MOST_WAITING:
            self._eta = None

    def info(self, safe: bool = True) -> dict[str, Any]:  # noqa: ARG002 - they are never shown as they came
        told: dict[str, Any] = super().info(safe=True)
        return told

    def _refuse(self, refused: TaskRefused) -> NoReturn:
        """Refuse a message before it goes to a child process.

        One that cannot be pickled would end this process, and again after each restart.
        """
        self.task.backend.mark_as_failure(self.id, refused, request=self._context, store_result=self.store_errors)
        raise InvalidTaskError(refused.args[1])


def is_deep(value: object) -> bool:
    level = [value]
    for _ in range(MOST_LEVELS):
        inner = [held for found in level if isinstance(found, dict) for held in found.values()]
        inner += [held for found in level if isinstance(found, list | tuple) for held in found]
        level = [held for held in inner if isinstance(held, dict | list | tuple)]
        if not level:
            return False
    return True


def shown(arguments: object) -> str:
    return redact(_SECRET.sub(r"\1'…'", str(arguments or "")[:LONGEST_ARGUMENTS]))


class ContractTask(Task):  # type: ignore[misc]
    """The base class of all tasks."""

    Strategy = "workers.task_contract:careful"
    Request = "workers.task_contract:ShownRequest"
    throws = (TaskRefused,)
    patient = False
    """Whether the task is retried when a server does not answer. Hints are not, because they are sent again anyway."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bind_contextvars(task=self.name, **_ids(kwargs))
        try:
            with self._refusals():
                self._check_call(args, kwargs)
                return self.run(*args, **kwargs)
        finally:
            clear_contextvars()  # including ids that the task itself has bound

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except Unavailable as exc:
            self._try_again(exc)
            self._refuse(exc)
        except CrawlerError as exc:
            self._refuse(exc)

    def _check_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        try:
            inspect.signature(self.run).bind(*args, **kwargs)
        except TypeError as exc:
            raise _told("invalid", f"{self.name}: {exc}.") from None

    def _try_again(self, exc: Unavailable) -> None:
        tries = self.request.retries or 0
        if not self.patient or self.request.called_directly or tries >= len(TASK_WAITS_SECONDS):
            return
        log.warning("task_waits", code=exc.code, detail=exc.message, seconds=TASK_WAITS_SECONDS[tries])
        try:
            self.retry(countdown=TASK_WAITS_SECONDS[tries], max_retries=len(TASK_WAITS_SECONDS), exc=exc)
        except OperationalError:  # the broker does not answer either
            return

    def _refuse(self, exc: CrawlerError) -> NoReturn:
        raise _told(exc.code, exc.message) from None


def _told(code: str, sentence: str) -> TaskRefused:
    refused = TaskRefused(code, sentence)
    log.warning("task_refused", code=code, detail=refused.args[1])
    return refused


def _ids(kwargs: dict[str, Any]) -> dict[str, str]:
    """Ids from the arguments, for the log lines of everything the task calls."""
    return {name: str(kwargs[name])[:40] for name in _IDS if kwargs.get(name)}
