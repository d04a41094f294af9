"""Clocks to the minute and stamps of the last edit are quiet, in the formats and languages that sites use; edits that
look like them are told."""

from datetime import datetime, timedelta

import pytest

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.pages import html
from tests.unit.noise.self_moving import (
    CLOCKS_THAT_NEED_MORE,
    CLOCKS_TO_THE_MINUTE,
    FIRST,
    NEAR_MISSES,
    NEXT_DAY,
    SAME_DAY,
    STAMPS,
    Clock,
    Stamp,
)


def filtered(old: str, new: str, moments: Moments, body: str = "<p>{}</p>") -> FilteredPage:
    before, after = (read_blocks(html(body.format(text.replace("<", "&lt;")))) for text in (old, new))
    return apply_noise_rules(before, after, moments=moments)


def name(value: object) -> str | None:
    return value[0] if isinstance(value, tuple) else None


@pytest.mark.parametrize("later", [SAME_DAY, NEXT_DAY, FIRST + timedelta(minutes=4)], ids=["hours", "day", "minutes"])
@pytest.mark.parametrize("clock", CLOCKS_TO_THE_MINUTE, ids=name)
def test_a_moment_to_the_minute_that_is_that_of_each_fetch_is_quiet(clock: Clock, later: datetime) -> None:
    late = timedelta(seconds=9)  # it takes a while until the page is here
    old, new = clock.at(FIRST), clock.at(later)
    assert old != new
    page = filtered(old, new, Moments(FIRST + late, later + late))
    if clock.is_mere_time and later - FIRST < timedelta(hours=1):
        assert page.clock, "at nearly the same time of the day it says less"
    else:
        assert (page.edits, page.rules) == ((), ("date of the fetch",))


@pytest.mark.parametrize("clock", CLOCKS_TO_THE_MINUTE, ids=name)
def test_the_same_moments_at_other_fetches_are_told(clock: Clock) -> None:
    old, new = clock.at(FIRST), clock.at(SAME_DAY)
    assert filtered(old, new, Moments(FIRST, SAME_DAY + timedelta(minutes=23))).edits
    assert filtered(old, new, Moments(FIRST - timedelta(minutes=23), SAME_DAY)).edits
    assert filtered(old, new, Moments()).edits
    assert filtered(new, old, Moments(FIRST, SAME_DAY)).edits, "no clock runs backwards"


@pytest.mark.parametrize("clock", CLOCKS_THAT_NEED_MORE, ids=name)
def test_a_coarser_moment_is_told_and_suspected(clock: Clock) -> None:
    old, new = clock.at(FIRST), clock.at(SAME_DAY)
    page = filtered(old, new, Moments(FIRST, SAME_DAY))
    assert page.edits
    assert page.clock


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("41 days without an accident", "44 days without an accident"),
        ("Days since we opened: 1041", "Days since we opened: 1044"),
        ("Noch 12 Tage bis zum Fest", "Noch 9 Tage bis zum Fest"),
        ("開店から41日", "開店から44日"),
    ],
)
def test_a_count_of_days_that_moves_by_the_days_that_went_by_is_told_and_suspected(old: str, new: str) -> None:
    page = filtered(old, new, Moments(FIRST, FIRST + timedelta(days=3, hours=2)))
    assert page.edits
    assert page.clock
    assert not filtered(old, new, Moments(FIRST, FIRST + timedelta(days=5))).clock


@pytest.mark.parametrize(
    ("old", "new", "hours", "edited"),
    [
        ("Order within 21 h 12 min", "Order within 15 h 9 min", 6.05, "Order within 13 h 9 min"),
        ("Order within 3 h 12 min", "Order within 21 h 12 min", 6, "Order within 19 h 12 min"),
        ("Noch 5 Stunden, 40 Minuten", "Noch 2 Stunden, 10 Minuten", 3.5, "Noch 4 Stunden, 40 Minuten"),
        ("Ends in 21h 12m 40s", "Ends in 20h 42m 39s", 0.5, "Ends in 18h 12m 40s"),
        ("up 3 hours, 12 minutes", "up 9 hours, 13 minutes", 6, "up 7 hours, 12 minutes"),
        ("あと3時間12分", "あと21時間12分", 6, "あと19時間12分"),
    ],
)
def test_hours_and_minutes_that_move_by_the_time_that_went_by_are_told_and_suspected(
    old: str, new: str, hours: float, edited: str
) -> None:
    moments = Moments(FIRST, FIRST + timedelta(hours=hours))
    page = filtered(old, new, moments)
    assert page.edits
    assert page.clock
    assert not filtered(old, edited, moments).clock


