"""A few callers are judged at once, few wait, and one caller never has all places."""

import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from crawler.adapters.judging.judge_places import (
    HALF_LIFE_SECONDS,
    LIGHT_SECONDS,
    MOST_WAITING,
    MOST_WAITING_OF_ONE,
    JudgePlaces,
)
from crawler.errors import JudgesBusy

LONG = 20.0


@pytest.fixture
def threads() -> Iterator[list[threading.Thread]]:
    made: list[threading.Thread] = []
    yield made
    for thread in made:
        thread.join()


def test_a_caller_leaves_the_last_place_to_others() -> None:
    places = JudgePlaces(2)
    with places.place("greedy", 0):
        with pytest.raises(JudgesBusy), places.place("greedy", 0.01):
            pass
        with places.place("other", 0):
            pass
    with places.place("greedy", 0):
        pass


def test_the_only_place_is_for_everybody() -> None:
    with JudgePlaces(1).place("one", 0):
        pass


def test_callers_that_are_not_known_may_have_all_places() -> None:
    places = JudgePlaces(2)
    with places.place(None, 0), places.place(None, 0), pytest.raises(JudgesBusy), places.place(None, 0.01):
        pass


def test_one_caller_takes_half_of_the_places_to_wait_in_and_others_the_rest(threads: list[threading.Thread]) -> None:
    places = JudgePlaces(1)
    with places.place("first", 0):
        wait(places, threads, ["greedy"] * MOST_WAITING_OF_ONE)
        refused(places, "greedy")
        wait(places, threads, [str(n) for n in range(MOST_WAITING - MOST_WAITING_OF_ONE)])
        refused(places, "too many")


def test_who_does_not_count_waits_whoever_else_waits(threads: list[threading.Thread]) -> None:
    places = JudgePlaces(1)
    with places.place("first", 0):
        wait(places, threads, [str(n) for n in range(MOST_WAITING)])
        with pytest.raises(JudgesBusy), places.place("stream", 0.01, is_counted=False):
            pass


def test_everyone_who_waits_has_a_turn(threads: list[threading.Thread]) -> None:
    places = JudgePlaces(2)
    with ExitStack() as held:
        for who in ("a", "b"):
            held.enter_context(places.place(who, 0))
        wait(places, threads, ["a", "b", "c"])
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads)
    assert places.waiting == 0


def wait(places: JudgePlaces, threads: list[threading.Thread], callers: list[str]) -> None:
    """Let these wait for a place."""

    def hold(who: str) -> None:
        with places.place(who, LONG):
            pass

    wanted = places.waiting + len(callers)
    for who in callers:
        threads.append(threading.Thread(target=hold, args=(who,)))
        threads[-1].start()
    until = time.monotonic() + LONG
    while places.waiting < wanted:
        assert time.monotonic() < until
        time.sleep(0.001)


def refused(places: JudgePlaces, who: str) -> None:
    """At once, not when the time to wait is over."""
    began = time.monotonic()
    with pytest.raises(JudgesBusy), places.place(who, LONG):
        pass
    assert time.monotonic() - began < LONG / 2


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_two_callers_without_end_do_not_keep_out_who_asks_now_and_then(threads: list[threading.Thread]) -> None:
    places, clock = _reserving()
    for heavy in ("a", "b"):
        places.used(heavy, LIGHT_SECONDS * 3)
    with places.place("a", 0), places.place("b", 0):
        wait(places, threads, ["a", "b"] * MOST_WAITING_OF_ONE)
        refused(places, "a")
        for _ in range(20):
            with places.place("light", 0):
                places.used("light", 0.1)
        with places.place("light", 0):
            wait(places, threads, ["other"])
            with pytest.raises(JudgesBusy), places.place("light", 0.01):
                pass
            clock.now += 1


def test_who_has_used_much_is_one_of_the_others_again_after_a_while() -> None:
    places, clock = _reserving()
    with places.place("a", 0), places.place("b", 0):
        places.used("heavy", LIGHT_SECONDS * 2.5)
        with pytest.raises(JudgesBusy), places.place("heavy", 0.01):
            pass
        clock.now += HALF_LIFE_SECONDS * 2
        with places.place("heavy", 0):
            pass


def test_the_reserved_place_is_on_top_and_for_known_callers_only() -> None:
    places, _ = _reserving()
    with places.place("a", 0), places.place("b", 0):
        with pytest.raises(JudgesBusy), places.place(None, 0.01):
            pass
        with pytest.raises(JudgesBusy), places.place("a", 0.01):
            pass
        with places.place("c", 0), pytest.raises(JudgesBusy), places.place("d", 0.01):
            pass
    with places.place("a", 0), places.place("b", 0), places.place("c", 0):
        pass


def _reserving() -> tuple[JudgePlaces, Clock]:
    clock = Clock()
    return JudgePlaces(2, 1, clock), clock
