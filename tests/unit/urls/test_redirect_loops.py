"""Which redirects stand in a circle."""

from collections.abc import Mapping

import pytest

from crawler.domain.urls.redirect_loops import loops


@pytest.mark.parametrize(
    ("targets", "looping"),
    [
        ({}, ""),
        ({"a": "b"}, ""),
        ({"a": "b", "b": "c"}, ""),
        ({"a": "a"}, "a"),
        ({"a": "b", "b": "a"}, "ab"),
        ({"x": "a", "a": "b", "b": "c", "c": "a"}, "abc"),
        ({"a": "b", "b": "a", "x": "b", "y": "x", "p": "q"}, "ab"),
        ({"a": "b", "b": "a", "c": "d", "d": "c"}, "abcd"),
    ],
)
def test_only_the_circle_itself_is_a_loop(targets: Mapping[str, str], looping: str) -> None:
    assert loops(targets) == set(looping)


def test_a_chain_of_any_length_is_walked_once() -> None:
    targets = {str(n): str(n + 1) for n in range(100_000)}
    assert loops(targets) == set()
