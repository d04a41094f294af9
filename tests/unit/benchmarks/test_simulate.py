"""What pages, calls and URLs cost, found out from measured crawls."""

from types import SimpleNamespace

import pytest

from benchmarks.simulate import Point, Split, line_through, of_others, shared_out
from benchmarks.simulation import Web


def crawl(kilobytes: float, split: Split) -> Point:
    return Point("a crawl", Web.alike(1, 10, 0.001, kilobytes), 2, 0, 100.0, split)


def test_two_sizes_of_pages_tell_what_a_page_and_a_kilobyte_cost() -> None:
    costs = line_through(crawl(10, Split(2.0, 0.5, 0.1, 0.1)), crawl(30, Split(4.0, 0.9, 0.1, 0.1)))
    assert (costs.worker, costs.worker_kb) == pytest.approx((1.0, 0.1))
    assert (costs.postgres, costs.postgres_kb) == pytest.approx((0.3, 0.02))


def test_two_crawls_tell_what_a_call_and_a_url_cost() -> None:
    assert shared_out([(0.1, 3.0, 0.05), (0.6, 2.2, 0.142)]) == pytest.approx((0.2, 0.01))


def test_nothing_costs_less_than_nothing() -> None:
    assert shared_out([(0.1, 3.0, 0.01), (0.6, 2.2, 0.3)]) == pytest.approx((0.31 / 0.7, 0.0))


def test_crawls_that_are_alike_share_all_among_calls() -> None:
    assert shared_out([(0.5, 2.0, 0.1), (0.5, 2.0, 0.1)]) == pytest.approx((0.2, 0.0))


def test_what_is_neither_ours_nor_idle_is_others() -> None:
    before = SimpleNamespace(user=5.0, nice=0.0, system=1.0, irq=0.0, softirq=0.0, steal=2.0, idle=50.0, iowait=1.0)
    after = SimpleNamespace(user=10.0, nice=0.0, system=2.0, irq=0.5, softirq=0.5, steal=3.0, idle=51.0, iowait=2.0)
    assert of_others(before, after, ours=6_000) == pytest.approx(0.2)
    assert of_others(before, after, ours=9_000) == 0
