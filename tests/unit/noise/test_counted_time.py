"""Counts of hours, minutes and seconds may run with the clock; all other counts, and those moved by one, are edits."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.clock_lines import without_clock_lines
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.pages import blocks

AT = datetime(2026, 11, 18, 9, 30, 12, tzinfo=UTC)
DAILY = Moments(AT, AT + timedelta(hours=23, minutes=17))
AT_ONCE = Moments(AT, AT + timedelta(seconds=1))


def told(line: str, *counts: tuple[int, int], moments: Moments = DAILY) -> int:
    """On how many pages a line is told that has a count of its own on each."""
    pages: dict[str, FilteredPage] = {}
    for at, pair in enumerate(counts):
        old, new = (blocks(f"<p>{line.format(count)}</p><p>Page {'abcdefgh'[at]}</p>") for count in pair)
        pages[str(at)] = apply_noise_rules(old, new, moments=moments)
    return sum(bool(page.edits) for page in without_clock_lines(pages).values())


@pytest.mark.parametrize(
    "line",
    [
        "Cited {} times", "Read by {} students", "{} sandwiches a day", "{} sections", "{} minors live here",
        "{} seats", "{} oranges", "{} hommes", "{} segments", "{} Santas",
    ],
)  # fmt: skip
@pytest.mark.parametrize("moments", [DAILY, AT_ONCE])
def test_what_is_no_time_runs_with_no_clock(line: str, moments: Moments) -> None:
    assert told(line, (30, 31), (40, 41), (45, 46), moments=moments) == 3


@pytest.mark.parametrize("line", ["The tour takes {} hours", "{} Stunden", "Shipping takes {} days", "Cook for {} min"])
def test_counts_that_moved_by_one_are_told_on_however_many_pages(line: str) -> None:
    assert told(line, (5, 6), (2, 3), (3, 4)) == 3


def test_hours_and_minutes_that_are_left_are_quiet_on_three_pages() -> None:
    assert told("Order within {} min", (12, 29), (50, 7), (40, 57)) == 0
    assert told("Order within {} min", (12, 29), (50, 7), (40, 59)) == 3
