"""Responses that take long to be unpacked leave time to others: a round is short, and who used least comes first."""

import pytest

from crawler.adapters.curl.turns import ROUND_SECONDS, Turns

LONG, SHORT = ROUND_SECONDS / 2, ROUND_SECONDS / 100


class Sockets:
    """Sockets whose responses take a known time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.served: list[int] = []
        self.takes: dict[int, float] = {}
        self.tested: Turns[int] = Turns(lambda: self.now)

    def open(self, descriptor: int, owner: str, takes: float) -> None:
        self.tested.own(descriptor, owner)
        self.takes[descriptor] = takes

    def serve(self, *ready: int) -> list[int]:
        self.served = []
        self.tested.serve([(descriptor, 1) for descriptor in ready], self._serve)
        return self.served

    def _serve(self, descriptor: int, event: int) -> None:
        assert event == 1
        self.served.append(descriptor)
        self.now += self.takes[descriptor]


@pytest.fixture
def sockets() -> Sockets:
    sockets = Sockets()
    for descriptor in range(10):
        sockets.open(descriptor, "long", LONG)
    sockets.open(20, "short", SHORT)
    return sockets


def test_what_takes_no_time_is_served_at_once(sockets: Sockets) -> None:
    for descriptor in range(30):
        sockets.open(descriptor, "short", SHORT)
    assert sockets.serve(*range(30)) == list(range(30))
    assert not sockets.tested


def test_a_round_ends_when_its_time_is_over_and_the_others_wait(sockets: Sockets) -> None:
    assert sockets.serve(*range(5)) == [0, 1]
    assert sockets.tested
    assert sockets.serve() == [2, 3]
    assert sockets.serve() == [4]
    assert not sockets.tested


def test_who_used_least_comes_first(sockets: Sockets) -> None:
    sockets.serve(*range(8))
    assert sockets.serve(20) == [20, 2, 3]


def test_what_is_closed_meanwhile_is_not_served(sockets: Sockets) -> None:
    sockets.serve(*range(5))
    sockets.tested.forget(3)
    assert sockets.serve() == [2, 4]


def test_what_was_used_is_forgotten_when_nobody_waits(sockets: Sockets) -> None:
    sockets.serve(0)
    assert sockets.serve(1, 20) == [1, 20]
