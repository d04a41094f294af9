"""Queues that a cluster of RabbitMQ copies to its members. `make chaos` runs such a cluster."""

from importlib import import_module
from typing import Any

import pytest
from celery import Celery

from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.queues import ENDS, LATER, OWN, QUEUES
from crawler.config import load_settings

CLUSTER = "amqp://u:p@one//;amqp://u:p@two//;amqp://u:p@three//"


def app(queue_type: str) -> Celery:
    settings = load_settings(redis_url="redis://host/0", broker_url=CLUSTER, broker_queue_type=queue_type)
    return make_celery(settings)


def test_queues_are_declared_as_asked_for() -> None:
    for queue_type, arguments, exchange in (
        ("classic", None, "direct"),
        ("quorum", {"x-queue-type": "quorum"}, "topic"),
    ):
        queues = app(queue_type).amqp.queues
        assert set(queues) == {*QUEUES, *OWN.values(), *LATER.values(), *ENDS.values()}
        for queue in queues.values():
            assert (queue.queue_arguments, queue.exchange.type, queue.durable) == (arguments, exchange, True)


def test_all_members_of_a_cluster_are_tried() -> None:
    for connection in (app("quorum").connection_for_read(), app("quorum").connection_for_write()):
        assert connection.alt == CLUSTER.split(";")


@pytest.mark.parametrize(("countdown", "waits"), [(0.4, 1), (1, 1), (2.7, 2), (37, 37)])
def test_messages_wait_in_the_broker_for_whole_seconds(countdown: float, waits: int) -> None:
    """Celery itself fails for a wait of less than a second."""
    kombu: Any = import_module("kombu")
    waiting = kombu.Queue("waiting", kombu.Exchange("celery_delayed_27", "topic"), routing_key="#")
    with kombu.Connection("memory://") as connection:
        bound = waiting(connection.default_channel)
        bound.declare()
        bound.purge()
        app("quorum").send_task(
            "crawler.fetch", queue="fetch", countdown=countdown, ignore_result=True, producer=connection.Producer()
        )
        message = bound.get(no_ack=True)
    assert message is not None
    *bits, queue = message.delivery_info["routing_key"].split(".")
    assert (int("".join(bits), 2), queue) == (waits, "fetch")
