"""Another broker than Redis."""

import signal
import time
from uuid import UUID

from celery import Celery

from crawler.domain.crawls.project import Project
from tests.chaos.rabbit import Rabbit, why_absent
from tests.chaos.scenario import QUICK_HOST, Arena, scenario
from tests.chaos.stack import Stack

COPIED = {"CRAWLER_BROKER_QUEUE_TYPE": "quorum"}
KEPT = 25


@scenario(seconds=90, rabbit=1, needs=why_absent)
def rabbitmq(arena: Arena) -> None:
    """Celery's messages go through RabbitMQ, which is killed and comes back in the middle."""
    stack = arena.stack
    arena.under_way()
    _servers(stack).restart()
    arena.recovers(90)
    stack.wait_done(arena.crawls, 90)
    assert sum(stack.tools.hints.lengths().values()) < 20, stack.tools.hints.lengths()
    _nothing_in_redis(stack)


@scenario(seconds=90, pages=600, rabbit=3, environment=COPIED, needs=why_absent)
def killed_rabbitmq_member(arena: Arena) -> None:
    """`kill -9` of the member of a cluster that all use, and of another one when it is back: no message is lost."""
    stack, rabbit = arena.stack, _servers(arena.stack)
    for _ in range(KEPT):
        stack.tools.hints.canary("ingest")  # nobody takes from it here
    arena.under_way()
    rabbit.kill_node(0)
    arena.recovers(30)
    rabbit.start_node(0)
    rabbit.kill_node(arena.rng.choice((1, 2)))
    arena.recovers(30)
    stack.wait_done(arena.crawls, 90)
    assert stack.tools.hints.length("ingest") >= KEPT, stack.tools.hints.lengths()
    _nothing_in_redis(stack)
    _start_from_a_service(stack)


@scenario(seconds=90, pages=600, rabbit=3, environment=COPIED, needs=why_absent)
def frozen_rabbitmq_member(arena: Arena) -> None:
    """The member of a cluster that all use is silent for more than half a minute, as a machine without power is."""
    rabbit = _servers(arena.stack)
    arena.under_way()
    rabbit.signal_node(0, signal.SIGSTOP)
    time.sleep(15)  # what was under way goes on for a while
    arena.recovers(45)
    time.sleep(20)
    rabbit.signal_node(0, signal.SIGCONT)
    arena.recovers(30)


@scenario(seconds=90, rabbit=3, environment=COPIED, needs=why_absent)
def rabbitmq_without_majority(arena: Arena) -> None:
    """Two of three members are gone for a while: nobody confirms a message, and nobody hangs for ever."""
    rabbit = _servers(arena.stack)
    arena.under_way()
    for number in (0, 1):
        rabbit.kill_node(number)
    time.sleep(15)
    for number in (0, 1):
        rabbit.start_node(number)
    arena.recovers(60)


def _servers(stack: Stack) -> Rabbit:
    assert stack.rabbit is not None
    return stack.rabbit


def _start_from_a_service(stack: Stack) -> None:
    """As docs/reference/tasks.md tells others to do it."""
    name, url = "of a service", stack.site.url(host=QUICK_HOST)
    project = stack.tools.store.add_project(Project.create(name=name, website_url=url, now=stack.tools.clock()))
    other = Celery(broker=_servers(stack).url, set_as_current=False)
    other.conf.update(task_create_missing_queue_type="quorum", task_create_missing_queue_exchange_type="topic")
    message = {"project_id": str(project.id), "config": {"max_pages": 1}}
    other.send_task("crawler.start_crawl", kwargs=message, queue="coordinator", ignore_result=True)
    stack.eventually(lambda: _all_over(stack, project.id), 30, "the service's crawl is over")


def _all_over(stack: Stack, project_id: UUID) -> bool:
    crawls = stack.tools.store.list_crawls(project_id)
    return bool(crawls) and all(crawl.status.is_over for crawl in crawls)


def _nothing_in_redis(stack: Stack) -> None:
    with stack.servers.redis(1) as redis:
        queues = [name for name in ("coordinator", "control", "fetch", "own_fetch") if redis.exists(name)]
    assert not queues, f"{queues} are in Redis"
