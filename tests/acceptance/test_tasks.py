"""The contract of docs/reference/tasks.md, kept by real workers for callers who have nothing of ours but Celery."""

import ast
import base64
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import redis
from celery import Celery
from celery.exceptions import NotRegistered

from crawler.bootstrap import App, build
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.embedded import Servers
from crawler.entrypoints.processes import child_environment, worker
from crawler.supervisor import FileOutput, Supervisor
from tests.databases import MakeDatabase
from tests.site.client import Site

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "enqueue.py"
HARMLESS = "http://127.0.0.1:9/"
"""Nobody listens there."""
pytestmark = [pytest.mark.slow, pytest.mark.stack]


@dataclass
class Workers:
    """A coordinator and a fetcher, and a caller that is not of this house."""

    tools: App
    broker: str
    foreign: Celery
    logs: Path
    supervisor: Supervisor
    site: Site

    def project(self, url: str | None = HARMLESS) -> Project:
        made = Project.create(name=str(uuid4()), website_url=url, now=self.tools.clock())
        return self.tools.store.add_project(
            made.changed(made.created_at, settings={"render": "never", "delay_seconds": 0})
        )

    def send(self, task: str = "crawler.start_crawl", queue: str = "coordinator", **message: Any) -> Any:
        return self.foreign.send_task(task, queue=queue, **message)

    def start(self, **arguments: Any) -> str:
        return str(self.send(kwargs=arguments).get(timeout=60))

    def refusal(self, task: str = "crawler.start_crawl", **message: Any) -> tuple[str, str]:
        """Code and sentence, as a caller gets them."""
        answer = self.send(task, **message).get(timeout=60, propagate=False)
        assert type(answer).__name__ == "TaskRefused", repr(answer)
        code, sentence = answer.args
        return code, sentence

    def crawl_over(self, crawl_id: str, seconds: float = 60) -> CrawlJob:
        until = time.monotonic() + seconds
        while True:
            crawl = self.tools.store.get_crawl(UUID(crawl_id))
            if crawl.status.is_over:
                return crawl
            assert time.monotonic() < until, f"{crawl}\n{self.log('control')}\n{self.log('fetch')}"
            time.sleep(0.1)

    def log(self, name: str) -> str:
        return (self.logs / f"{name}.log").read_text(errors="replace")

    def waiting(self) -> int:
        """Messages that wait, or were taken and not acknowledged."""
        with redis.Redis.from_url(self.tools.settings.redis_database(1)) as client:
            return int(client.llen("coordinator")) + int(client.hlen("unacked"))


@pytest.fixture(scope="module")
def workers(
    embedded_servers: Servers, make_module_database: MakeDatabase, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workers]:
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        client.flushall()
    data_dir = tmp_path_factory.mktemp("tasks")
    settings = load_settings(
        database_url=make_module_database(),
        redis_url=embedded_servers.redis_url,
        data_dir=data_dir,
        egress_allow="127.0.0.0/8",
        reconcile_seconds=1,
    )
    tools, env = build(settings), child_environment(settings)
    control = worker("control", "coordinator,compare,notify", "-c", "2", env=env)
    specs = [control, worker("fetch", "fetch", "-c", "1", env=env)]
    supervisor = Supervisor(specs, FileOutput(data_dir / "logs"))
    foreign = Celery("foreign", broker=settings.broker, backend=settings.results, set_as_current=False)
    supervisor.start()
    try:
        with Site(data_dir, hosts=1, pages=3) as site:
            yield Workers(tools, settings.broker, foreign, data_dir / "logs", supervisor, site)
    finally:
        supervisor.stop(15)
        foreign.close()
        tools.database.dispose()
        tools.redis.close()


