"""What is made of crawls with and without readers."""

import pytest

from benchmarks.access_log import Served
from benchmarks.live import Pair, Watched, table


def served(seconds: float) -> Served:
    return Served(frozenset(("h", str(n)) for n in range(100)), seconds, 1.0, 0, 100)


def pair(seconds: float, complete: int = 200) -> Pair:
    return Pair(served(1.0), served(seconds), Watched(200, complete, 20_000, 0.5, 0.1, 150.0))


def test_the_slowdown_is_the_share_of_the_speed_that_was_lost() -> None:
    assert pair(1.25).slowdown == pytest.approx(0.2)
    assert pair(0.8).slowdown == pytest.approx(-0.25)


def test_the_table_has_the_median_of_the_pairs_and_tells_of_readers_who_missed_something() -> None:
    text = table([pair(1.25), pair(1.0), pair(1.1, complete=199)])
    assert "| slower by | 9.1% |" in text
    assert "| readers who got every event in order | 599 of 600 |" in text
