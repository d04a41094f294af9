from datetime import UTC, datetime
from uuid import UUID

import pytest

from crawler.domain.noise import Weight, weigh_page
from crawler.domain.noise_rules import NoiseRule, RuleKind, RuleSet, checked_value
from crawler.domain.page_blocks import read_blocks
from crawler.domain.page_walls import Wall, wall_between
from crawler.errors import Invalid, InvalidPattern
from tests.unit.noise.pages import blocks


def rule(kind: RuleKind, value: str = "*") -> NoiseRule:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return NoiseRule(id=UUID(int=7), project_id=UUID(int=0), kind=kind, value=value, created_at=at)


def test_an_edit_is_told_and_the_noise_beside_it_is_not() -> None:
    old = blocks("<p>Edited 3 days ago</p><p>The limit is ten.</p>")
    new = blocks("<p>Edited 9 days ago</p><p>The limit is twelve.</p>")
    weight = weigh_page(old, new)
    assert [edit.added.text for edit in weight.edits if edit.added] == ["The limit is twelve."]
    assert weight.rules == ("age",)


def test_a_page_with_noise_alone_is_quiet() -> None:
    assert weigh_page(blocks("<p>12 views</p>"), blocks("<p>15 views</p>")).edits == ()


def test_a_block_with_noise_and_an_edit_is_an_edit() -> None:
    old, new = blocks("<p>12 views of one page</p>"), blocks("<p>15 views of another page</p>")
    assert len(weigh_page(old, new).edits) == 1


def test_lines_that_a_pattern_finds_are_left_out() -> None:
    rules = RuleSet.of([rule(RuleKind.REGEX, "^Stock:")])
    old, new = blocks("<p>Stock: many</p><p>text</p>"), blocks("<p>Stock: few</p><p>text</p>")
    assert len(weigh_page(old, new).edits) == 1
    assert weigh_page(old, new, rules) == Weight((), (str(UUID(int=7)),))
    moved = blocks("<p>Price: few</p><p>text</p>")
    assert len(weigh_page(old, moved, rules).edits) == 1, "a line that is no longer such a line is news"


def test_a_selector_that_left_something_out_is_named() -> None:
    rules = RuleSet.of([rule(RuleKind.SELECTOR, ".ad")])
    old, new = (blocks(f"<p class='ad'>{text}</p>", removed=tuple(rules.selectors)) for text in ("buy", "sell"))
    assert weigh_page(old, new, rules) == Weight((), (str(UUID(int=7)),))
    assert weigh_page(blocks("", removed=(".ad",)), blocks("", removed=(".ad",)), rules).rules == ()


def test_numbers_and_dates_can_be_left_out_each_for_itself() -> None:
    numbers, dates = (RuleSet.of([rule(kind)]) for kind in (RuleKind.NUMBERS, RuleKind.DATES))
    price = blocks("<p>Price: 10</p>"), blocks("<p>Price: 12</p>")
    due = blocks("<p>Due on 3 May 2027</p>"), blocks("<p>Due on 4 May 2027</p>")
    assert (weigh_page(*price, numbers).edits, len(weigh_page(*price, dates).edits)) == ((), 1)
    assert (weigh_page(*due, dates).edits, len(weigh_page(*due, numbers).edits)) == ((), 1)


def test_a_rule_that_is_off_does_nothing() -> None:
    off = RuleSet.of([rule(RuleKind.NUMBERS).model_copy(update={"enabled": False})])
    assert len(weigh_page(blocks("<p>Price: 10</p>"), blocks("<p>Price: 12</p>"), off).edits) == 1


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [
        (RuleKind.SELECTOR, "div..a", Invalid),
        (RuleKind.SELECTOR, " ", Invalid),
        (RuleKind.REGEX, "(", InvalidPattern),
        (RuleKind.REGEX, "", Invalid),
        (RuleKind.NUMBERS, ".price", Invalid),
        (RuleKind.LEARNED, "{}", Invalid),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused_with_a_sentence(kind: RuleKind, value: str, error: type) -> None:
    with pytest.raises(error) as caught:
        checked_value(kind, value)
    assert str(caught.value).endswith(".")


PAGE = "<h1>Prices</h1>" + "<p>Everything we sell has a price, and this page names all of them one by one.</p>" * 3


@pytest.mark.parametrize(
    ("body", "wall"),
    [
        ("<h1>Just a moment...</h1><p>Checking your browser</p>", Wall.ROBOTS),
        ("<p>Please verify you are human</p>", Wall.ROBOTS),
        ("<p>To continue, prove that you are not a robot.</p>", Wall.ROBOTS),
        ("<h1>503 Service Unavailable</h1>", Wall.ERROR),
        ("<h1>Something went wrong</h1><p>Try again later.</p>", Wall.ERROR),
        ("<h1>We'll be back soon</h1><p>Down for maintenance.</p>", Wall.ERROR),
        ("", Wall.EMPTY),
        ("<p>Loading</p>", Wall.EMPTY),
    ],
)
def test_an_error_a_wall_or_nothing_in_place_of_a_page_is_no_change(body: str, wall: Wall) -> None:
    page, other = read_blocks(PAGE.encode()), read_blocks(body.encode())
    assert wall_between(page, other) is wall
    assert wall_between(other, page) is wall, "nor is what follows it"
    assert weigh_page(page, other).edits == ()


def test_a_long_page_about_errors_is_a_page() -> None:
    text = PAGE + "<p>A 503 Service Unavailable, a captcha, or access denied: what to do about each of them.</p>" * 9
    assert wall_between(blocks(PAGE), blocks(text)) is None


def test_a_page_that_always_looks_like_a_wall_is_compared() -> None:
    short = "<h1>Status</h1><p>Access denied means your card is old.</p><p>{}</p>"
    old, new = blocks(short.format("Ask Ann.")), blocks(short.format("Ask Bob."))
    assert len(weigh_page(old, new).edits) == 1


def test_short_pages_are_pages() -> None:
    assert len(weigh_page(read_blocks(b"<p>one</p>"), read_blocks(b"<p>two</p>")).edits) == 1
