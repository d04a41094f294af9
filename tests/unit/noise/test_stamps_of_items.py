"""A page has one stamp of its own. Of several that name different times each belongs to an item of a list: when one
moves, that item was replaced, and often nothing else says so."""

from datetime import UTC, datetime

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.page_noise import apply_noise_rules
from tests.unit.noise.pages import blocks

MOMENTS = Moments(datetime(2026, 11, 14, 9, 17, tzinfo=UTC), datetime(2026, 11, 16, 11, 42, tzinfo=UTC))
ITEMS = {
    "part of a line": "<li><a href='{name}.pdf'>{name}</a> — Updated {moment}</li>",
    "line of its own": "<li><a href='{name}.pdf'>{name}</a><p>Last updated: {moment}</p></li>",
    "label before it": "<li><b>{name}</b><div>Last modified</div><div>{moment}</div></li>",
    "name behind it": "<li>{name}<p>Geändert am {moment} von Bob</p></li>",
    "place with a number": "<li id='file-{name}'>{name}<p>Edited {moment}</p></li>",
}
NAMES = ("1071", "1072", "1073")


def listed(item: str, *moments: str) -> str:
    return "".join(item.format(name=name, moment=moment) for name, moment in zip(NAMES, moments, strict=True))


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
@pytest.mark.parametrize("before", [("3 May 2026", "12 June 2026", "1 July 2026"), ("3 May 2026",) * 3])
def test_a_moved_stamp_of_one_item_is_told(item: str, before: tuple[str, ...]) -> None:
    after = (before[0], "15 November 2026", before[2])
    page = apply_noise_rules(blocks(listed(item, *before)), blocks(listed(item, *after)), moments=MOMENTS)
    assert len(page.edits) == 1
    assert page.edits[0].added is not None
    assert "15 November 2026" in page.edits[0].added.text


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_a_stamp_that_is_repeated_is_that_of_the_page(item: str) -> None:
    before, after = ("3 May 2026",) * 3, ("15 November 2026",) * 3
    page = apply_noise_rules(blocks(listed(item, *before)), blocks(listed(item, *after)), moments=MOMENTS)
    assert (page.edits, page.rules) == ((), ("stamp",))


def test_the_stamp_of_the_page_stays_quiet_beside_those_of_its_items() -> None:
    def page(own: str) -> str:
        items = listed(ITEMS["line of its own"], "3 May 2026", "12 June 2026", "1 July 2026")
        return f"<ul>{items}</ul><footer><p>Last updated: {own}</p></footer>"

    found = apply_noise_rules(blocks(page("2 May 2026")), blocks(page("15 November 2026")), moments=MOMENTS)
    assert (found.edits, found.rules) == ((), ("stamp",))


def test_two_kinds_of_stamps_in_one_footer_are_those_of_the_page() -> None:
    def page(own: str) -> str:
        return f"<footer><p>Generated on 1 May 2026</p><p>Last edited on {own}</p></footer>"

    found = apply_noise_rules(blocks(page("2 May 2026")), blocks(page("15 November 2026")), moments=MOMENTS)
    assert (found.edits, found.rules) == ((), ("stamp",))


def test_items_whose_stamps_are_ages_are_told_when_one_is_newer_and_quiet_when_time_goes_by() -> None:
    item = ITEMS["line of its own"]
    before = blocks(listed(item, "1 day ago", "5 days ago", "20 days ago"))
    later = blocks(listed(item, "3 days ago", "7 days ago", "22 days ago"))
    newer = blocks(listed(item, "3 days ago", "2 hours ago", "22 days ago"))
    assert not apply_noise_rules(before, later, moments=MOMENTS).edits
    assert apply_noise_rules(before, newer, moments=MOMENTS).edits
