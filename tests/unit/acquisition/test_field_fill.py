"""When a field's fill-rate is news, and when it is chance."""

import random
from datetime import UTC, datetime

import pytest

from crawler.domain.acquisition.field_fill import LEAST, WINDOW, FieldFill, Window, judge_fill

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def judged(*windows: tuple[int, int]) -> FieldFill:
    return judge_fill(
        "price",
        [
            Window(number=number, filled=filled, total=total, began_at=NOW, ended_at=NOW)
            for number, (filled, total) in enumerate(windows)
        ],
    )


@pytest.mark.parametrize(
    ("windows", "dropped"),
    [
        ([(50, 50)] * 3 + [(40, 50)], True),
        ([(50, 50)] * 3 + [(45, 50)], False),
        ([(50, 50)] * 3 + [(0, 20)], True),
        ([(50, 50)] * 3 + [(0, 19)], False),  # too few to say anything: the window before is shown
        ([(50, 50)] * 2 + [(0, 50)], False),  # too little to compare with
        ([(25, 50)] * 5 + [(15, 50)], False),  # a coin that falls so is nothing odd
        ([(25, 50)] * 5 + [(10, 50)], True),
        ([(5, 50)] * 5 + [(0, 50)], False),  # few pages have it: nobody can tell
        ([(10, 50)] * 3 + [(50, 50)], False),  # more is no alarm
        ([(50, 50), (50, 50), (50, 50), (0, 50), (50, 50)], False),  # one bad window is over
        ([(50, 50)] * 3 + [(0, 50)] * 11, False),  # what lasts becomes usual
    ],
)
def test_a_drop_is_told_when_it_is_one(windows: list[tuple[int, int]], dropped: bool) -> None:
    assert judged(*windows).dropped is dropped


def test_a_young_window_is_not_shown_alone() -> None:
    fill = judged((50, 50), (1, 2))
    assert (fill.share, fill.of, fill.usual) == (1.0, 50, None)
    assert judged((1, 2)).of == 2


def test_pages_that_stay_as_they_are_raise_hardly_any_alarm() -> None:
    """Whatever the share, over thousands of windows of chance."""
    chance = random.Random(7)
    alarms = trials = 0
    for share in (0.05, 0.3, 0.5, 0.8, 0.95, 1.0):
        for _ in range(500):
            windows = [(sum(chance.random() < share for _ in range(WINDOW)), WINDOW) for _ in range(6)]
            windows.append((sum(chance.random() < share for _ in range(LEAST)), LEAST))
            alarms += judged(*windows).dropped
            trials += 1
    assert alarms / trials < 0.02
