"""Which rules a person is offered who points at an edit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.noise.rules import RuleKind, checked_value
from crawler.domain.noise.suggestions import loosened, suggest
from crawler.domain.patterns import compile_pattern


def edit(place: str, old: str | None, new: str | None) -> BlockEdit:
    return BlockEdit(Block(place, old) if old is not None else None, Block(place, new) if new is not None else None)


def offered(one: BlockEdit, label: str | None = None) -> list[tuple[str, str]]:
    return [(found.kind.value, found.value) for found in suggest(one, label)]


def test_a_named_place_is_offered_first_then_its_box_then_the_line() -> None:
    found = offered(edit("aside.visitors>p>span", "Seen by 12 people", "Seen by 14 people"))
    assert found == [
        ("selector", "aside.visitors > p > span"),
        ("selector", "aside.visitors"),
        ("regex", "^Seen by.*people$"),
        ("numbers", "*"),
    ]


def test_a_place_that_only_tags_name_is_no_selector() -> None:
    assert {kind for kind, _ in offered(edit("div>p", "The fox ran", "The dog ran"))} == {"regex"}


def test_lines_without_words_of_their_own_are_not_offered_as_expressions() -> None:
    assert offered(edit("p", "12", "14")) == [("numbers", "*")]
    assert offered(edit("p", "monday", "friday"))[-1][0] != "regex"


def test_a_line_that_came_or_went_is_known_by_all_of_its_words() -> None:
    assert offered(edit("p", None, "Only today: 20 % off (all) [sale]")) == [
        ("regex", r"^Only today: 20 % off \(all\) \[sale\]$")
    ]


WORDS = st.lists(st.text(alphabet="abcdefg.*+?()[]{}|^$\\-&~# é/0123", min_size=1, max_size=9), min_size=1, max_size=80)


@given(WORDS, WORDS)
def test_whatever_a_page_says_an_offered_expression_is_one_and_finds_both_lines(old: list[str], new: list[str]) -> None:
    texts = [" ".join(" ".join(words).split()) for words in (old, new)]
    for found in suggest(edit("p", *texts)):
        if found.kind is RuleKind.REGEX:
            pattern = compile_pattern(checked_value(RuleKind.REGEX, found.value))
            assert all(pattern.search(text) is not None for text in texts if text)


@pytest.mark.parametrize(
    ("place", "selector"),
    [("div.md:flex.w-1/2", r"div.md\:flex.w-1\/2"), ("p#lead>b", "p#lead > b"), ("li.prix-à-jour", "li.prix-à-jour")],
)
def test_names_with_odd_characters_become_selectors_that_are_valid(place: str, selector: str) -> None:
    (first, *_) = offered(edit(place, "a b c d e", "a b c d f"))
    assert first == ("selector", selector)
    assert checked_value(RuleKind.SELECTOR, selector) == selector


def test_endings_that_each_release_changes_are_left_open() -> None:
    assert loosened("div.price > b") == 'div[class*="price"] > b'
    checked_value(RuleKind.SELECTOR, loosened("div.price > b"))


def test_a_value_with_a_label_is_offered_with_its_row_or_what_stands_below_the_label() -> None:
    found = offered(edit("table>tbody>tr>td", "£9.80", "£10.40"), "Green tea")
    assert found == [
        ("selector", 'tr:has(> :first-child:says("Green tea"))'),
        ("selector", ':is(dt, h1, h2, h3, h4, h5, h6):says("Green tea") + td'),
        ("numbers", "*"),
    ]
    odd = offered(edit("p", "1", "2"), 'The "big" \\ one')[0][1]
    assert checked_value(RuleKind.SELECTOR, odd) == odd
    assert offered(edit("p", "1", "2"), "long " * 40) == [("numbers", "*")]


def test_a_short_label_before_a_value_is_enough_for_an_expression() -> None:
    assert offered(edit("p", "Tea: £9.80", "Tea: £10.40"))[0] == ("regex", "^Tea:.*$")


def test_only_rules_for_every_page_are_wide() -> None:
    assert [one.is_wide for one in suggest(edit("p.price", "12", "14"))] == [False, True]
