"""A calendar of the month of the fetch is quiet when it shows the next one; all that looks like it is told."""

import calendar
from datetime import UTC, datetime

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules
from tests.unit.noise.pages import blocks

NOVEMBER = datetime(2026, 11, 24, 9, 12, tzinfo=UTC)
DECEMBER = datetime(2026, 12, 3, 10, 40, tzinfo=UTC)
JANUARY = datetime(2027, 1, 9, 7, 5, tzinfo=UTC)
FEBRUARY = datetime(2027, 2, 11, 7, 5, tzinfo=UTC)
WEEK = "".join(f"<th>{day}</th>" for day in "MTWTFSS")


def month(at: datetime, *, caption: str = "%B %Y", back: str = "", others: bool = False, days: int = 0) -> str:
    """A page with the calendar of a month, as blogs have it in their sidebar."""
    first, length = calendar.monthrange(at.year, at.month)
    before = calendar.monthrange(at.year, at.month - 1 or 12)[1]
    numbers = [*range(1, (days or length) + 1)]
    if others:
        numbers = [*range(before - first + 1, before + 1), *numbers]
        numbers += range(1, -len(numbers) % 7 + 1)
    cells = ["<td></td>"] * (0 if others else first) + [
        f"<td id=today>{one}</td>" if one == at.day else f"<td>{one}</td>" for one in numbers
    ]
    rows = "".join(f"<tr>{''.join(cells[at : at + 7])}</tr>" for at in range(0, len(cells), 7))
    nav = f"<nav><span class=prev><a href=/x>« {back}</a></span></nav>" if back else ""
    return f"<table class=cal><caption>{at.strftime(caption)}</caption><tr>{WEEK}</tr>{rows}</table>{nav}"


def told(old: str, new: str, at: tuple[datetime, datetime] = (NOVEMBER, DECEMBER)) -> list[tuple[str, str]]:
    page = apply_noise_rules(blocks(old), blocks(new), moments=Moments(*at))
    return [(edit.removed.text if edit.removed else "", edit.added.text if edit.added else "") for edit in page.edits]


@pytest.mark.parametrize("others", [False, True], ids=["its days", "days of neighbours"])
@pytest.mark.parametrize("at", [(NOVEMBER, DECEMBER), (JANUARY, FEBRUARY), (NOVEMBER, FEBRUARY)])
def test_the_calendar_of_the_month_of_the_fetch_is_quiet(at: tuple[datetime, datetime], others: bool) -> None:
    old, new = (month(one, others=others) for one in at)
    assert old != new
    assert told(old, new, at) == []


def test_so_are_the_names_of_the_months_beside_it() -> None:
    assert told(month(NOVEMBER, back="Oct"), month(DECEMBER, back="Nov")) == []
    assert told(month(NOVEMBER, back="Okt 2026"), month(DECEMBER, back="Nov 2026")) == []


def test_any_other_name_is_told() -> None:
    assert told(month(NOVEMBER, back="Oct"), month(DECEMBER, back="Jul")) == [("« Oct", "« Jul")]
    old, new = (month(at) + f"<p>{name}</p>" * 9 for at, name in ((NOVEMBER, "October"), (DECEMBER, "November")))
    assert len(told(old, new)) == 9


def test_a_calendar_without_a_name_or_of_another_month_is_told() -> None:
    assert ("", "31") in told(month(NOVEMBER, caption="Days"), month(DECEMBER, caption="Days"))
    assert ("", "31") in told(month(NOVEMBER), month(DECEMBER), (NOVEMBER, JANUARY))
    assert ("", "31") in told(month(NOVEMBER), month(DECEMBER), (NOVEMBER, NOVEMBER.replace(day=26)))


def test_a_day_that_is_not_there_is_told() -> None:
    assert ("30", "") in told(month(NOVEMBER), month(DECEMBER, days=29))
    assert told(month(DECEMBER), month(DECEMBER, days=30), (DECEMBER, DECEMBER.replace(day=9))) == [("31", "")]


def test_what_stands_beside_a_day_is_told() -> None:
    old, new = month(NOVEMBER), month(DECEMBER).replace("<td>12</td>", "<td>12<p>Market</p></td>")
    assert ("", "Market") in told(old, new)


def test_the_same_number_elsewhere_is_told() -> None:
    more = "<table class=cal><tr><td>{}</td></tr></table>"
    assert ("", "31") in told(month(NOVEMBER), month(DECEMBER) + more.format(31))
    assert ("30", "31") in told(month(NOVEMBER) + more.format(30), month(DECEMBER) + more.format(31))
