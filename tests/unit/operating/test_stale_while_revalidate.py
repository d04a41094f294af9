"""A value that is slow to read: given at once while it is not old, and read by one for all."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.adapters.operating.stale_while_revalidate import StaleWhileRevalidate
from crawler.errors import DatabaseUnavailable


class Source:
    """Counts up with each read; `gate` holds a read back."""

    def __init__(self) -> None:
        self.now = 0.0
        self.reads = 0
        self.gate = threading.Event()
        self.gate.set()
        self.read_again = threading.Event()
        self.broken = False

    def __call__(self) -> int:
        self.reads += 1
        if self.reads > 1:
            self.read_again.set()
        assert self.gate.wait(10)
        if self.broken:
            raise DatabaseUnavailable("Postgres is away.")
        return self.reads


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
def remembered(source: Source) -> StaleWhileRevalidate[int]:
    return StaleWhileRevalidate(source, fresh_seconds=5, kept_seconds=60, clock=lambda: source.now)


def settled(remembered: StaleWhileRevalidate[int]) -> None:
    with remembered._lock:
        pass


def test_what_is_fresh_is_not_read_again(source: Source, remembered: StaleWhileRevalidate[int]) -> None:
    assert [remembered(), remembered()] == [1, 1]
    source.now = 5
    assert remembered() == 1
    assert source.reads == 1


def test_what_is_older_is_given_at_once_and_read_anew_meanwhile(
    source: Source, remembered: StaleWhileRevalidate[int]
) -> None:
    remembered()
    source.now = 6
    source.gate.clear()
    assert [remembered(), remembered()] == [1, 1], "nobody waits"
    assert source.read_again.wait(10)
    source.gate.set()
    settled(remembered)
    assert remembered() == 2
    assert source.reads == 2, "one reads for all"


def test_what_is_too_old_is_waited_for_and_read_once_for_all(
    source: Source, remembered: StaleWhileRevalidate[int]
) -> None:
    remembered()
    source.now = 61
    with ThreadPoolExecutor(8) as many:
        assert set(many.map(lambda _: remembered(), range(8))) == {2}
    assert source.reads == 2


def test_a_server_that_is_away_leaves_the_old_value_until_it_is_too_old(
    source: Source, remembered: StaleWhileRevalidate[int]
) -> None:
    remembered()
    source.now, source.broken = 6, True
    assert remembered() == 1
    assert source.read_again.wait(10)
    settled(remembered)
    assert remembered() == 1
    settled(remembered)
    source.now = 61
    with pytest.raises(DatabaseUnavailable):
        remembered()
