from collections.abc import Iterable

import pytest

from crawler.domain.canaries import EVERY_SECONDS, PATIENCE_SECONDS, Canary
from crawler.handlers.operating.send_canaries import send_canaries

NOW = 1_000_000.0


@pytest.mark.parametrize(
    ("canary", "due"),
    [
        (Canary(), True),
        (Canary(NOW - 1, NOW - 1, NOW), False),
        (Canary(NOW - EVERY_SECONDS, NOW - EVERY_SECONDS, NOW - 1), True),
        (Canary(NOW - EVERY_SECONDS, NOW - EVERY_SECONDS), False),
        (Canary(NOW - PATIENCE_SECONDS, NOW - PATIENCE_SECONDS), True),
        (Canary(NOW - 9999, NOW - 1), False),
    ],
)
def test_one_is_sent_each_minute_and_again_when_it_may_be_lost(canary: Canary, due: bool) -> None:
    assert canary.is_due(NOW) is due


def test_a_queue_owes_an_answer_since_the_first_one_that_was_not_run() -> None:
    assert Canary(NOW - 500, NOW - 20, NOW - 600).waits(NOW) == 500
    assert Canary(NOW - 500, NOW - 20, NOW - 10).waits(NOW) == 0
    assert Canary(NOW + 5, NOW + 5).waits(NOW) == 0, "clocks differ a little"


class Queues:
    """A book and a broker."""

    def __init__(self) -> None:
        self.canaries: dict[str, Canary] = {}
        self.waiting: list[str] = []

    def read(self, queues: Iterable[str]) -> dict[str, Canary]:
        return {queue: self.canaries.get(queue, Canary()) for queue in queues}

    def record_sent(self, queue: str, now: float, *, again: bool) -> None:
        known = self.canaries.get(queue, Canary())
        self.canaries[queue] = known._replace(tried_at=now, **({} if again else {"sent_at": now}))

    def canary(self, queue: str) -> None:
        self.waiting.append(queue)

    def length(self, queue: str) -> int:
        return self.waiting.count(queue)


def test_where_nobody_works_one_canary_waits_and_no_more() -> None:
    queues = Queues()
    for minute in range(100):
        send_canaries(queues, queues, ["render"], NOW + 60 * minute)
    assert queues.waiting == ["render"]
    assert queues.canaries["render"].waits(NOW + 6000) == 6000


def test_a_lost_canary_is_followed_by_another() -> None:
    queues = Queues()
    send_canaries(queues, queues, ["fetch"], NOW)
    queues.waiting.clear()  # taken, and its worker killed
    send_canaries(queues, queues, ["fetch"], NOW + PATIENCE_SECONDS)
    assert queues.waiting == ["fetch"]
