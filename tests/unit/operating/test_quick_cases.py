"""Of a test with many cases, `make test` runs some."""

from pathlib import Path

import pytest

from tests.scheduling import is_left_out, spread, unasked_cases


@pytest.mark.parametrize(
    ("most", "count", "chosen"),
    [(1, 7, {0}), (2, 7, {0, 6}), (3, 7, {0, 3, 6}), (3, 2, {0, 1}), (9, 4, {0, 1, 2, 3}), (5, 1, {0})],
)
def test_the_chosen_cases_are_spread_over_all(most: int, count: int, chosen: set[int]) -> None:
    assert spread(most, count) == chosen


def test_a_file_of_slow_tests_is_not_even_read_when_none_are_wanted(tmp_path: Path) -> None:
    slow, some = tmp_path / "test_slow.py", tmp_path / "test_some.py"
    marked = "pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]"
    slow.write_text(f"import pytest\n\n{marked}\n")
    some.write_text("import pytest\n\n\n@pytest.mark.slow\ndef test_one() -> None: ...\n")
    assert [is_left_out(file, "not slow") for file in (slow, some)] == [True, False]
    assert not is_left_out(slow, "slow")


def test_a_long_test_is_left_out_unless_it_is_asked_for(request: pytest.FixtureRequest) -> None:
    this: pytest.Item = request.node
    assert unasked_cases([this], "slow") == set()
    this.add_marker(pytest.mark.long)
    assert [unasked_cases([this], markers) for markers in ("", "slow", "not slow", "long")] == [{this}] * 3 + [set()]
