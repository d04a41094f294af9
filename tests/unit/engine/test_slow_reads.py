"""While responses wait to be read elsewhere, the shift goes on; who needs much time waits for who needs little."""

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4
from weakref import ref

import pytest

from crawler.domain.crawls.fetching import FetchResult
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.slow_reads import AT_ONCE, LONG_SECONDS, SHORT_SECONDS, SlowReads
from crawler.handlers.pages.bounded_reading import TookLonger


def int_of_nothing(_: float) -> int:
    return int("")


class Reads:
    """Reads that end when they are told to."""

    def __init__(self) -> None:
        self._begun: list[Callable[[], None]] = []
        self.tested = SlowReads(self._begun.append)
        self.tries: list[tuple[str, float]] = []

    def process(self, work: Callable[[], Any], crawl_id: UUID | None = None) -> Any:
        ticket = SimpleNamespace(lease=SimpleNamespace(crawl_id=crawl_id or uuid4()))
        result = SimpleNamespace(request=SimpleNamespace(context=ticket), body=b"")
        return self.tested.process(cast(FetchResult, result), cast(Callable[[], LeaseResult], work))

    def wait(self, name: str, crawl_id: UUID | None = None, *, is_long: bool = False, seconds: float = 0.0) -> None:
        def read(most: float) -> str:
            self.tries.append((name, most))
            time.sleep(seconds)
            if is_long and most == SHORT_SECONDS:
                raise TookLonger
            return name

        assert self.process(lambda: self.tested(read), crawl_id) is None

    def end(self, place: int = 0) -> list[Any]:
        """What comes of responses when the read in this place ends."""
        self._begun.pop(place)()
        return list(self.tested.ended())

    @property
    def begun(self) -> int:
        return len(self._begun)


@pytest.fixture
def reads() -> Reads:
    return Reads()


def test_what_needs_no_read_is_processed_at_once(reads: Reads) -> None:
    assert reads.process(lambda: "settled") == "settled"
    assert not reads.tested


def test_outside_of_a_shift_the_caller_waits() -> None:
    assert SlowReads()(lambda most: most) == LONG_SECONDS


def test_a_read_runs_in_a_thread() -> None:
    reads = Reads()
    reads.tested = SlowReads()
    reads.wait("page", seconds=0.01)
    assert reads.tested
    ended: list[Any] = []
    until = time.monotonic() + 10
    while not ended and time.monotonic() < until:
        time.sleep(0.001)
        ended += reads.tested.ended()
    assert ended == ["page"]


def test_a_response_goes_on_where_it_waited_as_often_as_it_has_to(reads: Reads) -> None:
    crawl_id = uuid4()
    assert reads.process(lambda: [reads.tested(str), reads.tested(str)], crawl_id) is None
    assert reads.tested.waiting() == {crawl_id: 1}
    assert reads.end() == []
    assert reads.tested.waiting() == {crawl_id: 1}
    assert reads.end() == [["inf", "inf"]], "nobody else waits, so it has long"
    assert not reads.tested


def test_what_goes_wrong_is_raised_where_the_response_is_processed(reads: Reads) -> None:
    def work() -> Any:
        try:
            return reads.tested(int_of_nothing)
        except ValueError:
            return "told"

    assert reads.process(work) is None
    assert reads.end() == ["told"]


def test_what_nobody_expects_reaches_the_shift(reads: Reads) -> None:
    assert reads.process(lambda: reads.tested(int_of_nothing)) is None
    with pytest.raises(ValueError, match="invalid literal"):
        reads.end()
    assert not reads.tested


def test_one_read_at_a_time_is_a_long_one_and_others_have_a_short_try_first(reads: Reads) -> None:
    for number in range(3):
        reads.wait(f"hostile{number}", is_long=True)
    reads.wait("honest")
    assert reads.begun == AT_ONCE
    assert [reads.end(1), reads.end(1), reads.end(1)] == [[], [], ["honest"]], "while the first goes on"
    assert reads.tries == [("hostile1", SHORT_SECONDS), ("hostile2", SHORT_SECONDS), ("honest", SHORT_SECONDS)]
    assert reads.begun == 1
    assert (reads.end(), reads.begun) == (["hostile0"], 1)
    assert sorted([reads.end(), reads.end()]) == [["hostile1"], ["hostile2"]]
    assert [most for _, most in reads.tries[3:]] == 3 * [LONG_SECONDS]


def test_of_a_crawl_with_a_page_that_takes_long_no_other_is_tried_before_it(reads: Reads) -> None:
    reads.wait("other", is_long=True)
    crawl_id = uuid4()
    for number in range(3):
        reads.wait(f"many{number}", crawl_id, is_long=True)
    assert reads.end(1) == []
    assert reads.begun == 1, "a place is free"
    assert [reads.end(), reads.end()] == [["other"], ["many0"]]
    assert [name for name, _ in reads.tries] == ["many0", "other", "many0"]


def test_the_crawl_that_used_least_time_comes_first(reads: Reads) -> None:
    crawl_id = uuid4()
    for number in range(4):
        reads.wait(f"many{number}", crawl_id, seconds=0.01)
    reads.wait("other")
    assert [reads.end(), reads.end(1)] == [["many0"], ["other"]]


def test_what_is_left_is_waited_for_no_more_and_has_its_place_until_it_ends(reads: Reads) -> None:
    for number in range(AT_ONCE + 1):
        reads.wait(f"page{number}")
    assert len(reads.tested.leave()) == AT_ONCE + 1
    assert not reads.tested
    assert not reads.tested.results
    reads.wait("later")
    assert reads.begun == AT_ONCE
    assert [reads.end(), reads.end(), reads.end()] == [[], [], ["later"]]


def test_of_what_waited_too_long_only_that_is_left_which_is_not_being_read(reads: Reads) -> None:
    """A page that takes longer than half its lease to be read would else be fetched again for ever."""
    for number in range(AT_ONCE + 1):
        reads.wait(f"page{number}")
    assert reads.tested.leave_unread(lambda _: False) == []
    assert len(reads.tested.leave_unread(lambda _: True)) == 1
    assert len(reads.tested.results) == AT_ONCE
    assert reads.end() == ["page0"]


class Held:
    """Something large that processing a response holds."""


@pytest.mark.parametrize("way", ["ended", "left", "left unread"])
def test_nothing_of_a_response_is_kept_however_its_wait_ends(reads: Reads, way: str) -> None:
    seen: list[ref[Held]] = []

    def work() -> Held:
        held = Held()
        seen.append(ref(held))
        reads.tested(lambda _: "read")
        return held

    for _ in range(5):
        assert reads.process(work) is None
    if way == "left":
        reads.tested.leave()
        reads.tested.leave()
    elif way == "left unread":
        reads.tested.leave_unread(lambda _: True)
    while reads.begun:
        reads.end()
    assert not reads.tested
    assert [held() for held in seen] == [None] * 5
    assert reads.process(lambda: "settled") == "settled"
