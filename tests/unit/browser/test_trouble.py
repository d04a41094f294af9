"""A browser that would not start is not tried again for a while, and the while grows."""

import os
from pathlib import Path

import pytest

from crawler.adapters.browser.start_failures import FIRST_SECONDS, LONGEST_SECONDS, BrowserTrouble


class Now:
    def __init__(self) -> None:
        self.at = 1_000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "chromium"
    path.write_text("x")
    return path


def test_another_process_knows_why_until_it_is_time_to_try_again(tmp_path: Path, program: Path) -> None:
    now = Now()
    BrowserTrouble(tmp_path / "new", program, now).note("It ended at once: no library")
    another = BrowserTrouble(tmp_path / "new", program, now)
    assert another.find() == "It ended at once: no library"
    now.at += FIRST_SECONDS
    assert another.find() is None


def test_each_failure_in_a_row_holds_twice_as_long_up_to_a_limit(tmp_path: Path, program: Path) -> None:
    now, held = Now(), []
    trouble = BrowserTrouble(tmp_path, program, now)
    for _ in range(8):
        trouble.note("no")
        begun = now.at
        while trouble.find():
            now.at += 1
        held.append(now.at - begun)
    assert held == [30, 60, 120, 240, 480, 600, 600, 600]


def test_a_start_that_succeeds_ends_it(tmp_path: Path, program: Path) -> None:
    now = Now()
    trouble = BrowserTrouble(tmp_path, program, now)
    trouble.note("no")
    trouble.clear()
    assert trouble.find() is None
    trouble.note("no")
    now.at += FIRST_SECONDS
    assert trouble.find() is None, "the count began anew"


def test_a_browser_that_was_replaced_is_tried_at_once(tmp_path: Path, program: Path) -> None:
    BrowserTrouble(tmp_path, program, Now()).note("no")
    assert BrowserTrouble(tmp_path, tmp_path / "another", Now()).find() is None
    os.utime(program, (5, 5))
    assert BrowserTrouble(tmp_path, program, Now()).find() is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"why": "x"}', '{"why": "x", "failures": 1, "until": "soon"}'])
def test_a_file_that_says_nothing_is_no_trouble(tmp_path: Path, program: Path, text: str) -> None:
    (tmp_path / "trouble").write_text(text)
    assert BrowserTrouble(tmp_path, program, Now()).find() is None


def test_a_clock_that_was_set_back_does_not_close_the_lane_for_ever(tmp_path: Path, program: Path) -> None:
    now = Now()
    trouble = BrowserTrouble(tmp_path, program, now)
    trouble.note("no")
    now.at -= 10 * LONGEST_SECONDS
    assert trouble.find() is None


def test_where_nothing_can_be_written_nothing_breaks(program: Path) -> None:
    trouble = BrowserTrouble(program / "no-directory", program, Now())
    trouble.note("no")
    trouble.clear()
    assert trouble.find() is None
