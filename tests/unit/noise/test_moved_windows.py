"""Dates of the days around the fetch that move on with it are quiet; all that looks like them is told."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules
from tests.unit.noise.pages import blocks

WEDNESDAY = datetime(2026, 11, 18, 9, 12, tzinfo=UTC)
THURSDAY = datetime(2026, 11, 19, 9, 40, tzinfo=UTC)
NEXT_MONDAY = datetime(2026, 11, 23, 7, 5, tzinfo=UTC)
NEXT_WEDNESDAY = datetime(2026, 11, 25, 9, 12, tzinfo=UTC)
GERMAN = ("Mo", "Di", "Mi", "Do", "Fr", "Sa", "So")
MONDAY = date(2026, 11, 16)
CONTENTS = "<tr><td>10:00</td><td>Yoga</td><td>Spin</td></tr>"


def days(first: date, count: int, step: int = 1) -> list[date]:
    return [first + timedelta(days=step * number) for number in range(count)]


def table(found: Sequence[date], shape: str = "%a %d %b", more: str = CONTENTS) -> str:
    heads = "".join(f"<th>{one.strftime(shape).replace('?', GERMAN[one.weekday()])}</th>" for one in found)
    return f"<h1>Classes</h1><table class=week><tr><th>Time</th>{heads}</tr>{more}</table>"


def listed(found: Sequence[date], shape: str = "Check-in %d %B %Y") -> str:
    return f"<h1>Book</h1><ul class=days>{''.join(f'<li>{one.strftime(shape)}</li>' for one in found)}</ul>"


def told(old: str, new: str, at: tuple[datetime, datetime]) -> list[tuple[str, str]]:
    page = apply_noise_rules(blocks(old), blocks(new), moments=Moments(*at))
    return [(edit.removed.text if edit.removed else "", edit.added.text if edit.added else "") for edit in page.edits]


@pytest.mark.parametrize(
    "shape", ["%a %d %b", "%A, %d %B", "%d.%m.%Y", "%a %Y-%m-%d", "? %d.%m.", "%a %d/%m", "? %d", "%b %d", "%d/%m/%Y"]
)
@pytest.mark.parametrize("at", [NEXT_MONDAY, NEXT_WEDNESDAY])
@pytest.mark.parametrize("length", [5, 7])
def test_the_dates_of_the_week_are_quiet(at: datetime, length: int, shape: str) -> None:
    old, new = (table(days(first, length), shape) for first in (MONDAY, MONDAY + timedelta(days=7)))
    assert old != new
    assert told(old, new, (WEDNESDAY, at)) == []


@pytest.mark.parametrize("shape", ["%d %b", "%a %d %b", "Check-in %d %B %Y", "%A, %d %B %Y"])
@pytest.mark.parametrize(("at", "by"), [(THURSDAY, 1), (NEXT_MONDAY, 5)])
@pytest.mark.parametrize("ahead", [0, 1])
@pytest.mark.parametrize("count", [4, 14])
def test_so_are_dates_from_today_on(count: int, ahead: int, at: datetime, by: int, shape: str) -> None:
    first = WEDNESDAY.date() + timedelta(days=ahead)
    old, new = (listed(days(first + timedelta(days=moved), count), shape) for moved in (0, by))
    assert told(old, new, (WEDNESDAY, at)) == []


def test_so_are_the_last_days_up_to_today_the_latest_first() -> None:
    old, new = (listed(days(at.date(), 7, -1)) for at in (WEDNESDAY, NEXT_MONDAY))
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == []


def test_so_is_a_line_that_names_both_ends_of_the_week() -> None:
    old, new = (
        f"<h2>{first.strftime('%d')} – {(first + timedelta(days=6)).strftime('%d %B %Y')}</h2>"
        f"<h2>Week {week}: {first.strftime('%d %B')} – {(first + timedelta(days=6)).strftime('%d %B %Y')}</h2>"
        + table(days(first, 7))
        for week, first in ((47, MONDAY), (48, MONDAY + timedelta(days=7)))
    )
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == []
    assert told(old, new.replace("Week 48", "Week 50"), (WEDNESDAY, NEXT_MONDAY)) != []


def split(first: date, count: int, cell: str = "<div>{0:%a}</div><div class=day>{0.day}</div>") -> str:
    cells = (f"<td>{cell.format(one)}</td>" for one in days(first, count))
    return f"<table class=week><tr><th>Time</th>{''.join(cells)}</tr>{CONTENTS}</table>"


@pytest.mark.parametrize("length", [5, 7])
def test_so_are_bare_numbers_of_the_days_of_a_week(length: int) -> None:
    later = datetime(2026, 12, 1, 9, tzinfo=UTC)
    for first, second, at in ((MONDAY, 7, NEXT_MONDAY), (MONDAY, 14, later)):
        old, new = (split(first + timedelta(days=moved), length) for moved in (0, second))
        assert told(old, new, (WEDNESDAY, at)) == []
    glued = "<b>{0:%a}</b><b>{0.day}</b>"
    old, new = (split(first, length, glued) for first in (MONDAY, MONDAY + timedelta(days=7)))
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == []
    assert len(told(old, new, (WEDNESDAY, THURSDAY))) == length
    old, new = (split(first, length) for first in (MONDAY, MONDAY + timedelta(days=7)))
    assert len(told(old, new, (WEDNESDAY, THURSDAY))) == length


@pytest.mark.parametrize("first", [2, 17, 40])
def test_other_numbers_in_a_row_are_told(first: int) -> None:
    rooms = "<ul class=rooms>{}</ul>"
    old, new = (
        rooms.format("".join(f"<li>{number}</li>" for number in range(start, start + 5)))
        for start in (first, first + 7)
    )
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) != []
    old, new = (page.replace("<li>", "<li>Room ") for page in (old, new))
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) != []


def test_what_else_changes_in_such_a_table_is_told_alone() -> None:
    old, new = table(days(MONDAY, 7)), table(days(MONDAY + timedelta(days=7), 7)).replace("Spin", "Pilates")
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == [("Spin", "Pilates")]


def test_a_word_that_came_to_a_date_is_told() -> None:
    old, new = table(days(MONDAY, 7)), table(days(MONDAY + timedelta(days=7), 7))
    new = new.replace("Thu 26 Nov", "Thu 26 Nov: closed")
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == [("Thu 19 Nov", "Thu 26 Nov: closed")]
    new = listed(days(THURSDAY.date(), 7)).replace("25 November 2026", "25 November 2026: full")
    (edit,) = told(listed(days(WEDNESDAY.date(), 7)), new, (WEDNESDAY, THURSDAY))
    assert edit[1].endswith(": full")


def test_entries_with_words_of_their_own_are_no_window() -> None:
    names = ("Anna sings", "Ben plays", "Carla reads", "Dora dances")
    old, new = (
        "".join(f"<li>{one.strftime('%d %B')}: {name}</li>" for one, name in zip(days(first, 4), names, strict=True))
        for first in (WEDNESDAY.date(), THURSDAY.date())
    )
    assert len(told(f"<ul>{old}</ul>", f"<ul>{new}</ul>", (WEDNESDAY, THURSDAY))) == 4


@pytest.mark.parametrize("by", [1, 2, 3, 6, 14])
def test_dates_that_moved_otherwise_than_the_clock_are_told(by: int) -> None:
    old, new = (table(days(MONDAY + timedelta(days=moved), 7)) for moved in (0, by))
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) != []


def test_a_week_that_moved_on_within_the_week_is_told() -> None:
    old, new = (table(days(MONDAY + timedelta(days=moved), 7)) for moved in (0, 7))
    assert told(old, new, (WEDNESDAY, THURSDAY)) != []


def test_dates_far_from_the_fetch_are_told() -> None:
    old, new = (table(days(date(2027, 3, 1) + timedelta(days=moved), 7), "%a %d %B %Y") for moved in (0, 7))
    assert told(old, new, (WEDNESDAY, NEXT_WEDNESDAY)) != []
    old, new = (listed(days(date(2027, 3, 1) + timedelta(days=moved), 7)) for moved in (0, 1))
    assert told(old, new, (WEDNESDAY, THURSDAY)) != []


def test_one_date_among_others_is_told() -> None:
    old = table(days(MONDAY, 7))
    assert told(old, old.replace("Wed 18 Nov", "Thu 19 Nov"), (WEDNESDAY, THURSDAY)) == [("Wed 18 Nov", "Thu 19 Nov")]
    new = table(days(MONDAY + timedelta(days=7), 7)).replace("Sun 29 Nov", "Sun 6 Dec")
    assert ("Sun 22 Nov", "Sun 6 Dec") in told(old, new, (WEDNESDAY, NEXT_MONDAY))


def test_a_date_beside_a_window_that_moved_is_told() -> None:
    event = "<p class=event>Open day: {}</p><p>Closed on {}</p>"
    old = table(days(MONDAY, 7)) + event.format("Fri 20 Nov", "22 November")
    new = table(days(MONDAY + timedelta(days=7), 7)) + event.format("Fri 27 Nov", "29 November")
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == [
        ("Open day: Fri 20 Nov", "Open day: Fri 27 Nov"),
        ("Closed on 22 November", "Closed on 29 November"),
    ]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_days_that_were_put_off_by_a_week_are_told(count: int) -> None:
    friday = WEDNESDAY.date() + timedelta(days=2)
    old, new = (listed(days(friday + timedelta(days=moved), count), "%A %d %B") for moved in (0, 7))
    assert len(told(old, new, (WEDNESDAY, NEXT_WEDNESDAY))) == count
    assert len(told(old, new, (WEDNESDAY, NEXT_MONDAY))) == count
    at = datetime(2026, 11, 20, 8, tzinfo=UTC), datetime(2026, 11, 27, 8, tzinfo=UTC)
    assert len(told(old, new, at)) == count


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_dates_are_no_window(count: int) -> None:
    old, new = (listed(days(at.date(), count), "%A %d %B") for at in (WEDNESDAY, THURSDAY))
    assert told(old, new, (WEDNESDAY, THURSDAY)) != []


def test_the_same_dates_at_another_place_are_told() -> None:
    more = "<table class=week><tr><th>{}</th></tr></table>"
    old = table(days(MONDAY, 7)) + "<p>…</p>" + more.format("Mon 7 Dec")
    new = table(days(MONDAY + timedelta(days=7), 7)) + "<p>…</p>" + more.format("Mon 23 Nov")
    assert ("Mon 7 Dec", "Mon 23 Nov") in told(old, new, (WEDNESDAY, NEXT_MONDAY)) or (
        "",
        "Mon 23 Nov",
    ) in told(old, new, (WEDNESDAY, NEXT_MONDAY))


def test_a_window_that_got_longer_or_shorter_is_told() -> None:
    old = listed(days(WEDNESDAY.date(), 7))
    assert told(old, listed(days(THURSDAY.date(), 6)), (WEDNESDAY, THURSDAY)) != []
    assert told(old, listed(days(THURSDAY.date(), 9)), (WEDNESDAY, THURSDAY)) != []


def test_nothing_is_known_without_the_times_of_the_fetches() -> None:
    old, new = (table(days(first, 7)) for first in (MONDAY, MONDAY + timedelta(days=7)))
    page = apply_noise_rules(blocks(old), blocks(new))
    assert len(page.edits) == 7


def test_window_across_the_end_of_a_month_and_year() -> None:
    at = datetime(2026, 12, 30, 9, tzinfo=UTC), datetime(2027, 1, 4, 9, tzinfo=UTC)
    for shape in ("%a %d %b", "? %d", "%d.%m.%Y", "? %d.%m."):
        old, new = (table(days(first, 7), shape) for first in (date(2026, 12, 28), date(2027, 1, 4)))
        assert told(old, new, at) == []


@pytest.mark.parametrize("shape", ["<li>{0}</li><li>{1}</li>", "<li>{0}<p>{1}</p></li>"])
def test_what_stands_beside_a_day_is_told_though_it_stands_where_it_stood(shape: str) -> None:
    def page(first: date, found: Sequence[str]) -> str:
        entries = zip(days(first, len(found)), found, strict=True)
        return f"<ul class=days>{''.join(shape.format(day.strftime('%d %B'), one) for day, one in entries)}</ul>"

    old = page(WEDNESDAY.date(), ("free", "taken", "free", "free", "taken"))
    assert told(old, page(THURSDAY.date(), ("free", "taken", "free", "free", "taken")), (WEDNESDAY, THURSDAY)) != []
    found = told(old, page(THURSDAY.date(), ("taken", "free", "free", "taken", "half")), (WEDNESDAY, THURSDAY))
    assert {one for pair in found for one in pair} <= {"", "free", "half"}


def test_so_it_is_in_columns() -> None:
    cells = (
        "<tr><td>Room</td>" + "".join(f"<td>{one}</td>" for one in ("free", "taken", "free", "free", "no")) + "</tr>"
    )
    old, new = (table(days(first, 5), more=cells) for first in (WEDNESDAY.date(), THURSDAY.date()))
    assert told(old, new, (WEDNESDAY, THURSDAY)) != []


HEADS, CELLS = "<tr><th>Day</th>{0}</tr>", "<tr><td>Room</td>{1}</tr>"


@pytest.mark.parametrize(
    "shape",
    [f"<table>{HEADS}{CELLS}</table>", f"<table>{CELLS}{HEADS}</table>", f"<table>{HEADS}{CELLS}{CELLS}</table>",
     "<div class=days>{2}</div><div class=states>{3}</div>", "<div class=states>{3}</div><div class=days>{2}</div>"],
    ids=["below", "above", "two rows", "blocks", "blocks above"],
)  # fmt: skip
@pytest.mark.parametrize("cell", ["<td>{}</td>", "<td class={0}>{0}</td>"])
def test_a_state_that_stands_where_that_of_another_day_stood_is_told(shape: str, cell: str) -> None:
    def page(first: date, states: Sequence[str]) -> str:
        named = [day.strftime("%a %d %b") for day in days(first, len(states))]
        heads, cells = "".join(f"<th>{one}</th>" for one in named), "".join(cell.format(one) for one in states)
        blocks = ("".join(f"<div>{one}</div>" for one in some) for some in (named, states))
        return f"<h1>Rooms</h1>{shape.format(heads, cells, *blocks)}<p>Call us to book a room.</p>"

    at = WEDNESDAY, THURSDAY
    old = page(at[0].date(), ("taken", "free", "free", "free", "free"))
    assert told(old, page(at[1].date(), ("taken", "free", "free", "free", "free")), at) != []
    same = ("free",) * 5
    assert told(page(at[0].date(), same), page(at[1].date(), same), at) == []


def test_an_event_that_lasts_as_long_as_the_week_is_told() -> None:
    old, new = (
        f"<p class=event>Fair: {first.strftime('%d %B')} – {(first + timedelta(days=6)).strftime('%d %B')}</p>"
        + table(days(first, 7))
        for first in (MONDAY, MONDAY + timedelta(days=7))
    )
    assert told(old, new, (WEDNESDAY, NEXT_MONDAY)) == [
        ("Fair: 16 November – 22 November", "Fair: 23 November – 29 November")
    ]


def test_a_long_event_that_was_put_off_by_a_week_is_told() -> None:
    tuesday = MONDAY + timedelta(days=1)
    old, new = (listed(days(tuesday + timedelta(days=moved), 5), "%A %d %B") for moved in (0, 7))
    assert len(told(old, new, (WEDNESDAY, NEXT_MONDAY))) == 5
    assert len(told(old, new, (WEDNESDAY, NEXT_WEDNESDAY))) == 5
