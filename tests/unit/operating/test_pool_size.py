"""A pool has one process at rest, more at once when several tasks are there, and one again later."""

from collections.abc import Iterator

import pytest
from celery.worker import autoscale, state

from workers.pool_size import KEPT_SECONDS, PoolSize


class Pool:
    def __init__(self) -> None:
        self.num_processes = 1

    def grow(self, n: int) -> None:
        self.num_processes += n

    def shrink(self, n: int) -> None:
        self.num_processes -= n

    def maintain_pool(self) -> None:
        pass


class Request:
    """Celery keeps weak references to requests."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    now = [1000.0]
    monkeypatch.setattr(autoscale, "monotonic", lambda: now[0])
    yield now
    state.reserved_requests.clear()
    state.active_requests.clear()


def arrives(scaler: PoolSize, *, begins: bool = True) -> Request:
    request = Request()
    state.reserved_requests.add(request)
    scaler.maybe_scale(request)
    if begins:
        state.active_requests.add(request)
    return request


def ends(request: Request) -> None:
    state.reserved_requests.discard(request)
    state.active_requests.discard(request)


def test_it_grows_with_the_second_task_and_shrinks_when_both_are_long_done(clock: list[float]) -> None:
    pool = Pool()
    scaler = PoolSize(pool, 3, 1)
    first = arrives(scaler)
    assert pool.num_processes == 1
    second = arrives(scaler)
    assert pool.num_processes == 2
    ends(first)
    ends(second)
    scaler.maybe_scale()
    assert pool.num_processes == 2, "the next may come soon"
    clock[0] += KEPT_SECONDS + 1
    scaler.maybe_scale()
    assert pool.num_processes == 1


def test_no_more_than_the_most_are_made(clock: list[float]) -> None:
    pool = Pool()
    scaler = PoolSize(pool, 3, 1)
    kept = [arrives(scaler) for _ in range(7)]
    assert (pool.num_processes, len(kept)) == (3, 7)


def test_tasks_that_come_one_after_the_other_keep_no_further_process(clock: list[float]) -> None:
    pool = Pool()
    scaler = PoolSize(pool, 2, 1)
    both = [arrives(scaler), arrives(scaler)]
    for each in both:
        ends(each)
    for _ in range(20):
        clock[0] += KEPT_SECONDS / 10
        ends(arrives(scaler))
        scaler.maybe_scale()
    assert pool.num_processes == 1


def test_while_a_task_is_on_its_way_to_a_process_none_is_ended(clock: list[float]) -> None:
    pool = Pool()
    scaler = PoolSize(pool, 3, 1)
    both = [arrives(scaler), arrives(scaler)]
    for each in both:
        ends(each)
    clock[0] += KEPT_SECONDS + 1
    sent = arrives(scaler, begins=False)
    scaler.maybe_scale()
    assert pool.num_processes == 2
    state.active_requests.add(sent)
    scaler.maybe_scale()
    assert pool.num_processes == 1
