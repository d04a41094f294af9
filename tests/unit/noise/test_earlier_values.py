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


def test_the_hours_that_are_left_until_a_time_of_each_day_are_known_also_past_it() -> None:
    page = compared("<p>Order within 2 h 29 min.</p>", "<p>Order within 0 h 12 min.</p>")
    assert len(page.edits) == 1
    assert left(page, "<p>Order within 4 h 48 min.</p>", at(7, 12)) == 0
    assert left(page, "<p>Order within 2 h 29 min.</p>", at(7, 12)) == 1, "it stood still before: somebody edited it"
    past = compared("<p>Order within 1 h 29 min.</p>", "<p>Order within 23 h 12 min.</p>")
    assert left(past, "<p>Order within 3 h 48 min.</p>", at(7, 12)) == 0
    assert left(past, "<p>Order within 8 h 5 min.</p>", at(7, 12)) == 1, "it was no time that is left"


def on_day(old: str, new: str, earlier: str, *, day: int = 12) -> int:
    """Edits that are left of pages fetched on three days, one after the other."""
    moments = Moments(at(11, 5, day), at(11, 5, day + 1))
    page = apply_noise_rules(blocks(old), blocks(new), moments=moments)
    return left(page, earlier, at(11, 5, day - 1))


@pytest.mark.parametrize(
    "days",
    [
        ("<p>måndag 11 maj</p>", "<p>tisdag 12 maj</p>", "<p>onsdag 13 maj</p>"),
        ("<p>Monday, May 11</p>", "<p>Tuesday, May 12</p>", "<p>Wednesday, May 13</p>"),
        tuple(
            f"<p>Heute ist {day}. Mai 2026.</p>" for day in ("Montag, der 11", "Dienstag, der 12", "Mittwoch, der 13")
        ),
        ("<p>lundi le 11 mai</p>", "<p>mardi le 12 mai</p>", "<p>mercredi le 13 mai</p>"),
    ],
)
def test_the_day_of_the_fetch_is_known_by_itself_without_a_year_and_behind_its_article(days: tuple[str, ...]) -> None:
    first, second, third = days
    assert on_day(second, third, first) == 0
    assert on_day(second, third, third) == 1
    assert on_day(second, third.replace("13", "14"), first) == 1


ROWS = "<table><tr><th>What</th><th>When</th></tr>{}</table>"
ROW = "<tr><td>{}</td><td>{} days left</td></tr>"


def events(*days: int) -> str:
    return ROWS.format(
        "".join(ROW.format(name, left) for name, left in zip(("Fair", "Bath", "Race"), days, strict=True))
    )


def test_days_that_count_down_in_a_table_are_known_by_their_rows() -> None:
    before, page = events(13, 25, 53), (events(12, 24, 52), events(11, 23, 51))
    assert on_day(*page, before) == 0
    assert on_day(page[0], events(11, 30, 51), before) == 1
    assert on_day(*page, events(12, 24, 52)) == 3
    assert on_day(*page, events(19, 29, 57)) == 3


def in_weeks(line: str, *values: int | str) -> int:
    """Edits that are left of a line whose number became another week after week: 19, 20 and 21 were those of it."""
    earlier, old, new = (f"<p>{line.format(value)}</p><p>Welcome.</p>" for value in values)
    page = apply_noise_rules(blocks(old), blocks(new), moments=Moments(at(9, 31, 12), at(11, 48, 19)))
    assert len(page.edits) == 1
    return left(page, earlier, at(7, 12, 5))


@pytest.mark.parametrize(
    "line",
    [
        "Calendar week {}",
        "Week {} of the year",
        "Kalenderwoche {}",
        "KW {}",
        "Semaine {}",
        "Vecka {}",
        "Uke {}",
        "第{}週",
    ],
)
def test_the_week_of_the_fetch_is_known_by_itself(line: str) -> None:
    assert in_weeks(line, 19, 20, 21) == 0


