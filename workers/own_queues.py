"""Beside the queues that a worker was told, it takes our own ones."""

from celery import Celery

from crawler.adapters.operating.queues import ENDS, LATER, OWN


def take_own_queues(app: Celery) -> None:
    """Whoever takes messages of others takes our own of that kind, too, however it was started."""
    taken = set(app.amqp.queues.consume_from)
    for ours in (OWN, LATER, ENDS):
        for queue in ours.keys() & taken:
            app.amqp.queues.select_add(app.amqp.queues[ours[queue]])
