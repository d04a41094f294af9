"""Whatever a page does to the process that judges it, it costs that page and no other, and a bounded time."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.adapters.judging import judge_places
from crawler.adapters.judging.judge_pool import JudgePool, Limits, Sitting
from crawler.domain.judging import Bound, Unjudged
from crawler.errors import JudgesBusy, NotFound, TooSlowToTry
from tests.integration.interrupting import interrupted
from tests.integration.judging import chores

LIMITS = Limits(page_seconds=0.2, total_seconds=30)
TOO_LARGE = Unjudged(Bound.PAGE)
NO_TIME = Unjudged(Bound.TOTAL)
SLOW = "*:has(~ * ~ * ~ * ~ .zzz)"


@pytest.fixture(scope="module")
def pool() -> Iterator[JudgePool]:
    made = JudgePool(1)
    yield made
    made.close()


@pytest.fixture
def judge(pool: JudgePool) -> Iterator[Sitting]:
    with pool.open(LIMITS) as opened:
        yield opened


@pytest.mark.slow
def test_many_items_go_through_one_process_in_their_order(judge: Sitting) -> None:
    assert list(judge.each(chores.double, range(300), 2)) == [(n, 2 * n) for n in range(300)]
    assert len({found for _, found in judge.each(chores.pids, range(120), None)}) == 1


def test_one_item_that_never_ends_costs_its_limit_and_no_other_item(judge: Sitting) -> None:
    used = time.process_time()
    found = [found for _, found in judge.each(chores.never_end, range(6), 2)]
    assert found == [0, 1, TOO_LARGE, 3, 4, 5]
    assert time.process_time() - used < 0.2, "this process only waited"


@pytest.mark.slow
def test_what_has_to_be_imported_for_an_item_does_not_count_as_its_time(judge: Sitting) -> None:
    items = [chores.LateModule(1), chores.LateModule(2)]
    assert [found for _, found in judge.each(chores.number_of, items, 1)] == [2, 3]


def test_c_code_that_no_python_can_interrupt_is_ended_too(judge: Sitting) -> None:
    found = [found for _, found in judge.each(chores.match, [SLOW, "p"], 300)]
    assert found == [TOO_LARGE, 300]


def test_after_an_end_the_same_program_goes_on_with_another_fork(judge: Sitting) -> None:
    ((_, before),) = judge.each(chores.pids, [0], None)
    assert [found for _, found in judge.each(chores.never_end, [7, 8], 7)] == [TOO_LARGE, 8]
    ((_, after),) = judge.each(chores.pids, [0], None)
    assert not isinstance(before, Unjudged)
    assert not isinstance(after, Unjudged)
    assert before[0] != after[0]
    assert before[1] == after[1], "nothing was imported again"


def test_one_that_takes_too_much_memory_or_crashes_costs_itself_alone(judge: Sitting) -> None:
    assert [found for _, found in judge.each(chores.grow, range(3), 1)] == [1, TOO_LARGE, 1]
    assert [found for _, found in judge.each(chores.die, range(3), 1)] == [0, TOO_LARGE, 2]


@pytest.mark.slow
def test_what_two_processes_say_of_a_page_is_the_same(judge: Sitting) -> None:
    """Pages of one comparison are compared with each other, and a process may be replaced in its midst."""
    page = (b"<p>A page of its own</p><p>Menu</p>", b"<p>Closed until Monday</p><p>Menu</p>")
    ((_, before),) = judge.each(chores.replaced, [page], None)
    assert [found for _, found in judge.each(chores.die, [1, 2], 1)] == [TOO_LARGE, 2]
    ((_, after),) = judge.each(chores.replaced, [page], None)
    assert not isinstance(before, Unjudged)
    assert not isinstance(after, Unjudged)
    assert before[1] != after[1]
    assert before[0] == after[0]


def test_what_is_asked_at_once_is_too_slow_or_refused_with_its_own_error(judge: Sitting) -> None:
    with pytest.raises(TooSlowToTry):
        judge.one(chores.match, SLOW, 300)
    with pytest.raises(NotFound, match="no 7"):
        judge.one(chores.refuse, 7)
    assert judge.one(chores.double, 4, 5) == 20


def test_when_all_time_is_used_up_the_rest_is_told_so_and_nothing_is_begun(pool: JudgePool) -> None:
    with pool.open(Limits(page_seconds=0.2, total_seconds=0.3)) as judge:
        found = [found for _, found in judge.each(chores.match, [SLOW, SLOW, SLOW, "p"], 300)]
        assert found == [TOO_LARGE, TOO_LARGE, NO_TIME, NO_TIME]
        with pytest.raises(TooSlowToTry):
            judge.one(chores.double, 1, 1)


def test_many_items_may_take_longer_than_few(pool: JudgePool) -> None:
    with pool.open(Limits(page_seconds=0.2, total_seconds=0.1, item_seconds=0.2)) as judge:
        found = [found for _, found in judge.each(chores.never_end, [1, 0, 2], 1)]
    assert found == [TOO_LARGE, 0, 2]


def test_who_waits_is_asked_meanwhile_and_may_end_it(pool: JudgePool) -> None:
    class Enough(Exception): ...

    def look(used: float) -> None:
        if used > 0.3:
            raise Enough

    with pool.open(LIMITS) as judge:
        ((_, before),) = judge.each(chores.pids, [0], None)
    began = time.monotonic()
    with pytest.raises(Enough), pool.open(Limits(page_seconds=20, total_seconds=60), look) as judge:
        list(judge.each(chores.never_end, [0, 1, 2], 1))
    assert time.monotonic() - began < 8
    with pool.open(LIMITS) as judge:
        assert judge.one(chores.double, 2, 2) == 4
        ((_, after),) = judge.each(chores.pids, [0], None)
    assert not isinstance(before, Unjudged)
    assert not isinstance(after, Unjudged)
    assert before[0] != after[0]
    assert before[1] == after[1], "nothing was imported again"


def test_who_waits_is_told_of_time_that_was_used_not_of_time_that_passed(pool: JudgePool) -> None:
    told = [0.0]
    with pool.open(Limits(page_seconds=20, total_seconds=60), told.append) as judge:
        list(judge.each(chores.sleep, [0.0, 0.7], None))
    assert len(told) > 3, "it was asked meanwhile"
    assert max(told) < 0.3


@pytest.mark.slow
def test_an_order_that_is_given_up_half_way_spoils_none_that_follow(pool: JudgePool) -> None:
    for wanted in (1, 3):
        with pool.open(LIMITS) as judge:
            answers = judge.each(chores.repeat, range(40), 70_000)
            assert [len(str(next(answers)[1])) for _ in range(wanted)] == [70_000] * wanted
        with pool.open(LIMITS) as judge:
            assert list(judge.each(chores.double, range(60), 2)) == [(n, 2 * n) for n in range(60)]


@pytest.mark.parametrize("seconds", [0.01, 0.15, 0.4])
def test_no_item_gets_the_answer_to_one_whose_judge_was_interrupted(seconds: float) -> None:
    """While it waited for its process to start, or for one that takes the place of an ended one."""
    pool = JudgePool(1)
    with pool.open(LIMITS) as judge, interrupted(seconds):
        for _ in range(1000):
            list(judge.each(chores.never_end, [1, 2], 2))
    for _ in range(2):
        with pool.open(LIMITS) as judge:
            assert list(judge.each(chores.double, [3, 4], 2)) == [(3, 6), (4, 8)]
    pool.close()


def test_a_request_does_not_wait_longer_than_it_may_however_busy_the_machine_is(pool: JudgePool) -> None:
    with pytest.raises(TooSlowToTry), pool.open(Limits(20, 60, wait_seconds=0.3)) as judge:
        list(judge.each(chores.sleep, [10.0], None))


def test_no_more_than_so_many_judge_at_once(pool: JudgePool) -> None:
    refused: list[JudgesBusy] = []

    def ask() -> None:
        try:
            with pool.open(LIMITS._replace(busy_seconds=0.05)):
                pass
        except JudgesBusy as exc:
            refused.append(exc)

    with pool.open(LIMITS):
        other = threading.Thread(target=ask)
        other.start()
        other.join()
    assert len(refused) == 1
    ask()
    assert len(refused) == 1


def test_whoever_comes_when_enough_wait_is_refused_at_once(pool: JudgePool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that waits holds a thread of the service. Streams are limited elsewhere, and must not break off."""
    monkeypatch.setattr(judge_places, "MOST_WAITING", 1)
    answers: list[str] = []

    def ask(limits: Limits) -> None:
        try:
            with pool.open(limits):
                answers.append("judged")
        except JudgesBusy:
            answers.append("refused")

    patient = LIMITS._replace(busy_seconds=20)
    waiting = [threading.Thread(target=ask, args=(limits,)) for limits in (patient, patient._replace(is_counted=False))]
    with pool.open(LIMITS):
        for thread in waiting:
            thread.start()
        until = time.monotonic() + 20
        while not pool.places.waiting:
            assert time.monotonic() < until
            time.sleep(0.01)
        began = time.monotonic()
        ask(patient)
        assert answers == ["refused"]
        assert time.monotonic() - began < 10
    for thread in waiting:
        thread.join()
    assert answers == ["refused", "judged", "judged"]


