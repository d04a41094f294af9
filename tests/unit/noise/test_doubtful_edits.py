"""Edits that look a little like noise: where it is in doubt they are told."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.filtered_changes import FilteredChanges, bounded, filter_changes
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules

FIRST = datetime(2026, 11, 15, 10, tzinfo=UTC)
NAV = "<nav><a href=/>Home</a><a href=/x>Shop</a><a href=/in>Log in</a></nav>"
NAMES = ("opera", "jazz", "rock", "folk")


def page(title: str, body: str) -> bytes:
    foot = "<footer><p>Acme Ltd Bristol</p></footer>"
    return f"<html><title>{title}</title><body>{NAV}<h1>{title}</h1>{body}{foot}</body></html>".encode()


def compared(
    pairs: list[tuple[bytes, bytes]], apart: timedelta = timedelta(days=1), others: int = 3
) -> FilteredChanges:
    moments = Moments(FIRST, FIRST + apart)
    pages = {
        f"/{n}": bounded(apply_noise_rules(read_blocks(old), read_blocks(new), moments=moments))
        for n, (old, new) in enumerate(pairs)
    }
    return filter_changes(Changes((), (), tuple(pages), tuple(f"/u{n}" for n in range(others)), ()), pages)


def is_told(found: FilteredChanges) -> bool:
    return bool(found.changes.changed or found.template)


def dated(line: str, old: str, new: str) -> list[tuple[bytes, bytes]]:
    def on(day: str, name: str) -> bytes:
        return page(f"Ev {name}", f"<p>{line.format(day)}</p><p>About {name}, only {name}.</p>")

    return [(on(old, name), on(new, name)) for name in NAMES]


@pytest.mark.parametrize("line", ["Date: {}", "Today: {}", "Court date: {}", "{}", "Published {}", "Nightly of {}"])
def test_a_date_moved_by_a_day_between_fetches_of_one_day_is_told(line: str) -> None:
    pairs = dated(line, "15 November 2026", "16 November 2026")
    assert is_told(compared(pairs, timedelta(minutes=15)))
    assert is_told(compared(pairs, timedelta(seconds=20)))


@pytest.mark.parametrize("line", ["Date: {}", "Court date: {}", "Published {}", "Calendar of {}"])
def test_words_that_appointments_have_too_are_no_evidence_of_a_clock(line: str) -> None:
    assert is_told(compared(dated(line, "15 November 2026", "16 November 2026")))


def test_events_that_are_moved_by_a_day_keep_their_times_and_are_told() -> None:
    def shown(n: int, day: int) -> bytes:
        return page(f"Ev {n}", f"<p>On {day} November 2026 at 1{n}:00</p>")

    assert is_told(compared([(shown(n, 15), shown(n, 16)) for n in range(4)]))


@pytest.mark.parametrize("hours", [24, 27, 24 * 7])
@pytest.mark.parametrize("zone", [-11, 0, 13])
def test_a_line_that_shows_the_day_of_each_fetch_in_any_zone_is_quiet(hours: int, zone: int) -> None:
    apart = timedelta(hours=hours)
    old, new = (f"{at + timedelta(hours=zone):%d %B %Y}" for at in (FIRST, FIRST + apart))
    assert not is_told(compared(dated("Today: {}", old, new), apart))


RECALL = "This product was withdrawn because of a safety recall. Do not use it any more."


@pytest.mark.parametrize(
    "text", [RECALL, "Withdrawn.", "This course is fully booked. Ask us for other dates by phone."]
)
@pytest.mark.parametrize("own_title", [True, False])
def test_one_text_in_place_of_many_pages_is_told_unless_it_asks_who_is_there(text: str, own_title: bool) -> None:
    pairs = [
        (
            page(f"The {name}", f"<p>Our {name} is made of {name} wood.</p><p>It weighs as much as {name}.</p>"),
            page(f"The {name}" if own_title else "Product", f"<p>{text}</p>"),
        )
        for name in NAMES
    ]
    assert is_told(compared(pairs, others=1))
    assert is_told(compared([(new, old) for old, new in pairs], others=1))


def test_a_sign_in_page_in_place_of_many_pages_is_a_wall() -> None:
    wall = page("Acme", "<p>Please sign in to read on.</p>")
    pairs = [(page(f"The {name}", f"<p>Our {name} is {name}.</p><p>And {name}.</p>"), wall) for name in NAMES]
    assert not is_told(compared(pairs))
    assert len(compared(pairs).walls) == 4


@pytest.mark.parametrize("title", ["Service unavailable", "Major outage"])
def test_a_status_page_that_says_that_a_service_is_down_is_told(title: str) -> None:
    up = page("All systems operational | Acme Status", "<p>API: operational</p><p>Web: operational</p>")
    down = page(f"{title} | Acme Status", "<p>API: temporarily unavailable</p><p>Web: temporarily unavailable</p>")
    assert is_told(compared([(up, down)]))
    assert is_told(compared([(down, up)]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Last fire: several days ago", "Last fire: 1 day ago"),
        ("Last fire: some weeks ago", "Last fire: 2 days ago"),
        ("We won yesterday", "We won last night"),
        ("Closed since today", "Closed since yesterday"),
    ],
)
def test_ages_that_name_no_number_are_told(old: str, new: str) -> None:
    text = "<p>Some text that stays as it is, long enough to be a page of its own.</p>"
    assert is_told(compared([(page("Club", f"<p>{old}</p>{text}"), page("Club", f"<p>{new}</p>{text}"))]))