def test_a_mere_time_that_runs_between_two_looks_of_one_crawl_is_suspected() -> None:
    later = FIRST + timedelta(minutes=2)
    assert filtered("Wir haben 10:13", "Wir haben 10:15", Moments(FIRST, later)).clock
    assert not filtered("Wir haben 10:13", "Wir haben 10:19", Moments(FIRST, later)).clock
    assert not filtered("Wir haben 10:24", "Wir haben 10:26", Moments(FIRST, later)).clock, "in no zone"
    day = timedelta(days=1)
    assert not filtered("Wir haben 10:13", "Wir haben 10:15", Moments(FIRST, later + day)).clock


@pytest.mark.parametrize("later", [SAME_DAY, FIRST + timedelta(days=3)], ids=["hours", "days"])
@pytest.mark.parametrize("stamp", STAMPS, ids=name)
def test_a_stamp_of_the_last_edit_is_quiet_with_the_name_of_who_made_it(stamp: Stamp, later: datetime) -> None:
    new = (later - timedelta(minutes=40)).strftime(stamp.new)
    page = filtered(stamp.old, new, Moments(FIRST, later))
    assert (page.edits, page.rules) == ((), ("stamp",))


@pytest.mark.parametrize("stamp", STAMPS, ids=name)
def test_an_edit_beside_a_stamp_is_told_alone(stamp: Stamp) -> None:
    new = (SAME_DAY - timedelta(minutes=40)).strftime(stamp.new)
    old_page, new_page = (
        read_blocks(html(f"<p>{text}</p><p>We open at {hour}.</p>")) for text, hour in ((stamp.old, 8), (new, 9))
    )
    page = apply_noise_rules(old_page, new_page, moments=Moments(FIRST, SAME_DAY))
    assert [edit.added.text for edit in page.edits if edit.added] == ["We open at 9."]


@pytest.mark.parametrize(
    "body",
    [
        "<dl><dt>Last modified</dt><dd>{}</dd></dl>",
        "<table><tr><th>Zuletzt geändert</th><td>{}</td></tr></table>",
        "<div><span class='l'>Last updated:</span> <span class='v'>{}</span></div>",
    ],
)
def test_a_stamp_may_stand_beside_its_label(body: str) -> None:
    page = filtered("3 May 2026 by anna", "14 November 2026 by bob", Moments(FIRST, SAME_DAY), body)
    assert (page.edits, page.rules) == ((), ("stamp",))
    other = body.replace("modified", "concert").replace("geändert", "gespielt").replace("updated", "played")
    assert filtered("3 May 2026 by anna", "14 November 2026 by bob", Moments(FIRST, SAME_DAY), other).edits


@pytest.mark.parametrize("later", [SAME_DAY, NEXT_DAY], ids=["hours", "day"])
@pytest.mark.parametrize(("old", "new"), NEAR_MISSES, ids=[new for _, new in NEAR_MISSES])
def test_an_edit_that_looks_like_a_clock_or_a_stamp_is_told(old: str, new: str, later: datetime) -> None:
    assert filtered(old, new, Moments(FIRST, later)).edits


@pytest.mark.parametrize(
    ("old", "new", "hours"),
    [("25 October 2026 01:20", "25 October 2026 05:20", 5), ("29 March 2026 01:20", "29 March 2026 06:20", 4)],
)
def test_a_clock_runs_through_the_night_in_which_it_is_put_forward_or_back(old: str, new: str, hours: int) -> None:
    """In Europe; the hours that really went by are one more or less than those shown."""
    before = datetime.fromisoformat("2026-10-24T23:20:30Z" if hours == 5 else "2026-03-29T00:20:30Z")
    page = filtered(f"It is {old}", f"It is {new}", Moments(before, before + timedelta(hours=hours)))
    assert not page.edits or page.clock
