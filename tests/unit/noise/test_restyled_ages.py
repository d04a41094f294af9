"""An age whose element is styled by how old it is: it has another class when it is older."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.pages import blocks

AT = datetime(2026, 5, 12, 9, 30, tzinfo=UTC)


def compared(old: str, new: str, *, hours: float) -> FilteredPage:
    return apply_noise_rules(blocks(old), blocks(new), moments=Moments(AT, AT + timedelta(hours=hours)))


def row(boat: str, style: str, age: str) -> str:
    return f"<tr><td class='name'>{boat}</td><td{f' class={style}' if style else ''}>{age}</td><td>log</td></tr>"


def table(*rows: str) -> str:
    return f"<table class='fleet'>{''.join(rows)}</table>"


@pytest.mark.parametrize(("was", "is_now"), [("fresh", "recent"), ("fresh", ""), ("", "stale")])
def test_an_age_that_changes_its_class_as_it_grows_is_quiet(was: str, is_now: str) -> None:
    old = table(row("Heron", was, "4 sec ago"), row("Tern", "stale", "12 days ago"))
    new = table(row("Heron", is_now, "5 hours ago"), row("Tern", "stale", "12 days ago"))
    page = compared(old, new, hours=5)
    assert (page.edits, page.rules) == ((), ("age",))


def test_each_of_several_ages_is_matched_by_its_own() -> None:
    old = table(row("Heron", "fresh", "4 sec ago"), row("Tern", "fresh", "1 hour ago"))
    new = table(row("Heron", "recent", "5 hours ago"), row("Tern", "recent", "6 hours ago"))
    assert not compared(old, new, hours=5).edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (row("Heron", "stale", "12 days ago"), row("Heron", "fresh", "4 sec ago")),
        (row("Heron", "fresh", "4 sec ago"), row("Heron", "recent", "2 hours ago")),
        (row("Heron", "fresh", "4 sec ago"), row("Heron", "recent", "never")),
        (row("Heron", "fresh", "seen 4 sec ago"), row("Heron", "recent", "lost 5 hours ago")),
    ],
)
def test_an_age_of_another_moment_is_told(old: str, new: str) -> None:
    assert compared(table(old), table(new), hours=5).edits


def test_what_comes_beside_it_is_told() -> None:
    old = table(row("Heron", "fresh", "4 sec ago"))
    new = table(row("Heron", "recent", "5 hours ago"), row("Skua", "fresh", "1 sec ago"))
    assert any(edit.added and "Skua" in edit.added.text for edit in compared(old, new, hours=5).edits)


def entries(name: str, *lines: str) -> str:
    return f"<h2>{name}</h2><ul id='{name}'>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            entries("open", "Leak, by Ann 7 hours ago", "The quay is closed"),
            entries("open", "The quay is closed", "Leak, by Ann 10 hours ago"),
        ),
        (
            entries("open", "Leak, by Ann 7 hours ago", "Rust") + entries("done", "Rope"),
            entries("open", "Rust") + entries("done", "Leak, by Ann 10 hours ago", "Rope"),
        ),
    ],
)
def test_what_moved_while_its_age_went_on_is_told(old: str, new: str) -> None:
    page = compared(old, new, hours=3)
    told = {text for edit in page.edits for block in edit if block and "Leak" in (text := block.text)}
    assert told == {"Leak, by Ann 7 hours ago", "Leak, by Ann 10 hours ago"}


def log(*names: str, hours: int) -> str:
    ages = {"Alpha": 7, "Beta": 8, "Gamma 2": 9, "Gamma 3": 9}
    return entries("log", *(f"{name}, by Ann {ages.get(name, -2) + hours} hours ago" for name in names))


def test_of_entries_whose_ages_went_on_only_the_new_one_is_told() -> None:
    old, new = log("Alpha", "Beta", "Gamma 3", hours=0), log("Delta", "Alpha", "Beta", "Gamma 3", hours=4)
    assert [(edit.removed, edit.added and edit.added.text) for edit in compared(old, new, hours=4).edits] == [
        (None, "Delta, by Ann 2 hours ago")
    ]


def test_an_entry_that_went_is_told_alone_and_a_number_is_its_name() -> None:
    old, new = log("Alpha", "Gamma 2", "Gamma 3", hours=0), log("Alpha", "Gamma 3", hours=4)
    assert [(edit.removed and edit.removed.text, edit.added) for edit in compared(old, new, hours=4).edits] == [
        ("Gamma 2, by Ann 9 hours ago", None)
    ]


@pytest.mark.parametrize(
    "order", [("Beta", "Alpha", "Gamma 2"), ("Gamma 2", "Alpha", "Beta"), ("Beta", "Gamma 2", "Alpha")]
)
def test_entries_in_another_order_are_told_though_their_ages_went_on(order: tuple[str, ...]) -> None:
    assert compared(log("Alpha", "Beta", "Gamma 2", hours=0), log(*order, hours=4), hours=4).edits


def test_elements_in_another_order_are_told_though_their_ages_went_on() -> None:
    old = "<h3>Alpha, 7 hours ago</h3><p>Beta, 8 hours ago</p>"
    new = "<p>Beta, 12 hours ago</p><h3>Alpha, 11 hours ago</h3>"
    assert compared(old, new, hours=4).edits
