"""Lines that run with the clock, found by earlier versions of the page in which other things were edited, too."""

from datetime import UTC, datetime

import pytest

from crawler.domain.noise.clock_lines import confirmed, lines_to_confirm, without_lines
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.earlier_values import moved_before
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.pages import blocks


def at(hour: int, minute: int, day: int = 12) -> datetime:
    return datetime(2026, 5, day, hour, minute, 20, tzinfo=UTC)


SIGHT = "<p>You look at this at {} from the pier. We keep {} boats.</p>"
CALLS = "<ul class='calls'><li>{}</li><li>The ferry</li></ul>"
FIRST = SIGHT.format("07:12", 30) + CALLS.format("Nobody called yet")
SECOND = SIGHT.format("09:31", 30) + CALLS.format("Nobody called yet")
THIRD = SIGHT.format("11:48", 30) + CALLS.format("Nobody called yet")


def compared(old: str, new: str) -> FilteredPage:
    return apply_noise_rules(blocks(old), blocks(new), moments=Moments(at(9, 31), at(11, 48)))


def left(page: FilteredPage, earlier: str, fetched_at: datetime) -> int:
    """Edits that are left when an earlier version of the page was asked."""
    asked = lines_to_confirm({"/": page})
    sure = confirmed(asked, {"/": moved_before(page, blocks(earlier), fetched_at)})
    return len(without_lines(page, sure).edits)


@pytest.mark.parametrize(
    "earlier",
    [
        FIRST,
        SIGHT.format("07:12", 28) + CALLS.format("Nobody called yet"),
        "<h2>Harbour</h2><p>Welcome.</p>" + FIRST + "<p>A line that went since</p>",
        SIGHT.format("07:12", 30).replace("We keep", "This week we keep") + "<p>No calls</p>",
    ],
)
def test_a_clock_is_known_whatever_else_was_edited_while_it_ran(earlier: str) -> None:
    page = compared(SECOND, THIRD)
    assert len(page.edits) == 1
    assert left(page, earlier, at(7, 12)) == 0


@pytest.mark.parametrize(
    "earlier",
    [
        SECOND,
        SIGHT.format("10:05", 30),
        "<p>You look at this from the pier.</p>",
        SIGHT.format("07:12", 30) + SIGHT.format("07:45", 31),
    ],
)
def test_a_time_that_did_not_run_before_is_told(earlier: str) -> None:
    """It stayed, was another one, was not there, or there were several of which nobody knows which."""
    assert left(compared(SECOND, THIRD), earlier, at(7, 12)) == 1


def test_what_was_edited_beside_the_clock_is_told() -> None:
    page = compared(SECOND, SIGHT.format("11:48", 31) + CALLS.format("Nobody called yet"))
    assert left(page, FIRST, at(7, 12)) == 1


def test_each_item_of_a_list_that_counts_down_is_known_by_its_own_words() -> None:
    def concerts(*days: int) -> str:
        return f"<ul>{''.join(f'<li>Concert {n} – in {left} days</li>' for n, left in enumerate(days, 1))}</ul>"

    moments = Moments(at(9, 31, 13), at(9, 48, 14))
    page = apply_noise_rules(blocks(concerts(6, 16, 51)), blocks(concerts(5, 15, 50)), moments=moments)
    assert len(page.edits) == 3
    assert left(page, concerts(7, 17, 52), at(9, 12)) == 0
    assert left(page, concerts(7, 29, 52), at(9, 12)) == 3, "one of them was put off: that is no clock"
