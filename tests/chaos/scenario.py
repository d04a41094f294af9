"""What a scenario is, and how one is run and judged."""

import time
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.chaos import oracle
from tests.chaos.stack import Crawl, Stack

SITE = {"hosts": 5, "pages": 375, "odd": 0.2}
POLITE_HOSTS = range(4)
QUICK_HOST = 4
DELAY_SECONDS = 0.2
QUICK_CONCURRENCY = 6
LATENCY_SECONDS = 0.8
"""Of the quick crawl's host, so that requests are under way whenever something is killed."""


@dataclass
class Arena:
    """What a scenario works with."""

    stack: Stack
    seed: int
    rng: Random
    crawls: list[Crawl] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def start(self) -> None:
        """Two crawls: a polite one over several hosts, and a quick one with many requests under way."""
        self.stack.site.set_fault(host=QUICK_HOST, delay=LATENCY_SECONDS)
        self.crawls.append(self.stack.crawl(hosts=POLITE_HOSTS, delay=DELAY_SECONDS))
        self.crawls.append(self.stack.crawl(hosts=[QUICK_HOST], concurrency=QUICK_CONCURRENCY))

    def under_way(self, requests: int = 40) -> None:
        """So much was asked for, and the crawls are far from their end."""
        self.stack.wait_asked(requests)

    def recovers(self, seconds: float) -> None:
        """From now on something must be asked for again within so long."""
        self.recoveries.append(self.stack.wait_more(self.crawls, seconds))

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass(frozen=True)
class Scenario:
    name: str
    about: str
    act: Callable[[Arena], None]
    stack: Mapping[str, Any]
    seconds: float
    """In which the crawls must be over once it has acted."""
    once: bool
    """Nothing was lost, so nothing may be asked for twice."""
    starts: bool
    judged: bool
    needs: Callable[[], str | None]
    """A sentence when something it needs is not on this machine."""


@dataclass(frozen=True)
class Report:
    name: str
    seed: int
    seconds: float
    recoveries: tuple[float, ...]
    repeats: int
    stillness: float
    """The longest time without a request."""
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    logs: Path
    skipped: bool = False

    @property
    def ok(self) -> bool:
        return not self.problems


REGISTRY: dict[str, Scenario] = {}


def scenario(
    *,
    seconds: float = 60,
    once: bool = False,
    starts: bool = True,
    judged: bool = True,
    needs: Callable[[], str | None] = lambda: None,
    **stack: Any,
) -> Callable[[Callable[[Arena], None]], Callable[[Arena], None]]:
    """Register a function as a scenario; its docstring is what `--list` shows."""

    def register(act: Callable[[Arena], None]) -> Callable[[Arena], None]:
        about = " ".join((act.__doc__ or "").split())
        options = {**SITE, **stack}
        REGISTRY[act.__name__] = Scenario(act.__name__, about, act, options, seconds, once, starts, judged, needs)
        return act

    return register


def run(chosen: Scenario, seed: int, directory: Path) -> Report:
    directory.mkdir(parents=True)
    if lack := chosen.needs():
        return Report(chosen.name, seed, 0, (), 0, 0, (lack,), (), directory, skipped=True)
    began = time.monotonic()
    problems: list[str] = []
    repeats, stillness = 0, 0.0
    stack = Stack(directory, seed=seed, **chosen.stack)
    arena = Arena(stack, seed, Random(f"{chosen.name}/{seed}"))
    try:
        with stack:
            began = time.monotonic()
            problems += _act_and_judge(chosen, arena)
            repeats, stillness = oracle.repeats(stack, arena.crawls), oracle.stillness(stack)
            if missing := oracle.unlogged(stack, arena.crawls):
                arena.note(f"{missing} requests are not in the audit")
    except AssertionError as exc:
        problems.append(f"{type(exc).__name__}: {exc}")
    except Exception:  # noqa: BLE001 - one broken scenario must not hide the others
        problems.append(traceback.format_exc())
    seconds = time.monotonic() - began
    return Report(
        chosen.name,
        seed,
        seconds,
        tuple(arena.recoveries),
        repeats,
        stillness,
        tuple(arena.notes),
        tuple(problems),
        directory,
    )


def _act_and_judge(chosen: Scenario, arena: Arena) -> Iterable[str]:
    if chosen.starts:
        arena.start()
    try:
        chosen.act(arena)
        arena.stack.wait_done(arena.crawls, chosen.seconds)
    except AssertionError as exc:
        yield f"{type(exc).__name__}: {exc}"
        yield oracle.standing(arena.stack, arena.crawls)
        return
    if chosen.judged:
        for crawl in arena.crawls:
            yield from oracle.problems(arena.stack, crawl, once=chosen.once)
