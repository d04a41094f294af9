"""Which process is which."""

from benchmarks.worker_tree import named


def test_slots_are_the_children_of_the_pool_and_the_other_worker_is_the_coordinator() -> None:
    children = {1: [3, 2], 3: [6, 5]}
    assert named(1, "workers", children) == {"workers": 1, "control": 2, "fetch": 3, "fetch 1": 5, "fetch 2": 6}


def test_a_pool_that_is_started_by_itself_is_found_too() -> None:
    assert named(3, "fetch", {3: [5, 6]}) == {"fetch": 3, "fetch 1": 5, "fetch 2": 6}


def test_a_worker_without_a_pool_has_no_slots() -> None:
    assert named(2, "control", {}) == {"control": 2}
