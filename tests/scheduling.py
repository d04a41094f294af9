"""Which tests are slow, and which stay together when several processes share the work.

One process works off a whole file, because its tests share what takes long to make. It works off some whole folders,
because their files share what takes longer still: a browser, or a running stack.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/acceptance/stack/", "tests/integration/browser/", "tests/integration/dashboard/")
LONGEST = "tests/integration/browser/"
SECOND_HALF = LONGEST + "test_m"
"""It takes longer than a process's part of all tests, so two of them share it, with a browser each."""


class KeepTogether(LoadScopeScheduling):  # type: ignore[misc]
    """In the order of collection, which has the long ones first."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)


def scope_of(nodeid: str) -> str:
    file = nodeid.partition("::")[0]
    folder = next((folder for folder in TOGETHER if file.startswith(folder)), None)
    return SECOND_HALF if folder == LONGEST and file >= SECOND_HALF else folder or file


_ALL_SLOW = re.compile(r"^pytestmark = (pytest\.mark\.slow$|\[pytest\.mark\.slow,)", re.MULTILINE)


def is_left_out(file: Path, markers: str) -> bool:
    """Whether a file has slow tests alone and none are wanted: reading it would import what only they need."""
    return markers == "not slow" and file.suffix == ".py" and bool(_ALL_SLOW.search(file.read_text(encoding="utf-8")))


def slow_cases(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Of each test that is marked `quick(n)`, all cases but n. Those that are slow anyway are not counted."""
    found: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("quick") and not item.get_closest_marker("slow"):
            found.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return [item for cases in found.values() for n, item in enumerate(cases) if n not in _quick(cases)]


def _quick(cases: Sequence[pytest.Item]) -> set[int]:
    marker = cases[0].get_closest_marker("quick")
    assert marker is not None
    return spread(marker.args[0], len(cases))


def spread(most: int, count: int) -> set[int]:
    """So many of `count` numbers, the first and the last among them: neighbours are often alike."""
    return {round(n * (count - 1) / max(most - 1, 1)) for n in range(most)}


def unasked_cases(items: Sequence[pytest.Item], markers: str) -> set[pytest.Item]:
    """Those that only repeat, for long: `make chaos` names their marker, nobody else gets them."""
    return set() if "long" in markers else {item for item in items if item.get_closest_marker("long")}


def long_ones_first(items: Sequence[pytest.Item]) -> list[pytest.Item]:
    """Folders that stay together, then the other files as they are: an early long one delays the end least."""
    return sorted(items, key=lambda item: not item.nodeid.startswith(TOGETHER))
