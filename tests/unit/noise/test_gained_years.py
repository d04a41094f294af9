"""A date that gains its year when another year begins is the same moment; all that looks like it is told."""

from datetime import UTC, datetime

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moments import dates_in
from crawler.domain.noise.page_noise import apply_noise_rules
from tests.unit.noise.pages import blocks

DECEMBER = datetime(2026, 12, 30, 9, 12, tzinfo=UTC)
LATER_IN_DECEMBER = datetime(2026, 12, 31, 7, 5, tzinfo=UTC)
JANUARY = datetime(2027, 1, 1, 9, 40, tzinfo=UTC)
SECOND_OF_JANUARY = datetime(2027, 1, 2, 12, tzinfo=UTC)
FEBRUARY = datetime(2027, 2, 3, 9, 40, tzinfo=UTC)
TURN = (DECEMBER, JANUARY)


def told(old: str, new: str, at: tuple[datetime, datetime] = TURN) -> list[tuple[str, str]]:
    before, after = (blocks(f"<h1>Topic</h1><p class=when>{line}</p>") for line in (old, new))
    page = apply_noise_rules(before, after, moments=Moments(*at))
    return [(edit.removed.text if edit.removed else "", edit.added.text if edit.added else "") for edit in page.edits]


@pytest.mark.parametrize("shape", ["{}", "by anna, {}", "{} by anna", "anna wrote on {}: I like terns"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("25 Dec", "25 Dec '26"),
        ("25 Dec", "25 Dec ’26"),
        ("3 Oct", "3 Oct 2026"),
        ("Oct 3", "Oct 3, 2026"),
        ("3. Oktober", "3. Oktober 2026"),
        ("3 de octubre", "3 de octubre de 2026"),
        ("October 3rd", "October 3rd, 2026"),
        ("3 Oct 14:05", "3 Oct 2026 14:05"),
        ("3 Oct, 14:05", "3 Oct 2026, 14:05"),
        ("Saturday 3 October", "Saturday 3 October 2026"),
    ],
)
def test_a_date_that_gains_the_year_it_was_read_in_is_quiet(old: str, new: str, shape: str) -> None:
    assert told(shape.format(old), shape.format(new)) == []
    assert told(shape.format(old), shape.format(new), (DECEMBER, FEBRUARY)) == []


def test_it_may_be_another_year_there_already() -> None:
    evening = datetime(2026, 12, 31, 20, tzinfo=UTC)
    assert told("3 Oct", "3 Oct 2026", (DECEMBER, evening)) == []


@pytest.mark.parametrize("at", [(DECEMBER, LATER_IN_DECEMBER), (SECOND_OF_JANUARY, FEBRUARY)])
def test_who_adds_a_year_at_another_time_edits(at: tuple[datetime, datetime]) -> None:
    assert told("3 Oct", "3 Oct 2026", at) == [("3 Oct", "3 Oct 2026")]
    assert told("3 Oct", "3 Oct '26", at) == [("3 Oct", "3 Oct '26")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("3 Oct", "3 Oct 2027"),
        ("3 Oct", "3 Oct 2025"),
        ("3 Oct", "3 Oct '27"),
        ("3 Oct", "4 Oct 2026"),
        ("3 Oct", "3 Nov 2026"),
        ("3 Oct 2026", "3 Oct"),
        ("3 Oct '26", "3 Oct"),
        ("3 Oct 14:05", "3 Oct 2026 15:05"),
        ("3 Oct 14:05", "3 Oct 2026"),
        ("3 Oct", "3 Oct 2026 14:05"),
        ("Oct 26", "Oct 2026"),
        ("Saturday 3 October", "Sunday 3 October 2026"),
        ("3 Oct – 5 Oct", "3 Oct 2026 – 5 Nov 2026"),
        ("3 Oct: ferry", "3 Oct 2026: tram"),
        ("Room 12", "Room 12 '26"),
    ],
)
def test_other_dates_and_other_words_are_told(old: str, new: str) -> None:
    assert told(old, new) == [(old, new)]


@pytest.mark.parametrize("line", ["Valid until {}", "Registration ends {}", "Next meeting: {}"])
def test_appointments_are_told(line: str) -> None:
    assert told(line.format("3 Oct"), line.format("3 Oct 2026")) != []


def test_a_year_of_two_digits_is_read() -> None:
    assert dates_in("25 Dec '26") == dates_in("Dec 25, '26") == dates_in("25 December 2026")
    assert dates_in("25 Dec", {2024}) == dates_in("25 Dec '24")