@pytest.fixture(autouse=True)
def _alive_and_idle_afterwards(workers: Workers) -> Iterator[None]:
    """Whatever a caller sends: no worker dies of it, and nothing is tried for ever."""
    before = [state.pid for state in workers.supervisor.poll()]
    yield
    assert [state.pid for state in workers.supervisor.poll()] == before, workers.log("control")
    assert eventually(lambda: workers.waiting() == 0), workers.log("control")


def eventually(what: Callable[[], bool], seconds: float = 30) -> bool:
    until = time.monotonic() + seconds
    while not what():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


# -- the example ------------------------------------------------------------------------------


def run_example(workers: Workers, project_id: str, directory: Path) -> "subprocess.CompletedProcess[str]":
    """Elsewhere, with no setting of ours in its surroundings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CRAWLER_")}
    env["BROKER_URL"] = workers.broker
    command = [sys.executable, str(EXAMPLE), project_id]
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, timeout=90, check=False)


def test_the_example_is_short_and_imports_nothing_of_ours() -> None:
    source = EXAMPLE.read_text()
    assert len(source.splitlines()) <= 20
    imported = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in imported}
    assert names == {"os", "sys", "celery"}


def test_the_example_starts_a_crawl_and_gets_its_id(workers: Workers, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=1, pages=5) as site:
        project = workers.project(site.url())
        done = run_example(workers, str(project.id), tmp_path)
        assert done.returncode == 0, done.stderr + workers.log("control")
        word, crawl_id = done.stdout.split()
        assert word == "crawl"
        crawl = workers.crawl_over(crawl_id)
    assert (crawl.project_id, crawl.status.value) == (project.id, "completed")
    assert crawl.pages_crawled > 0


def test_the_example_shows_why_a_start_was_refused(workers: Workers, tmp_path: Path) -> None:
    unknown = str(uuid4())
    done = run_example(workers, unknown, tmp_path)
    assert done.returncode == 1
    assert done.stderr == f"not_found: There is no project {unknown}.\n"


# -- what is refused --------------------------------------------------------------------------

SOME_ID = "019a0000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({}, "invalid", "Give a project_id for a new crawl, or the crawl_id"),
        ({"project_id": SOME_ID, "crawl_id": SOME_ID}, "invalid", "Give a project_id"),
        ({"project_id": SOME_ID}, "not_found", f"There is no project {SOME_ID}."),
        ({"crawl_id": SOME_ID}, "not_found", f"There is no crawl {SOME_ID}."),
        ({"project_id": "first"}, "invalid", "project_id: Input should be a valid UUID"),
        ({"project_id": 7}, "invalid", "project_id:"),
        ({"project_id": SOME_ID, "colour": "red"}, "invalid", "unexpected keyword argument 'colour'"),
        ({"project_id": SOME_ID, "urls": "http://example.org/"}, "invalid", "urls: Input should be a valid list"),
        ({"project_id": SOME_ID, "urls": [1]}, "invalid", "urls.0: Input should be a valid string"),
        ({"project_id": SOME_ID, "urls": ["http://h/"] * 1001}, "invalid", "at most 1000 items"),
        ({"project_id": SOME_ID, "config": "max_pages=5"}, "invalid", "config: Input should be a valid dictionary"),
        ({"project_id": SOME_ID, "crawl_type": "daily"}, "invalid", "crawl_type: Input should be 'initial'"),
        ({"project_id": SOME_ID, "seed_url": 5}, "invalid", "seed_url: Input should be a valid string"),
        ({"project_id": SOME_ID, "idempotency_key": ""}, "invalid", "idempotency_key: String should have at least 1"),
        ({"project_id": SOME_ID, "idempotency_key": "a\x00b"}, "invalid", "holds a NUL"),
        ({"project_id": SOME_ID, "idempotency_key": "\ud800"}, "invalid", "idempotency_key: Input should be"),
        ({"project_id": SOME_ID, "config": {"path_prefix": "/\ud800"}}, "invalid", "half a character"),
    ],
)
def test_wrong_arguments_are_refused_with_a_code_and_a_sentence(
    workers: Workers, arguments: dict[str, Any], code: str, words: str
) -> None:
    found, sentence = workers.refusal(kwargs=arguments)
    assert (found, words in sentence) == (code, True), (found, sentence)
    assert len(sentence) <= 500


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"colour": "red"}, "colour: Extra inputs are not permitted."),
        ({"max_pages": 0}, "max_pages: Input should be greater than 0."),
        ({"max_pages": 10**6}, "max_pages is 1000000, but at most 1000 are allowed here"),
        ({"include_patterns": ["(?=a)"]}, "is not a valid regular expression"),
        ({"include_patterns": ["("]}, "is not a valid regular expression"),
        ({"include_patterns": ["a"] * 1000}, "include_patterns"),
        ({"exclude_patterns": ["a" * 2000]}, "exclude_patterns"),
        ({"path_prefix": "/" + "a" * 100_000}, "config is larger than 65536 bytes"),
        ({"delay_seconds": "soon"}, "delay_seconds"),
        ({"path_prefix": "/\x00"}, "holds a NUL"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_made(
    workers: Workers, config: dict[str, Any], words: str
) -> None:
    project = workers.project()
    code, sentence = workers.refusal(kwargs={"project_id": str(project.id), "config": config})
    assert code in {"invalid", "invalid_config", "invalid_pattern"}
    assert words in sentence
    assert workers.tools.store.list_crawls(project.id) == []


@pytest.mark.parametrize(
    "url",
    ["ftp://h/", "file:///etc/passwd", "http://a@b@c/", "http://h:99999/", "<script>alert(1)</script>", "\x1b[2J"],
)
def test_an_address_that_is_none_is_refused_and_steers_no_terminal(workers: Workers, url: str) -> None:
    project = workers.project()
    for given in ({"seed_url": url}, {"urls": [url]}):
        code, sentence = workers.refusal(kwargs={"project_id": str(project.id), **given})
        assert code == "invalid_url"
        assert "\x1b" not in sentence


@pytest.mark.parametrize("task", ["crawler.finish_crawl", "crawler.diff_crawl", "crawler.report_crawl"])
def test_the_other_tasks_refuse_in_the_same_way(workers: Workers, task: str) -> None:
    assert workers.refusal(task, kwargs={"crawl_id": "x"})[0] == "invalid"
    assert workers.refusal(task, kwargs={"crawl_id": SOME_ID})[0] == "not_found"
    assert workers.refusal(task, kwargs={})[0] == "invalid"
    assert workers.refusal(task, args=[SOME_ID, "more"])[0] == "invalid"


def test_a_comparison_is_repeated_only_if_that_is_true_or_false(workers: Workers) -> None:
    for given in ("more", 1, None):
        assert workers.refusal("crawler.diff_crawl", kwargs={"crawl_id": SOME_ID, "again": given})[0] == "invalid"
    assert workers.refusal("crawler.diff_crawl", kwargs={"crawl_id": SOME_ID, "again": True})[0] == "not_found"


def test_a_giant_message_is_refused_and_its_answer_is_small(workers: Workers) -> None:
    huge, large = "a" * 20_000_000, "a" * 2_000_000
    for arguments in ({"seed_url": huge}, {"config": {large: 1}}, {"urls": [large]}, {large: 1}):
        code, sentence = workers.refusal(kwargs={"project_id": SOME_ID, **arguments})
        assert code == "invalid"
        assert len(sentence) <= 500


@pytest.mark.parametrize("levels", [100, 900])
def test_a_message_nested_too_deep_is_refused_and_ends_no_worker(workers: Workers, levels: int) -> None:
    nested: Any = []
    for _ in range(levels):
        nested = [nested]
    code, sentence = workers.refusal(kwargs={"project_id": SOME_ID, "config": {"include_patterns": nested}})
    assert (code, sentence) == ("invalid", "The arguments are nested too deep.")


def push(workers: Workers, body: bytes, content_type: str = "application/json", **headers: Any) -> None:
    """As it is, past Celery."""
    id_ = str(uuid4())
    message = {
        "body": base64.b64encode(body).decode(),
        "content-encoding": "utf-8" if content_type.endswith("json") else "binary",
        "content-type": content_type,
        "headers": {"lang": "py", "task": "crawler.start_crawl", "id": id_, "root_id": id_, **headers},
        "properties": {
            "correlation_id": id_,
            "delivery_mode": 2,
            "delivery_info": {"exchange": "", "routing_key": "coordinator"},
            "priority": 0,
            "body_encoding": "base64",
            "delivery_tag": id_,
        },
    }
    with redis.Redis.from_url(workers.tools.settings.redis_database(1)) as client:
        client.lpush("coordinator", json.dumps(message))


def test_a_pickle_is_not_read(workers: Workers, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (trap,)

    push(workers, pickle.dumps(((), {"crawl_id": Trap()}, {})), "application/x-python-serialize")
    assert eventually(lambda: "Refusing to deserialize" in workers.log("control"))
    assert not trap.exists()


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"[]", {}),
        (b"5", {}),
        (b"{", {}),
        (b"[5, 7, 9]", {}),
        (b'["abc", "abc", null]', {}),
        (b"[" * 5000, {}),
        (b"[[], {}, {}]", {"eta": "soon"}),
        (b"[[], {}, {}]", {"expires": {}}),
        (b"[[], {}, {}]", {"argsrepr": 5, "kwargsrepr": [1]}),
        (b"[[], {}, {}]", {"task": 5}),
    ],
)
def test_a_message_that_is_none_of_celerys_is_dropped(workers: Workers, body: bytes, headers: dict[str, Any]) -> None:
    push(workers, body, **headers)
    assert eventually(lambda: workers.waiting() == 0), workers.log("control")
    assert workers.refusal(kwargs={})[0] == "invalid", "the next one is read"


def test_an_unknown_task_is_told_to_its_caller(workers: Workers) -> None:
    with pytest.raises(NotRegistered, match="crawler\\.no_such_task"):
        workers.send("crawler.no_such_task").get(timeout=60)


def test_a_lane_that_is_none_is_refused_and_logged(workers: Workers) -> None:
    workers.send("crawler.fetch", queue="fetch", kwargs={"lane": "fast"})
    assert eventually(lambda: "lane: it must be http or browser." in workers.log("fetch"))


# -- what is the same -------------------------------------------------------------------------


def test_the_same_key_is_the_same_crawl_whatever_became_of_it(workers: Workers) -> None:
    project, key = str(workers.project(workers.site.url()).id), str(uuid4())
    first = workers.start(project_id=project, idempotency_key=key)
    assert workers.start(project_id=project, idempotency_key=key) == first
    workers.crawl_over(first)
    assert workers.start(project_id=project, idempotency_key=key) == first
    assert workers.start(project_id=project, idempotency_key=str(uuid4())) != first


def test_a_key_of_another_project_is_refused(workers: Workers) -> None:
    key = str(uuid4())
    workers.start(project_id=str(workers.project(workers.site.url()).id), idempotency_key=key)
    other = workers.project()
    code, sentence = workers.refusal(kwargs={"project_id": str(other.id), "idempotency_key": key})
    assert (code, "another project" in sentence) == ("conflict", True)
    assert workers.tools.store.list_crawls(other.id) == []


def test_a_message_that_comes_twice_starts_one_crawl(workers: Workers) -> None:
    project, task_id = workers.project(workers.site.url()), str(uuid4())
    first = workers.send(kwargs={"project_id": str(project.id)}, task_id=task_id).get(timeout=60)
    workers.foreign.backend.forget(task_id)
    again = workers.send(kwargs={"project_id": str(project.id)}, task_id=task_id).get(timeout=60)
    assert again == first
    assert len(workers.tools.store.list_crawls(project.id)) == 1


def test_a_project_that_is_being_crawled_is_refused_by_the_name_of_its_crawl(workers: Workers, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=1, pages=5) as site:
        held = site.set_fault(hang=True)
        project = str(workers.project(site.url()).id)
        running = workers.start(project_id=project)
        code, sentence = workers.refusal(kwargs={"project_id": project})
        assert (code, running in sentence) == ("crawl_running", True)
        site.mend(held)
        site.drop_connections()
        workers.crawl_over(running)


def test_a_list_of_addresses_is_fetched_and_nothing_else(workers: Workers, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=1, pages=5) as site:
        project = str(workers.project(None).id)
        crawl = workers.crawl_over(workers.start(project_id=project, urls=[site.url(), site.url("/missing")]))
    assert (crawl.crawl_type.value, crawl.total_discovered) == ("fetch_only", 2)


# -- what is shown ----------------------------------------------------------------------------


def test_monitors_see_names_and_arguments_but_no_secrets(workers: Workers) -> None:
    events: list[dict[str, Any]] = []
    connection = workers.foreign.connection_for_read()
    receiver = workers.foreign.events.Receiver(connection, handlers={"*": events.append})
    watcher = threading.Thread(target=receiver.capture, kwargs={"limit": None, "timeout": None, "wakeup": False})
    watcher.start()
    assert eventually(lambda: bool(events)), "it watches"
    secret = "hunter2"
    sent = workers.send(
        kwargs={
            "project_id": SOME_ID,
            "seed_url": f"http://me:{secret}@example.org/?access_token={secret}&page=2",
            "password": secret,
        }
    )
    assert "unexpected keyword" in str(sent.get(timeout=60, propagate=False))
    assert eventually(lambda: any(event["type"] == "task-failed" and event["uuid"] == sent.id for event in events))
    receiver.should_stop = True
    watcher.join(30)
    connection.release()
    (event,) = [event for event in events if event["type"] == "task-received" and event["uuid"] == sent.id]
    assert event["name"] == "crawler.start_crawl"
    assert SOME_ID in event["kwargs"]
    assert "page=2" in event["kwargs"]
    assert secret not in str(events)
    assert secret not in workers.log("control")


def test_log_lines_of_a_task_carry_its_ids(workers: Workers) -> None:
    project = workers.project(workers.site.url())
    crawl_id = workers.start(project_id=str(project.id))

    def lines() -> list[str]:
        return [line for line in workers.log("control").splitlines() if crawl_id in line and "crawl_started" in line]

    assert eventually(lambda: bool(lines()))
    words = (f"crawl_id={crawl_id}", f"project_id={project.id}", "task=crawler.start_crawl")
    assert any(all(word in line for word in words) for line in lines()), lines()


def test_canaries_tell_consumed_queues_from_others(workers: Workers) -> None:
    book = workers.tools.operating.canaries
    assert eventually(lambda: all(book.read([queue])[queue].run_at for queue in ("coordinator", "notify", "fetch")))
    neglected = book.read(["render"])["render"]
    assert neglected.is_out
    assert neglected.waits(time.time()) > 0


def test_a_service_that_sends_a_great_many_starts_holds_up_nobody_elses(workers: Workers) -> None:
    """Ours go through a queue of their own, and both are taken from in turn."""
    project = workers.project(workers.site.url())
    with redis.Redis.from_url(workers.tools.settings.redis_database(1)) as client:
        for _ in range(1500):
            workers.send(kwargs={"project_id": str(uuid4())}, ignore_result=True)
        crawl = workers.tools.crawls.start(project.id)
        workers.tools.hints.start_crawl(crawl.id)
        assert workers.crawl_over(str(crawl.id)).pages_crawled == 3
        assert client.llen("coordinator") > 0, "all of them came before"
        client.delete("coordinator")
