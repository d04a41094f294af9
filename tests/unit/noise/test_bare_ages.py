"""Ages in columns and days by name: quiet when they follow our fetches, told when they do not."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.clock_lines import confirmed, lines_to_confirm, moves, without_clock_lines
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.earlier_values import Earlier, moved_before
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.template_changes import LineKey
from tests.unit.noise.pages import blocks

AT = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)


def rows(*ages: str) -> str:
    boats = ("Heron", "Osprey", "Tern", "Gannet", "Eider", "Skua")
    cells = (f"<tr><td>{boat}</td><td class='since'>{age}</td></tr>" for boat, age in zip(boats, ages, strict=False))
    return f"<table>{''.join(cells)}</table>"


def compared(old: str, new: str, *, hours: float) -> FilteredPage:
    return apply_noise_rules(blocks(old), blocks(new), moments=Moments(AT, AT + timedelta(hours=hours)))


@pytest.mark.parametrize(
    ("old", "new", "hours"),
    [
        (("43 minutes", "2 hours", "5 hours", "3 days"), ("3 hours", "4 hours", "7 hours", "3 days"), 2.3),
        (("5 min", "20 min", "1 h"), ("8 h", "8 h", "9 h"), 8),
        (("6 Stunden", "9 Stunden", "12 Stunden"), ("1 Tag", "1 Tag", "1 Tag"), 26),
        (("1 hour, 5 minutes", "2 h 10 min", "3 h 1 min"), ("2 hours, 35 minutes", "3 h 40 min", "4 h 31 min"), 1.5),
        (("12m", "40m", "2h"), ("1d", "1d", "1d"), 25),
        (
            ("7 May · 2 hours old", "6 May · 3 days old", "9 h old"),
            ("7 May · 2 days old", "6 May · 5 days old", "2 days old"),
            46,
        ),
        (("3 Tage alt", "5 Tage alt", "9 Tage alt"), ("8 Tage alt", "10 Tage alt", "14 Tage alt"), 120),
        (("3 jours", "5 jours", "9 jours"), ("8 jours", "10 jours", "14 jours"), 120),
        (
            ("anna · 2 hours", "ben · 3 hours", "eva · 7 hours"),
            ("anna · 6 hours", "ben · 7 hours", "eva · 11 hours"),
            4,
        ),
    ],
)
def test_a_column_of_ages_follows_our_fetches(old: tuple[str, ...], new: tuple[str, ...], hours: float) -> None:
    page = compared(rows(*old), rows(*new), hours=hours)
    assert (page.edits, page.rules) == ((), ("age",))


@pytest.mark.parametrize(
    ("old", "new", "hours"),
    [
        (("2 hours", "3 hours", "5 hours"), ("4 hours", "5 hours", "9 hours"), 2),
        (("2 hours", "3 hours", "5 hours", "30 minutes"), ("4 hours", "5 hours", "7 hours", "30 minutes"), 2),
        (("2 days", "3 days", "5 days"), ("3 days", "4 days", "6 days"), 2),
        (("3 hours", "3 hours", "3 hours"), ("5 hours", "5 hours", "5 hours"), 2),
        (("2 hours", "3 hours"), ("4 hours", "5 hours"), 2),
        (("16 years old",), ("17 years old",), 24),
        (("6 years old", "9 years old", "12 years old"), ("7 years old", "10 years old", "13 years old"), 24),
        (("anna · 2 hours", "ben · 3 hours", "eva · 7 hours"), ("ida · 6 hours", "ben · 7 hours", "eva · 11 hours"), 4),
    ],
)
def test_durations_that_do_not_all_follow_our_fetches_are_told(
    old: tuple[str, ...], new: tuple[str, ...], hours: float
) -> None:
    """One moved otherwise, one stayed, none had to move yet, all were the same, they are too few, a name changed."""
    assert compared(rows(*old), rows(*new), hours=hours).edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>Delivery in 3 hours</p>", "<p>Delivery in 5 hours</p>"),
        ("<p>We answer within 2 hours</p>", "<p>We answer within 4 hours</p>"),
        ("<p>Baking: 1 hour</p>", "<p>Baking: 3 hours</p>"),
        ("<p>3 hours</p>", "<p>5 hours</p>"),
        ("<p>Open 3 hours a day</p>", "<p>Open 5 hours a day</p>"),
    ],
)
def test_how_long_something_takes_is_told_though_it_grew_by_the_time_that_went_by(old: str, new: str) -> None:
    assert len(compared(old, new, hours=2).edits) == 1


def test_a_single_age_is_quiet_once_it_moved_with_the_clock_before() -> None:
    page = compared("<p class='up'>3 hours</p>", "<p class='up'>1 day</p>", hours=24)
    asked = lines_to_confirm({"/": page})
    before = moved_before(page, blocks("<p class='up'>40 minutes</p>"), AT - timedelta(hours=2.5))
    assert confirmed(asked, {"/": before}) == set(asked) != set()
    other = moved_before(page, blocks("<p class='up'>2 hours</p>"), AT - timedelta(hours=20))
    assert confirmed(asked, {"/": other}) == set(), "it was edited then"
    stayed = moved_before(page, blocks("<p class='up'>3 hours</p>"), AT - timedelta(hours=20))
    assert confirmed(asked, {"/": stayed}) == set()


@pytest.mark.parametrize(
    ("first", "old", "new", "hours"),
    [("2 hours", "4 hours", "5 hours", 0.75), ("3 days", "5 days", "6 days", 15), ("12 days", "14 days", "15 days", 5)],
)
def test_an_age_that_moved_before_its_time_is_quiet_if_it_was_seen_to_be_one(
    first: str, old: str, new: str, hours: float
) -> None:
    """Crawls are often nearer than the unit in which an age counts."""
    page = compared(f"<p class='up'>{old}</p>", f"<p class='up'>{new}</p>", hours=hours)
    assert page.edits, "nothing is known yet"
    asked, unit = lines_to_confirm({"/": page}), 1 if "hour" in old else 24
    before = moved_before(page, blocks(f"<p class='up'>{first}</p>"), AT - timedelta(hours=2 * unit))
    assert confirmed(asked, {"/": before}) == set(asked) != set()
    weak = moved_before(page, blocks(f"<p class='up'>{old}</p>"), AT - timedelta(hours=hours))
    assert confirmed(asked, {"/": weak}) == set(), "it stood still"
    pages = {f"/{number}": page for number in range(4)}
    assert without_clock_lines(pages) == pages, "on many pages at once it says no more"


@pytest.mark.parametrize("old", ["0 Days 0 Hours 43 Minutes", "3 days, 2 hours, 43 minutes", "1 d 2 h 43 min"])
def test_the_time_that_a_machine_is_up_is_an_age(old: str) -> None:
    page = compared(f"<p class='up'>{old}</p>", f"<p class='up'>{old.replace('43', '48')}</p>", hours=1 / 12)
    assert lines_to_confirm({"/": page})
    page = compared(f"<p class='up'>{old}</p>", f"<p class='up'>{old.replace('43', '58')}</p>", hours=1 / 12)
    assert not lines_to_confirm({"/": page}), "it moved otherwise"


def test_the_youngest_age_of_a_column_is_quiet_once_it_moved_with_the_clock_before() -> None:
    """The others need not move yet."""
    page = compared(rows("4 hours", "4 days", "9 days"), rows("6 hours", "4 days", "9 days"), hours=2)
    assert page.edits, "one that moved is not enough"
    asked = lines_to_confirm({"/": page})

    def earlier(*ages: str) -> set[LineKey]:
        return confirmed(asked, {"/": moved_before(page, blocks(rows(*ages)), AT - timedelta(hours=2))})

    assert earlier("2 hours", "4 days", "9 days") == set(asked) != set()
    assert earlier("4 hours", "2 hours", "9 days") == set(), "it stood there, and so did another that fits"
    assert earlier("10 minutes", "4 days", "9 days") == set(), "it was edited then"
    assert earlier("4 days", "9 days") == set(), "it was not there"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<h3>Today</h3>", "<h3>Yesterday</h3>"),
        ("<p>Today, 12 May 2026</p>", "<p>Yesterday, 12 May 2026</p>"),
        ("<p>Heute · 12.05.2026 · 3 Boote</p>", "<p>Gestern · 12.05.2026 · 3 Boote</p>"),
        ("<p>Anna, aujourd’hui, 10:15</p>", "<p>Anna, hier, 10:15</p>"),
        ("<p>오늘 10:15</p>", "<p>어제 10:15</p>"),
    ],
)
def test_today_is_yesterday_a_day_later(old: str, new: str) -> None:
    page = compared(old, new, hours=24)
    assert (page.edits, page.rules) == ((), ("age",))
    assert compared(old, new, hours=72).edits, "but not three days later"
    assert compared(old, new, hours=0.2).edits, "nor on the same day"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<h2>05/11/26: Yesterday</h2>", "<h2>05/11/26:</h2>"),
        ("<p>12.05.2026 (heute)</p>", "<p>12.05.2026</p>"),
        ("<p>13 May 2026</p>", "<p>Today, 13 May 2026</p>"),
        ("<p>12 May 2026</p>", "<p>12 May 2026 – yesterday</p>"),
    ],
)
def test_a_date_is_called_today_while_it_is(old: str, new: str) -> None:
    page = compared(old, new, hours=24)
    assert (page.edits, page.rules) == ((), ("age",))
    assert compared(old, new, hours=0.2).edits, "not on the same day"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>Closed today, 12 May 2026</p>", "<p>Open, 12 May 2026</p>"),
        ("<p>Today, 14 May 2026</p>", "<p>14 May 2026</p>"),
        ("<p>Yesterday</p>", "<p></p>"),
        ("<p>Open today</p>", "<p>Open</p>"),
    ],
)
def test_a_day_whose_name_goes_otherwise_is_told(old: str, new: str) -> None:
    assert compared(old, new, hours=24).edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<p>Closed today because of the storm</p>", "<p>Closed yesterday because of the storm</p>"),
        ("<p>Today, 14 May 2026</p>", "<p>Yesterday, 14 May 2026</p>"),
        ("<p>Today, 12 May 2026</p>", "<p>Yesterday, 11 May 2026</p>"),
        ("<p>Today: soup, 12:00</p>", "<p>Yesterday: stew, 12:00</p>"),
    ],
)
def test_a_day_by_name_with_anything_else_is_told(old: str, new: str) -> None:
    assert compared(old, new, hours=24).edits


def test_an_age_is_read_though_the_next_element_follows_without_a_space() -> None:
    old, new = "<p>43 minutes ago<a>Heron</a></p>", "<p>3 hours ago<a>Heron</a></p>"
    assert compared(old, new, hours=2.3).rules == ("age",)
    assert compared(old, new.replace("Heron", "Tern"), hours=2.3).edits
    assert compared(old, new, hours=9).edits


def test_an_age_that_is_written_as_its_date_later_went_on_with_the_clock() -> None:
    old = rows("6d", "3d", "2d", "1d")
    assert compared(old, rows("6 May", "5d", "4d", "3d"), hours=49).edits == ()
    assert compared(old, rows("6 May 2026", "5d", "4d", "3d"), hours=49).edits == ()
    told = compared(old, rows("1 May", "5d", "4d", "3d"), hours=49).edits
    assert len(told) == 4, "it is another day, so these are no ages"


def test_days_that_all_became_one_more_in_a_day_are_told_unless_they_did_so_before() -> None:
    """Delivery may take a day longer everywhere, from one day to the next."""
    page = compared(rows("3 days", "5 days", "9 days"), rows("4 days", "6 days", "10 days"), hours=24)
    assert len(page.edits) == 3
    asked = lines_to_confirm({"/": page})
    seen = moved_before(page, blocks(rows("3 days", "5 days", "9 days")), AT - timedelta(hours=24))
    assert confirmed(asked, {"/": seen}) == set()
    seen = moved_before(page, blocks(rows("2 days", "4 days", "8 days")), AT - timedelta(hours=24))
    assert confirmed(asked, {"/": seen}) == set(asked)


def test_an_age_among_others_is_known_by_its_row() -> None:
    """Of several ages any may have become this one; the name of the row says which did."""
    page = compared(rows("4d", "2d", "3d"), rows("5d", "2d", "3d"), hours=7)
    asked = lines_to_confirm({"/": page})
    assert len(page.edits) == 1
    seen = moved_before(page, blocks(rows("3d", "2d", "3d")), AT - timedelta(hours=30))
    assert confirmed(asked, {"/": seen}) == set(asked)
    seen = moved_before(page, blocks(rows("9d", "3d", "2d")), AT - timedelta(hours=30))
    assert confirmed(asked, {"/": seen}) == set()


@pytest.mark.parametrize(("second", "told"), [("22 min.", []), ("4 min.", [False])])
def test_a_minute_that_ends_between_two_looks_does_not_tell_against_an_age(second: str, told: list[bool]) -> None:
    at = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)
    first, later = (blocks(f"<p class='idle'>{age}</p>") for age in ("21 min.", second))
    looks = apply_noise_rules(first, later, RuleSet.of([]), moments=Moments(at, at + timedelta(seconds=12)))
    assert list(moves(looks).values()) == told


def test_an_age_that_began_anew_says_nothing_about_those_beside_it() -> None:
    """One row was edited in the crawl before: its age began anew. The others ran with the clock then."""
    at_first, edited = ("11.2 days", "11.2 days"), ("11.4 days", "20.0 minutes")
    page = compared(rows(*edited), rows("11.5 days", "3.3 hours"), hours=3)
    assert len(page.edits) == 2
    asked = lines_to_confirm({"/": page})
    seen = moved_before(page, blocks(rows(*at_first)), AT - timedelta(hours=4))
    assert confirmed(asked, {"/": seen}) == set(asked) != set()
    stayed = moved_before(page, blocks(rows("11.4 days", "11.2 days")), AT - timedelta(hours=4))
    assert confirmed(asked, {"/": stayed}) == set(), "none was seen to run with the clock"
    other = moved_before(page, blocks(rows("9.1 days", "11.2 days")), AT - timedelta(hours=4))
    assert confirmed(asked, {"/": other}) == set(), "the other one was edited then"
    later = compared(rows(*edited), rows("11.5 days", "5.3 hours"), hours=3)
    assert [edit.removed.text for edit in later.clock if edit.removed] == ["11.4 days"], "it did not run since"


def test_an_age_that_began_anew_is_known_by_how_it_moved_before() -> None:
    page = compared(rows("20.0 minutes"), rows("3.3 hours"), hours=3)
    asked = lines_to_confirm({"/": page})
    nearer = Earlier(blocks(rows("12.2 days")), AT - timedelta(hours=3))

    def further(age: str, *, hours: float) -> set[LineKey]:
        at = AT - timedelta(hours=hours)
        return confirmed(asked, {"/": moved_before(page, blocks(rows(age)), at, nearer)})

    assert further("11.2 days", hours=27) == set(asked) != set()
    assert further("9.2 days", hours=27) == set(), "it was edited then"
    assert further("12.2 days", hours=4) == set(), "it stood still"
    old = Earlier(blocks(rows("12.2 days")), AT - timedelta(minutes=10))
    seen = moved_before(page, blocks(rows("11.2 days")), AT - timedelta(hours=24.2), old)
    assert confirmed(asked, {"/": seen}) == set(), "nothing can have happened 20 minutes ago"
