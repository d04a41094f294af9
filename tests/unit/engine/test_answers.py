"""Responses of who took least time are processed first."""

from types import SimpleNamespace
from typing import cast
from uuid import UUID, uuid4

from crawler.domain.crawls.fetching import FetchResult
from crawler.handlers.engine.answers import Answers


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def answer(crawl_id: UUID) -> FetchResult:
    ticket = SimpleNamespace(lease=SimpleNamespace(crawl_id=crawl_id))
    return cast(FetchResult, SimpleNamespace(request=SimpleNamespace(context=ticket)))


def test_the_crawl_that_took_least_time_comes_first_and_each_in_its_order() -> None:
    clock = Clock()
    tested = Answers(clock)
    slow, quick = uuid4(), uuid4()
    first, second, third = answer(slow), answer(slow), answer(slow)
    done: list[FetchResult] = []

    def process(result: FetchResult) -> None:
        done.append(result)
        clock.now += 1.0 if result.request.context.lease.crawl_id == slow else 0.1

    tested.add([first, second, third])
    tested.process_next(process)
    late = [answer(quick), answer(quick)]
    tested.add(late)
    assert (len(tested), tested.crawls()) == (4, {slow, quick})
    while tested:
        tested.process_next(process)
    assert list(map(id, done)) == list(map(id, [first, *late, second, third]))