DAYS = ["4 May", "11 May", "18 May"]


@pytest.mark.parametrize(
    ("line", "days"),
    [
        ("Week of {}", DAYS), ("Menu for the week of {}", ["May 4", "May 11", "May 18"]),
        ("Semaine du {} 2026", ["4 mai", "11 mai", "18 mai"]), ("Week commencing {}", ["3 May", "10 May", "17 May"]),
    ],
)  # fmt: skip
def test_the_first_day_of_the_week_of_the_fetch_is_known_by_itself(line: str, days: list[str]) -> None:
    assert in_weeks(line, *days) == 0


@pytest.mark.parametrize(
    ("line", "days"),
    [
        ("Week of {}", ["27 April", "11 May", "18 May"]), ("Week of {}", ["4 May", "11 May", "25 May"]),
        ("Week of {}", ["6 May", "13 May", "20 May"]), ("Open from {}", DAYS),
        ("Deliveries end in the week of {}", DAYS),
    ],
)  # fmt: skip
def test_other_days_of_weeks_are_told(line: str, days: list[str]) -> None:
    assert in_weeks(line, *days) == 1


@pytest.mark.parametrize(
    ("line", "weeks"),
    [
        ("Week {}", (18, 20, 21)), ("Week {}", (20, 20, 21)), ("Week {}", (19, 21, 22)), ("Week {}", (19, 20, 22)),
        ("{} places a week", (19, 20, 21)), ("Deliveries end in week {}", (19, 20, 21)), ("Room {}", (19, 20, 21)),
    ],
)  # fmt: skip
def test_another_week_and_a_number_of_weeks_are_told(line: str, weeks: tuple[int, ...]) -> None:
    assert in_weeks(line, *weeks) == 1


def test_an_age_in_days_and_in_parts_of_years_is_known_by_how_it_moved_before() -> None:
    def months(*ages: str) -> int:
        """Edits that are left of pages fetched a month apart."""
        first, second, third = (f"<p>Project age: {age}.</p>" for age in ages)
        fetched = [datetime(2026, month, 12, 11, 5, tzinfo=UTC) for month in (3, 4, 5)]
        page = apply_noise_rules(blocks(second), blocks(third), moments=Moments(fetched[1], fetched[2]))
        return left(page, first, fetched[0])

    before = "26 days or approximately 0.07 years"
    assert months(before, "57 days or approximately 0.16 years", "87 days or approximately 0.24 years") == 0
    assert months(before, "57 days or approximately 0.16 years", "87 days or approximately 0.34 years") == 1
    assert months(before, "57 days or approximately 0.16 years", "97 days or approximately 0.24 years") == 1
    assert months("26 days or approximately 0.05 years", "57 days or 0.16 years", "87 days or 0.24 years") == 1
    assert months("Rod of 0.07 yards", "Rod of 0.16 yards", "Rod of 0.24 yards") == 1


def test_a_number_of_years_that_had_to_stay_says_nothing_and_the_days_beside_it_do() -> None:
    def weeks(first: str, second: str, third: str) -> int:
        """Edits that are left of pages fetched after a day, and after a week."""
        pages = [f"<p>Project age: {age}.</p>" for age in (first, second, third)]
        page = apply_noise_rules(blocks(pages[1]), blocks(pages[2]), moments=Moments(at(11, 5, 12), at(11, 5, 19)))
        return left(page, pages[0], at(11, 5, 11))

    assert weeks("14 days or 0.04 years", "15 days or 0.04 years", "22 days or 0.06 years") == 0
    assert weeks("14 days or 0.04 years", "15 days or 0.04 years", "22 days or 0.08 years") == 1
    assert weeks("15 days or 0.04 years", "15 days or 0.04 years", "22 days or 0.06 years") == 1
    assert weeks("0.04 years", "0.04 years", "0.06 years") == 1, "nothing tells that it runs"
