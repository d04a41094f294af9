"""Our own messages wait behind nobody else's, whichever task others send in great numbers."""

import pytest
from celery import Celery

from crawler.adapters.operating.celery_app import make_celery
from crawler.adapters.operating.queues import ENDS, LANE_QUEUE, LATER, OWN, OWN_ROUTES, QUEUES, ROUTES
from crawler.config import load_settings
from workers.own_queues import take_own_queues


def a_worker_on(*queues: str) -> Celery:
    app = make_celery(load_settings(redis_url="redis://host/0"))
    app.amqp.queues.select(queues)
    take_own_queues(app)
    return app


def test_no_task_of_ours_goes_through_a_queue_that_others_send_it_to() -> None:
    assert {*ROUTES.values(), *LANE_QUEUE.values()} == OWN.keys()
    assert not set(OWN_ROUTES.values()) & set(QUEUES)


def test_runs_by_a_schedule_wait_apart_from_crawls_that_somebody_starts() -> None:
    assert OWN_ROUTES["crawler.run_scheduled_crawl"] == LATER["coordinator"] != OWN_ROUTES["crawler.start_crawl"]
    assert OWN_ROUTES["crawler.report_crawl"] == LATER["compare"] != OWN_ROUTES["crawler.diff_crawl"]


@pytest.mark.parametrize("queue", OWN)
def test_whoever_takes_messages_of_others_takes_ours(queue: str) -> None:
    later = {ours[queue] for ours in (LATER, ENDS) if queue in ours}
    assert a_worker_on(queue).amqp.queues.consume_from.keys() == {queue, OWN[queue], *later}


def test_fetchers_take_nothing_else() -> None:
    taken = a_worker_on("fetch", "render").amqp.queues.consume_from.keys()
    assert taken == {"fetch", "own_fetch", "render", "own_render"}
