"""What a call and a URL cost, found out from two crawls."""

import pytest

from benchmarks.simulate import shared_out


def test_two_crawls_tell_what_a_call_and_a_url_cost() -> None:
    assert shared_out([(0.1, 3.0, 0.05), (0.6, 2.2, 0.142)]) == pytest.approx((0.2, 0.01))


def test_nothing_costs_less_than_nothing() -> None:
    assert shared_out([(0.1, 3.0, 0.01), (0.6, 2.2, 0.3)]) == pytest.approx((0.31 / 0.7, 0.0))


def test_crawls_that_are_alike_share_all_among_calls() -> None:
    assert shared_out([(0.5, 2.0, 0.1), (0.5, 2.0, 0.1)]) == pytest.approx((0.2, 0.0))
