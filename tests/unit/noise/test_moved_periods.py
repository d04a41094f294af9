"""Weeks or months along the top of a table that move on with the fetch are quiet; all that looks like them is told."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import PERIODS, apply_noise_rules
from tests.unit.noise.pages import blocks

FRIDAY = datetime(2027, 8, 20, 9, 12, tzinfo=UTC)
"""In week 33."""
NEXT_WEEK = datetime(2027, 8, 25, 7, 5, tzinfo=UTC)
LATER = datetime(2027, 9, 14, 7, 5, tzinfo=UTC)
"""In week 37, four weeks on."""
WEEK = "W%V %G"
Counts = Mapping[str, Mapping[int, object]]
"""What was counted of each author, by the number of the week."""
ANN = {"Ann": {30: 3, 32: 1, 34: 2}}


def weeks(last: datetime, count: int = 4, ahead: int = 0) -> list[date]:
    """The weeks up to that of the fetch; `ahead`: so many later."""
    return [last.date() + timedelta(weeks=ahead - back) for back in reversed(range(count))]


def months(last: datetime, count: int = 4) -> list[date]:
    numbers = [last.year * 12 + last.month - 1 - back for back in reversed(range(count))]
    return [date(number // 12, number % 12 + 1, 1) for number in numbers]


def stats(
    shown: Sequence[date], counts: Counts, shape: str = WEEK, *, total: bool = True, key: str = "%V", more: str = ""
) -> str:
    """A table as cgit writes it: a column for each period, a row for each author, and their sums."""
    heads = "".join(f"<th>{one.strftime(shape)}</th>" for one in shown)
    rows = ""
    for name, found in counts.items():
        cells = [found.get(int(one.strftime(key)), 0) for one in shown]
        sums = f"<td class=sum>{sum(one for one in cells if isinstance(one, int))}</td>" if total else ""
        rows += f"<tr><td class=left>{name}</td>{''.join(f'<td>{one}</td>' for one in cells)}{sums}</tr>"
    head = f"<tr><th>Author</th>{heads}{'<th>Total</th>' if total else ''}</tr>"
    return f"<h2>Commits</h2><table class=stats>{head}{rows}{more}</table>"


def told(old: str, new: str, at: tuple[datetime, datetime] = (FRIDAY, NEXT_WEEK)) -> list[tuple[str, str]]:
    page = apply_noise_rules(blocks(old), blocks(new), moments=Moments(*at))
    return [(edit.removed.text if edit.removed else "", edit.added.text if edit.added else "") for edit in page.edits]


def lines(found: Sequence[tuple[str, str]]) -> set[str]:
    return {one for pair in found for one in pair if one}


@pytest.mark.parametrize(
    "shape", [WEEK, "%G-W%V", "KW %V", "KW %V/%G", "Week %V", "Woche %V", "Semaine %V, %G", "W%V"]
)  # fmt: skip
@pytest.mark.parametrize("counts", [ANN, {"Ann": {}, "Bob": {33: 5, 34: 1}}, {"Ann": {32: 1}, "Total": {32: 1}}])
def test_weeks_up_to_that_of_the_fetch_are_quiet_with_what_was_counted_in_them(counts: Counts, shape: str) -> None:
    old, new = (stats(weeks(at), counts, shape) for at in (FRIDAY, NEXT_WEEK))
    assert old != new
    assert told(old, new) == []
    page = apply_noise_rules(blocks(old), blocks(new), moments=Moments(FRIDAY, NEXT_WEEK))
    assert PERIODS in page.rules


@pytest.mark.parametrize("shape", ["%b %Y", "%Y-%m", "%B %Y", "%m/%Y"])
@pytest.mark.parametrize("count", [3, 12])
def test_so_are_months_up_to_that_of_the_fetch(shape: str, count: int) -> None:
    counts = {"Ann": {6: 2, 7: 14, 8: 3, 9: 1, 12: 4}}
    old, new = (stats(months(at, count), counts, shape, key="%m") for at in (FRIDAY, LATER))
    assert told(old, new, (FRIDAY, LATER)) == []


def test_so_they_are_with_the_latest_first_and_across_the_end_of_a_year() -> None:
    at = datetime(2026, 12, 30, 9, tzinfo=UTC), datetime(2027, 1, 5, 9, tzinfo=UTC)
    counts = {"Ann": {51: 4, 53: 1, 1: 2}}
    for shape in (WEEK, "KW %V"):
        old, new = (stats(weeks(one)[::-1], counts, shape) for one in at)
        assert told(old, new, at) == []


def test_a_row_of_which_nothing_is_left_leaves_with_its_weeks() -> None:
    counts = {"Ann": {32: 1}, "Bob": {30: 7}}
    old, new = stats(weeks(FRIDAY), counts), stats(weeks(NEXT_WEEK), {"Ann": {32: 1}})
    assert told(old, new) == []
    counts = {"Ann": {32: 1}, "Bob": {31: 7}}
    assert "Bob" in lines(told(stats(weeks(FRIDAY), counts), new))


def test_weeks_of_which_none_stayed_are_quiet_alone() -> None:
    old, new = (stats(weeks(at), {"Ann": {}}) for at in (FRIDAY, LATER))
    assert told(old, new, (FRIDAY, LATER)) == []
    old, new = (stats(weeks(at), {"Ann": {31: 2, 36: 5}}) for at in (FRIDAY, LATER))
    found = lines(told(old, new, (FRIDAY, LATER)))
    assert {"2", "5"} <= found
    assert not any(one.startswith("W") for one in found)


def test_an_edit_in_a_week_that_stayed_is_told_alone() -> None:
    old = stats(weeks(FRIDAY), {"Ann": {30: 3, 32: 1}, "Bob": {33: 6}})
    new = stats(weeks(NEXT_WEEK), {"Ann": {32: 4, 34: 2}, "Bob": {33: 6}})
    assert told(old, new) == [("1", "4")]


def test_other_edits_of_the_table_and_beside_it_are_told() -> None:
    old = stats(weeks(FRIDAY), ANN, more="<tr><td class=left>Limit</td><td colspan=5>40</td></tr>")
    new = stats(weeks(NEXT_WEEK), ANN, more="<tr><td class=left>Limit</td><td colspan=5>50</td></tr>")
    assert told(old, new) == [("40", "50")]
    old, new = (stats(weeks(at), ANN) + f"<table class=stats><tr><td>0</td><td>{at.day}</td></tr></table>"
                for at in (FRIDAY, NEXT_WEEK))  # fmt: skip
    assert told(old, new) == [("20", "25")]
    assert told(stats(weeks(FRIDAY), ANN), stats(weeks(NEXT_WEEK), ANN).replace("Ann", "Anna")) != []
    assert told(stats(weeks(FRIDAY), ANN), stats(weeks(NEXT_WEEK), ANN).replace("Author", "Writer")) != []


def test_a_total_that_is_not_the_sum_of_its_row_is_told() -> None:
    old, new = stats(weeks(FRIDAY), ANN), stats(weeks(NEXT_WEEK), ANN)
    assert "<td class=sum>3</td>" in new
    assert "9" in lines(told(old, new.replace("<td class=sum>3</td>", "<td class=sum>9</td>")))


def test_a_row_that_comes_is_told() -> None:
    old, new = stats(weeks(FRIDAY), ANN), stats(weeks(NEXT_WEEK), {**ANN, "Bob": {34: 1}})
    assert "Bob" in lines(told(old, new))


@pytest.mark.parametrize("cell", ["Lasagne", "€ 450", "4.90", "12 %", "closed"])
def test_what_is_said_under_a_week_that_comes_is_told_unless_it_is_a_count(cell: str) -> None:
    counts = {"Ann": {30: "Soup", 31: "Rice", 32: "Fish", 33: "Stew", 34: cell}}
    old, new = (stats(weeks(at), counts, total=False) for at in (FRIDAY, NEXT_WEEK))
    assert lines(told(old, new)) == {cell}


def test_numbers_under_weeks_to_come_are_told() -> None:
    """A price or a number of places is written for a week to come, and counted in one that went by."""
    counts: Counts = {"House": {33: 450, 34: 460, 35: 480, 36: 500, 37: 390}}
    old, new = (stats(weeks(at, ahead=3), counts, total=False) for at in (FRIDAY, NEXT_WEEK))
    assert lines(told(old, new)) == {"390"}
    counts = {"House": dict.fromkeys(range(33, 38), "free")}
    old, new = (stats(weeks(at, ahead=3), counts, total=False) for at in (FRIDAY, NEXT_WEEK))
    assert told(old, new) == []


def test_cells_that_stayed_where_they_stood_are_those_of_other_weeks() -> None:
    old = stats(weeks(FRIDAY), {"Ann": {30: "taken", 31: "free", 32: "taken", 33: "free"}}, total=False)
    new = stats(weeks(NEXT_WEEK), {"Ann": {31: "taken", 32: "free", 33: "taken", 34: "free"}}, total=False)
    assert told(old, new) != []
    old = stats(weeks(FRIDAY), {"Ann": {30: 1, 31: 2, 32: 3, 33: 4}}, total=False)
    new = stats(weeks(NEXT_WEEK), {"Ann": {31: 1, 32: 2, 33: 3, 34: 4}}, total=False)
    assert told(old, new) != []


@pytest.mark.parametrize("ahead", [-2, -1, 1, 2, 10])
def test_weeks_that_do_not_end_with_that_of_the_fetch_are_told(ahead: int) -> None:
    old, new = (stats(weeks(at, ahead=ahead), ANN) for at in (FRIDAY, NEXT_WEEK))
    assert told(old, new) != []


def test_weeks_that_moved_otherwise_than_the_clock_are_told() -> None:
    old = stats(weeks(FRIDAY), ANN)
    assert told(old, stats(weeks(NEXT_WEEK), ANN), (FRIDAY, FRIDAY + timedelta(days=1))) != []
    assert told(old, stats(weeks(NEXT_WEEK), ANN), (FRIDAY, LATER)) != []
    assert told(old, stats(weeks(NEXT_WEEK, 5), ANN)) != []
    assert told(old, stats(weeks(NEXT_WEEK, 3), ANN)) != []
    assert told(stats(weeks(NEXT_WEEK), ANN), old) != []


@pytest.mark.parametrize("count", [1, 2])
def test_one_or_two_weeks_are_no_window(count: int) -> None:
    old, new = (stats(weeks(at, count), {"Ann": {}}) for at in (FRIDAY, NEXT_WEEK))
    assert told(old, new) != []


def test_years_are_told() -> None:
    """Tables of years are written by hand, when a year begins, too."""
    at = datetime(2026, 12, 30, 9, tzinfo=UTC), datetime(2027, 1, 5, 9, tzinfo=UTC)
    counts = {"Members": {23: 120, 24: 130, 25: 140, 26: 150, 27: 5}}
    old, new = (stats([date(one.year - back, 1, 1) for back in (3, 2, 1, 0)], counts, "%Y", key="%y") for one in at)
    assert told(old, new, at) != []


def test_other_numbers_in_a_row_are_told() -> None:
    for shape in ("Room %V", "%V", "V%V 2027"):
        old, new = (stats(weeks(at), ANN, shape) for at in (FRIDAY, NEXT_WEEK))
        assert told(old, new) != []


def test_nothing_is_known_without_the_times_of_the_fetches() -> None:
    old, new = (stats(weeks(at), ANN) for at in (FRIDAY, NEXT_WEEK))
    assert apply_noise_rules(blocks(old), blocks(new)).edits
