"""Of a test with many cases, `make test` runs some."""

import pytest

from tests.scheduling import spread


@pytest.mark.parametrize(
    ("most", "count", "chosen"),
    [(1, 7, {0}), (2, 7, {0, 6}), (3, 7, {0, 3, 6}), (3, 2, {0, 1}), (9, 4, {0, 1, 2, 3}), (5, 1, {0})],
)
def test_the_chosen_cases_are_spread_over_all(most: int, count: int, chosen: set[int]) -> None:
    assert spread(most, count) == chosen