@pytest.mark.slow
@pytest.mark.parametrize("which", [[0], [1], [0, 1]])
def test_a_process_that_somebody_killed_meanwhile_is_replaced(pool: JudgePool, which: list[int]) -> None:
    with pool.open(LIMITS) as judge:
        ((_, found),) = judge.each(chores.pids, [0], None)
    assert not isinstance(found, Unjudged)
    for at in which:
        os.kill(found[at], signal.SIGKILL)
    with pool.open(LIMITS) as judge:
        assert list(judge.each(chores.double, range(3), 2)) == [(0, 0), (1, 2), (2, 4)]


def test_one_that_cannot_be_started_is_told_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(JudgesBusy, match="did not start"), JudgePool(1).open(LIMITS) as judge:
        judge.one(chores.double, 1, 1)


@pytest.mark.slow
def test_nothing_is_left_when_it_is_closed() -> None:
    pool = JudgePool(1)
    with pool.open(LIMITS) as judge:
        ((_, found),) = judge.each(chores.pids, [0], None)
    pool.close()
    assert not isinstance(found, Unjudged)
    until = time.monotonic() + 20
    while any(map(works, found)):
        assert time.monotonic() < until
        time.sleep(0.01)


def works(pid: int) -> bool:
    """Whether there is such a process; one that has ended may still be listed for whoever asks what became of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
