"""Only the watched part of a page counts, and a part that is missing silences nothing."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage
from crawler.domain.noise.page_pairs import PagePair, PageSide, WatchedPart

PAGE = """<!doctype html><html><head><title>{title}</title></head><body><nav><a href=/>Start</a></nav>
<main><h1>Our terms</h1><div class="terms"><p>You may return it within <span class=days>{days}</span> days.</p>
<p>We pay the postage.</p></div><aside>{aside}</aside></main>
<footer>Written by people who care about it.</footer></body></html>"""


def said(title: str = "Shop", days: str = "30", aside: str = "Sun today", markup: str = PAGE) -> PageSide:
    return PageSide(
        markup.format(title=title, days=days, aside=aside).encode(), "text/html", datetime(2026, 1, 1, tzinfo=UTC)
    )


def compared(old: PageSide, new: PageSide, *selectors: str) -> FilteredPage:
    part = WatchedPart("a rule", selectors) if selectors else None
    return PagePair("https://x.org/", UUID(int=1), old, new, watched=part).apply_noise_rules(NO_RULES)


@pytest.mark.parametrize("selector", [".terms", "xpath://div[@class='terms']", ".days", "main > div"])
def test_an_edit_inside_is_told_and_one_outside_is_quiet_by_the_rule(selector: str) -> None:
    inside = compared(said(), said(days="14"), selector)
    assert [(edit.removed and edit.removed.text, edit.added and edit.added.text) for edit in inside.edits] != []
    assert "14" in str(inside.edits)
    outside = compared(said(), said(aside="Rain tomorrow", title="Other"), selector)
    assert outside.edits == ()
    assert "a rule" in outside.rules


def test_an_edit_inside_is_told_alone() -> None:
    both = compared(said(), said(days="14", aside="Rain tomorrow"), ".terms")
    assert len(both.edits) == 1


def test_a_part_that_vanished_leaves_the_whole_page_to_be_compared() -> None:
    renamed = PAGE.replace('class="terms"', 'class="conditions"')
    page = compared(said(), said(aside="Rain tomorrow", markup=renamed), ".terms")
    assert "Rain" in str(page.edits)
    again = compared(said(markup=renamed), said(aside="Rain tomorrow", markup=renamed), ".terms")
    assert "Rain" in str(again.edits), "on neither side: all of it counts"


def test_a_wall_in_place_of_the_page_is_a_wall() -> None:
    wall = PageSide(
        b"<html><head><title>Just a moment</title></head><body>Checking your browser</body></html>", "text/html", None
    )
    assert compared(said(), wall, ".terms").wall == compared(said(), wall).wall


def test_the_title_counts_only_if_it_is_watched() -> None:
    assert compared(said(), said(title="Other"), "title").edits
    assert not compared(said(), said(title="Other"), ".terms").edits


def test_noise_selectors_hold_inside_the_part() -> None:
    page = read_blocks(PAGE.format(title="t", days="30", aside="a").encode(), "text/html", [".days"], [".terms"])
    assert [line for line in page.lines if line] == ["You may return it within days.", "We pay the postage."]
    assert page.only_found == [".terms"]


@pytest.mark.parametrize("selector", ["p:has(b:has(i))", "xpath://p[", "xpath:nothing(1)"])
def test_a_selector_that_cannot_be_used_any_more_leaves_the_whole_page(selector: str) -> None:
    assert "Rain" in str(compared(said(), said(aside="Rain tomorrow"), selector).edits)
