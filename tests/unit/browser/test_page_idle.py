"""A page is taken when it had time to show what it loaded. On a busy machine it gets as few turns as we do."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from crawler.adapters.browser import page_idle
from crawler.adapters.browser.page_idle import Network, settle


@dataclass
class Clock:
    now: float = 100.0

    def monotonic(self) -> float:
        return self.now


class World:
    """A document that is complete and still; each question takes so long."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self.asked = 0

    async def ask(self, _: str) -> Any:
        self.asked += 1
        self._clock.now += self._seconds
        return [True, "complete", 1000.0, False]

    async def is_waiting(self) -> bool:
        return False


@dataclass(frozen=True)
class Case:
    seconds: float
    turns: int
    """How often the page is asked before it is taken."""


@pytest.mark.parametrize("case", [Case(0.002, 6), Case(0.3, 4), Case(0.9, 4)])
def test_time_counts_by_turns(monkeypatch: pytest.MonkeyPatch, case: Case) -> None:
    clock = Clock()

    async def sleep(seconds: float) -> None:
        clock.now += seconds

    monkeypatch.setattr(page_idle, "time", clock)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    network, world = Network(), World(clock, case.seconds)
    asyncio.run(settle(world, network))  # type: ignore[arg-type]
    assert world.asked == case.turns
