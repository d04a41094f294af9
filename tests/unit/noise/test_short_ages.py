"""Ages as sites abbreviate them, in several languages."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.builtin import builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moving_values import value_changes

AT = datetime(2026, 11, 15, 10, tzinfo=UTC)


def is_noise(old: str, new: str, hours: float) -> bool:
    moments = Moments(AT, AT + timedelta(hours=hours))
    changes = value_changes(f"Bread {old}", f"Bread {new}")
    return bool(changes) and all(builtin_rule(change, moments) for change in changes or ())


@pytest.mark.parametrize(("old", "new", "hours"), [
    ("6 ч. назад", "13 ч. назад", 7), ("19 ч. назад", "1 дн. назад", 11), ("6 дн. назад", "1 нед. назад", 24),
    ("6 dni temu", "1 tyg. temu", 20), ("2 godz. temu", "9 godz. temu", 7), ("3 min. temu", "2 godz. temu", 2),
    ("6日前", "1週間前", 24), ("1週間前", "2週間前", 7 * 24), ("6天前", "1周前", 24), ("6일 전", "1주 전", 24),
    ("11 мес. назад", "1 г. назад", 30 * 24),
])  # fmt: skip
def test_an_age_that_went_on_with_the_clock_is_quiet(old: str, new: str, hours: float) -> None:
    assert is_noise(old, new, hours)


@pytest.mark.parametrize(("old", "new"), [
    ("6 чел. назад", "13 чел. назад"), ("6日前", "6週間前"), ("1 ч.", "8 ч."), ("13 ч. назад", "6 ч. назад"),
])  # fmt: skip
def test_what_is_no_age_or_another_one_is_told(old: str, new: str) -> None:
    assert not is_noise(old, new, 7)


@pytest.mark.parametrize(("old", "new", "hours"), [
    ("Friday at 14:24", "November 13, 2026", 5 * 24), ("Friday at 14:24", "November 13, 2026 at 14:24", 5 * 24),
    ("Freitag um 14:24", "13.11.2026", 5 * 24), ("vendredi à 14:24", "13 novembre 2026", 6 * 24),
    ("Yesterday at 14:24", "Saturday at 14:24", 24),
])  # fmt: skip
def test_a_day_of_the_last_week_may_be_written_as_a_date_later(old: str, new: str, hours: float) -> None:
    assert is_noise(old, new, hours)  # AT is a Sunday


@pytest.mark.parametrize(("old", "new"), [
    ("Friday at 14:24", "November 20, 2026"), ("Friday at 14:24", "November 13, 2026 at 16:00"),
    ("Friday at 14:24", "Monday at 14:24"), ("Friday at 14:24", "Friday at 16:00"), ("Friday", "Monday"),
    ("ends Friday at 14:24", "ends November 13, 2026"),
])  # fmt: skip
def test_another_day_or_time_is_told(old: str, new: str) -> None:
    assert not is_noise(old, new, 5 * 24)


@pytest.mark.parametrize(("old", "new"), [
    ("Saturday 9:00-13:00", "Saturday 9:00-14:00"), ("Saturday 9:00 – 13:00", "Saturday 9:00 – 14:00"),
    ("Saturday, 9:00 - 12:00", "Saturday, 9:00 - 12:30"), ("Samstag 9:00-13:00", "Samstag 9:00-12:00"),
    ("Monday to Friday 9:00-18:00", "Monday to Friday 9:00-17:00"), ("Friday 14:00", "Friday"),
    ("Saturday 10:00 am - 1:00 pm", "Saturday 10:00 am - 2:00 pm"), ("Saturday", "Saturday 9:00"),
    ("Friday 9:00-13:00", "November 13, 2026, 9:00-14:00"), ("yesterday 9:00-13:00", "November 14, 2026, 9:00-14:00"),
])  # fmt: skip
@pytest.mark.parametrize("hours", [0.2, 24, 5 * 24])
def test_other_hours_of_the_same_day_are_told(old: str, new: str, hours: float) -> None:
    assert not is_noise(old, new, hours)


@pytest.mark.parametrize(("old", "new", "hours"), [
    ("3 hours ago", "2 hours ago", 0.1), ("opened 3 years ago", "opened 2 years ago", 24),
    ("2 weeks ago", "1 week ago", 24), ("vor 4 Monaten", "vor 3 Monaten", 24),
    ("1 year, 2 months ago", "1 year, 1 month ago", 24), ("3日前", "2日前", 1),
])  # fmt: skip
def test_what_is_not_so_long_ago_as_it_was_is_told(old: str, new: str, hours: float) -> None:
    assert not is_noise(old, new, hours)
    assert is_noise(new, old, hours), "the other way round the clock may have done it"


@pytest.mark.parametrize(("old", "new", "hours"), [
    ("10 days ago", "1 week ago", 1), ("90 minutes ago", "1 hour ago", 0.1), ("26 hours ago", "1 day ago", 1),
    ("1 day, 3 hours ago", "1 day ago", 0.1), ("several seconds ago", "5 seconds ago", 0.001),
])  # fmt: skip
def test_what_is_said_less_closely_later_is_the_same_age(old: str, new: str, hours: float) -> None:
    assert is_noise(old, new, hours)
