"""Lost work is looked for whether beat runs or not, and not twice when it does."""

from types import SimpleNamespace

from crawler.errors import RedisUnavailable
from workers.reconcile_timer import TASK, Watch

EVERY = 15.0


class Coordinator:
    """A coordinator's timer, and beat beside it, for so many seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self.sent: list[float] = []
        self.redis_is_up = True
        self.watch = Watch(self._send, 1.2 * EVERY, lambda: self.now)

    def _send(self) -> None:
        if not self.redis_is_up:
            raise RedisUnavailable("gone")
        self.sent.append(self.now)
        self.watch.saw(SimpleNamespace(name=TASK))

    def run(self, seconds: int, *, beat: bool) -> list[float]:
        self.sent.clear()
        for _ in range(seconds):
            self.now += 1
            if beat and self.now % EVERY == 1:
                self.watch.saw(SimpleNamespace(name=TASK))
            if self.now % 3 == 0:
                self.watch.ask_if_late()
        return list(self.sent)


def test_while_beat_asks_the_coordinator_does_not() -> None:
    assert Coordinator().run(200, beat=True) == []


def test_without_beat_the_coordinator_asks_itself_about_as_often() -> None:
    asked = Coordinator().run(200, beat=False)
    assert len(asked) >= 200 / (1.5 * EVERY)
    assert asked[0] <= 1.5 * EVERY


def test_other_tasks_are_no_request_to_look_for_lost_work() -> None:
    coordinator = Coordinator()
    coordinator.now = 100
    coordinator.watch.saw(SimpleNamespace(name="crawler.start_crawl"))
    coordinator.watch.ask_if_late()
    assert coordinator.sent == [100]


def test_a_broker_that_is_away_is_asked_again_later() -> None:
    coordinator = Coordinator()
    coordinator.redis_is_up = False
    assert coordinator.run(60, beat=False) == []
    coordinator.redis_is_up = True
    assert coordinator.run(30, beat=False) != []
