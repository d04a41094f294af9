"""What a task makes of errors, without a worker; with real ones: tests/acceptance/test_tasks.py."""

import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from celery import Celery
from celery.exceptions import InvalidTaskError
from celery.worker import state
from structlog.contextvars import bind_contextvars, get_contextvars

from crawler.adapters.operating.celery_app import make_celery
from crawler.config import Settings
from crawler.domain.retries import TASK_WAITS_SECONDS
from crawler.errors import DatabaseUnavailable, NotFound
from workers.task_contract import LONGEST_ARGUMENTS, ContractTask, ShownRequest, TaskRefused, is_deep, shown

MakeTask = Callable[..., Any]


@pytest.fixture
def make_task() -> MakeTask:
    app = Celery(set_as_current=False, broker="memory://", backend="cache+memory://")

    def make(do: Callable[[], Any], **options: Any) -> Any:
        def work() -> Any:
            return do()

        return app.task(name="crawler.some_task", base=ContractTask, shared=False, **options)(work)

    return make


class Flaky:
    """Fails so many times."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.left:
            raise DatabaseUnavailable
        return "done"


def test_nobody_can_send_us_tasks_of_celery_itself() -> None:
    """They run ours by the thousand in one message, or themselves again for ever."""
    app = make_celery(Settings(redis_url="redis://localhost"))
    app.task(name="crawler.some_task", shared=False)(Flaky(0).__call__)
    assert list(app.tasks) == ["crawler.some_task"]


def test_a_start_waits_for_a_server_that_comes_back(make_task: MakeTask) -> None:
    flaky = Flaky(2)
    assert make_task(flaky, patient=True).apply().get() == "done"
    assert flaky.calls == 3


def test_a_start_gives_up_with_a_code_when_it_does_not(make_task: MakeTask) -> None:
    flaky = Flaky(99)
    refused = make_task(flaky, patient=True).apply().get(propagate=False)
    assert refused.args == ("database_unavailable", "Postgres does not answer.")
    assert flaky.calls == 1 + len(TASK_WAITS_SECONDS)


def test_a_hint_is_not_tried_again(make_task: MakeTask) -> None:
    flaky = Flaky(99)
    assert make_task(flaky).apply().get(propagate=False).args[0] == "database_unavailable"
    assert flaky.calls == 1


def test_no_wait_is_longer_than_what_celery_can_keep_on_redis() -> None:
    assert max(TASK_WAITS_SECONDS) <= 60


def test_a_refusal_names_no_secret_and_is_short(make_task: MakeTask) -> None:
    def fail() -> None:
        raise NotFound("There is no http://me:hunter2@h/ " + "x" * 10_000)

    code, sentence = make_task(fail).apply().get(propagate=False).args
    assert code == "not_found"
    assert "hunter2" not in sentence
    assert len(sentence) <= 500


def test_a_refusal_survives_the_way_from_child_to_parent() -> None:
    refused = TaskRefused("invalid", "It is not.")
    assert pickle.loads(pickle.dumps(refused)).args == refused.args


def test_what_one_task_binds_to_its_log_lines_is_not_on_those_of_the_next(make_task: MakeTask) -> None:
    seen: list[dict[str, Any]] = []

    def work() -> None:
        seen.append(dict(get_contextvars()))
        bind_contextvars(crawl_id="mine")

    task = make_task(work)
    task.apply().get()
    task.apply().get()
    assert seen == [{"task": "crawler.some_task"}] * 2
    assert get_contextvars() == {}


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ("{'crawl_id': 'a'}", "{'crawl_id': 'a'}"),
        ("{'seed_url': 'http://u:p@h/?key=1&page=2'}", "{'seed_url': 'http://…@h/?key=…&page=2'}"),
        ("{'password': 'x', 'lane': 'http'}", "{'password': '…', 'lane': 'http'}"),
        ("{'config': {'Authorization': \"Bearer x\"}}", "{'config': {'Authorization': '…'}}"),
        ("{'idempotency_key': 'mine'}", "{'idempotency_key': 'mine'}"),
        (None, ""),
        (5, "5"),
    ],
)
def test_monitors_are_shown_arguments_without_secrets(sent: object, seen: str) -> None:
    assert shown(sent) == seen


def test_monitors_are_shown_the_beginning_of_long_arguments() -> None:
    assert len(shown("'token" * 1_000_000)) <= LONGEST_ARGUMENTS


def test_depth_is_seen_without_going_deep() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = {"a": deep}
    assert is_deep(deep)
    assert not is_deep({"config": {"render_rule": {"words": [1, 2, (3,)]}}, "urls": ["u"] * 1000})


# -- messages with a countdown ----------------------------------------------------------------


def received(task: Any, countdown: timedelta) -> ShownRequest:
    eta = (datetime.now(UTC) + countdown).isoformat()
    message = SimpleNamespace(delivery_info={}, properties={}, headers={})
    headers = {"id": "some-id", "task": task.name, "eta": eta}
    return ShownRequest(message, app=task.app, task=task, headers=headers, body=((), {}, {}), decoded=True)


def test_a_message_that_waits_for_hours_is_refused(make_task: MakeTask) -> None:
    """A worker holds it in memory, and again each time that the broker thinks it was lost."""
    task = make_task(lambda: "done", ignore_result=False)
    with pytest.raises(InvalidTaskError, match="may wait for 5 minutes at most"):
        received(task, timedelta(hours=1))
    assert task.AsyncResult("some-id").result.args[0] == "invalid"


def test_a_message_that_waits_is_run_at_once_where_too_many_are_held(
    make_task: MakeTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make_task(lambda: "done")
    assert received(task, timedelta(seconds=60)).eta is not None
    monkeypatch.setattr(state, "scheduled_requests", range(5000))
    assert received(task, timedelta(seconds=60)).eta is None


def test_a_worker_takes_messages_however_many_wait() -> None:
    """Celery's own limit would count the waiting ones against those that are due."""
    assert make_celery(Settings(redis_url="redis://localhost")).conf.worker_eta_task_limit is None
