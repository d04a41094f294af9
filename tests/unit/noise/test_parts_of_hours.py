"""Ages in parts of hours and in words: `1/4 hour ago`, `an hour and a half ago`."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.builtin import builtin_rule
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.moving_values import skeleton, value_changes
from tests.unit.noise.test_bare_ages import compared, rows

AT = datetime(2026, 11, 15, 10, tzinfo=UTC)


def is_noise(old: str, new: str, minutes: float) -> bool:
    moments = Moments(AT, AT + timedelta(minutes=minutes))
    changes = value_changes(f"Seen {old} by Ann", f"Seen {new} by Ann")
    return bool(changes) and all(builtin_rule(change, moments) for change in changes or ())


@pytest.mark.parametrize(
    ("old", "new", "minutes"),
    [
        ("14 minutes ago", "1/4 hour ago", 3),
        ("1/4 hour ago", "1/2 an hour ago", 15),
        ("1/2 an hour ago", "3/4 hour ago", 14),
        ("3/4 hour ago", "an hour ago", 15),
        ("an hour ago", "1 1/4 hours ago", 15),
        ("1 1/4 hours ago", "1 1/2 hours ago", 14),
        ("1 1/2 hours ago", "3 hours ago", 90),
        ("1½ hours ago", "2½ hours ago", 60),
        ("½ hour ago", "1 ½ hours ago", 60),
        ("1.5 hours ago", "3.5 hours ago", 120),
        ("half an hour ago", "an hour and a half ago", 60),
        ("a quarter of an hour ago", "three quarters of an hour ago", 30),
        ("two hours ago", "five hours ago", 180),
        ("one and a half hours ago", "a day and a half ago", 33 * 60),
        ("a couple of minutes ago", "two hours ago", 120),
        ("just now", "half an hour ago", 30),
        ("right now", "68 min ago", 68),
        ("right nowThe boats were painted", "68 min agoThe boats were painted", 68),
    ],
)
def test_parts_and_words_move_with_the_clock(old: str, new: str, minutes: float) -> None:
    assert is_noise(old, new, minutes)
    assert not is_noise(old, new, minutes + 24 * 60), "so much more time went by"


@pytest.mark.parametrize(
    ("old", "new", "minutes"),
    [
        ("1/4 hour ago", "1/4 hour ago by Bob", 5),
        ("3/4 hour ago", "1/4 hour ago", 60),
        ("1 1/2 hours ago", "1/4 hour ago", 60),
        ("two hours ago", "twelve hours ago", 60),
        ("an hour and a half ago", "half an hour ago", 120),
        ("1 1/2 hours ago", "1 3/4 hours ago", 120),
    ],
)
def test_an_age_that_moved_otherwise_is_told(old: str, new: str, minutes: float) -> None:
    assert not is_noise(old, new, minutes)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Seen 1 1/2 hours ago by Ann", "Seen @ by Ann"),
        ("Seen an hour and a half ago by Ann", "Seen @ by Ann"),
        ("Take 1 1/2 cups and wait two hours", "Take # #/# cups and wait two hours"),
        ("One and a half pages, two hours", "One and a half pages, two hours"),
        ("Half a day and two hours of walking", "Half a day and two hours of walking"),
    ],
)
def test_only_ages_are_taken_out_of_a_line(line: str, words: str) -> None:
    assert skeleton(line).words == words


def test_a_column_of_parts_of_hours_follows_our_fetches() -> None:
    old, new = ("1/4 hour", "1/2 hour", "1 1/4 hours"), ("1 1/4 hours", "1 1/2 hours", "2 1/4 hours")
    page = compared(rows(*old), rows(*new), hours=1)
    assert (page.edits, page.rules) == ((), ("age",))
    other = compared(rows(*old), rows("1 1/4 hours", "3 1/2 hours", "2 1/4 hours"), hours=1)
    assert other.edits
