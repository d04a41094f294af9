"""Name lookups: names that hang hold up whoever named them, and nobody else."""

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crawler.adapters.curl import name_lookup
from crawler.adapters.curl.name_lookup import KEPT_THREADS, MAX_THREADS, MOST_OF_ONE, NameLookup

PUBLIC = "8.8.4.4"


class Names:
    """A resolver that never answers for names that begin with `hung`, until it is let go."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = threading.Event()

    def __call__(self, host: str) -> list[str]:
        self.asked.append(host)
        if host.startswith("hung"):
            self.go.wait(60)  # longer than any test takes, also beside others
        return [PUBLIC]


@contextmanager
def looking_up() -> Iterator[tuple[NameLookup, Names]]:
    names = Names()
    lookup = NameLookup(names)
    try:
        yield lookup, names
    finally:
        names.go.set()
        lookup.close()


def answered(lookup: NameLookup, count: int = 1, seconds: float = 5.0) -> set[str]:
    """So many names that were answered, or those until then."""
    found: set[str] = set()
    until = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < until:
        select.select([lookup.fileno()], [], [], 0.05)
        found |= {host for host, _ in lookup.answers(time.monotonic())}
    return found


def test_a_flood_of_hung_names_leaves_threads_for_others() -> None:
    with looking_up() as (lookup, names):
        for number in range(1000):
            lookup.ask(f"hung{number}", "hostile")
        lookup.ask("fine", "stranger")
        assert answered(lookup) == {"fine"}
        assert len(names.asked) == MOST_OF_ONE + 1


@pytest.mark.slow
def test_many_owners_of_hung_names_leave_threads_for_one_more() -> None:
    with looking_up() as (lookup, names):
        for number in range(20_000):
            lookup.ask(f"hung{number}", number % 100)
        lookup.ask("fine", "stranger")
        assert answered(lookup) == {"fine"}
        assert len(names.asked) < MAX_THREADS


def test_names_wait_their_turn_and_all_are_looked_up_once() -> None:
    with looking_up() as (lookup, names):
        wanted = {f"hung{number}" for number in range(300)}
        for host in wanted:
            lookup.ask(host, "one")
            lookup.ask(host, "other")
        names.go.set()
        assert answered(lookup, 300) == wanted
        assert sorted(names.asked) == sorted(wanted)


def test_a_name_that_nobody_waits_for_any_more_is_not_looked_up() -> None:
    with looking_up() as (lookup, names):
        for number in range(MOST_OF_ONE + 1):
            lookup.ask(f"hung{number}")
        lookup.forget(f"hung{MOST_OF_ONE}")
        names.go.set()
        assert len(answered(lookup, MOST_OF_ONE + 1, 0.3)) == MOST_OF_ONE
        assert f"hung{MOST_OF_ONE}" not in names.asked


def test_threads_beyond_the_usual_end_after_the_flood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(name_lookup, "IDLE_SECONDS", 0.05)
    with looking_up() as (lookup, names):
        for number in range(400):
            lookup.ask(f"hung{number}", number % 4)
        assert lookup._threads > KEPT_THREADS
        names.go.set()
        assert len(answered(lookup, 400)) == 400
        until = time.monotonic() + 5
        while lookup._threads > KEPT_THREADS and time.monotonic() < until:
            time.sleep(0.01)
        assert lookup._threads == KEPT_THREADS
