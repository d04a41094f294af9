"""Pages of strangers cannot make comparing take out of all proportion: bounds on CPU time, which load does not move."""

import time
from uuid import UUID

import pytest

from crawler.domain.changes.filtered_changes import filter_across_pages
from crawler.domain.diffs import page_blocks
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.diffs.word_diff import diff_words
from crawler.domain.noise import page_noise
from crawler.domain.noise.page_noise import MOST_LEFT, FilteredPage
from crawler.domain.noise.rules import RuleKind, RuleSet, checked_value
from crawler.errors import InvalidPattern
from tests.unit.changes.fuzzing import fuzz
from tests.unit.changes.hostile_pages import HOSTILE, Hostile, page
from tests.unit.changes.judges import JUDGES, compared, judged, rule

NAMES = [hostile.name for hostile in HOSTILE]


def _used(judge: str, old: bytes, new: bytes) -> float:
    began = time.process_time()
    judged(judge, old, new)
    return time.process_time() - began


@pytest.mark.quick(2)
@pytest.mark.parametrize("hostile", HOSTILE[::4], ids=NAMES[::4])  # all of them below
def test_a_hostile_page_is_compared_in_time(hostile: Hostile) -> None:
    assert _used("compared", *hostile.build(1)) < 3


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("size", [1, pytest.param(2, marks=pytest.mark.long)])  # `growth.py` looks at larger ones
@pytest.mark.parametrize("hostile", HOSTILE, ids=NAMES)
def test_a_hostile_page_is_judged_in_time(hostile: Hostile, size: int) -> None:
    """A small one by every other judge, and its neighbour by the others; a larger one by all of them."""
    judges = list(JUDGES) if size > 1 else list(JUDGES)[HOSTILE.index(hostile) % 2 :: 2]
    old, new = hostile.build(size)
    most = 4 + 40e-6 * (len(old) + len(new))
    used = {judge: _used(judge, old, new) for judge in judges}
    assert {judge: seconds for judge, seconds in used.items() if seconds >= most} == {}


@pytest.mark.slow
def test_thirty_thousand_lines_that_changed_are_told_in_time_and_the_rest_is_not_weighed() -> None:
    def version(word: str) -> bytes:
        return page("".join(f"<p>{word} stands in line {n}</p>" for n in range(30_000)))

    began = time.process_time()
    found = compared(version("Summer"), version("Winter"))
    assert time.process_time() - began < 6
    assert len(found.edits) == 30_000
    assert found.unweighed == 30_000 - MOST_LEFT - 1


@pytest.mark.slow
def test_what_is_all_noise_is_quiet_up_to_a_bound_and_told_beyond_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(days: int, lines: int) -> bytes:
        return page("".join(f"<p>Nr {n}, {days} days ago</p>" for n in range(lines)))

    monkeypatch.setattr(page_noise, "MOST_WEIGHED", 500)
    quiet = compared(version(3, 500), version(4, 500))
    assert (quiet.edits, quiet.rules, quiet.unweighed) == ((), ("age",), 0)
    told = compared(version(3, 700), version(4, 700))
    assert len(told.edits) == told.unweighed > 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("99999999999999 days ago", "3 days ago"),
        ("9" * 3_000 + " years ago", "3 days ago"),
        ("31.12.9999", "yesterday"),
        ("0001-01-01", "2 days ago"),
        ("9999-12-31 99:99:99", "9999-12-31 99:99:98"),
    ],
)
def test_moments_that_no_calendar_has_are_told_and_break_nothing(old: str, new: str) -> None:
    assert compared(page(f"<p>Seen {old} here</p>"), page(f"<p>Seen {new} here</p>")).edits


def test_a_page_in_another_order_is_told_however_long_it_is() -> None:
    lines = [f"<p>This is line {n} of many</p>" for n in range(2_000)]
    assert compared(page("".join(lines)), page("".join(lines[::-1]))).edits


def test_a_stored_selector_that_could_take_long_is_not_run_and_says_why() -> None:
    costly = rule(RuleKind.SELECTOR, "*:has(~ * ~ * ~ * ~ .zzz)", 1)
    broken = rule(RuleKind.REGEX, "(", 2)
    good = rule(RuleKind.SELECTOR, ".ad", 3)
    rules = RuleSet.of([costly, broken, good])
    assert list(rules.selectors) == [".ad"]
    assert list(rules.problems) == [str(UUID(int=1)), str(UUID(int=2))]
    assert "would take long" in (costly.problem or "")
    assert "regular expression" in (broken.problem or "")
    boxes = "<div class=box></div>" * 300
    began = time.process_time()
    found = compared(
        page(f"{boxes}<p class=ad>one</p><p>old</p>"), page(f"{boxes}<p class=ad>two</p><p>new</p>"), rules
    )
    assert time.process_time() - began < 2
    assert [edit.added.text for edit in found.edits if edit.added] == ["new"]


def test_selectors_that_look_at_very_much_together_leave_the_rest_of_a_page_to_be_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rules = RuleSet.of(rule(RuleKind.SELECTOR, selector, n) for n, selector in enumerate(("div p", ".a", ".b"), 1))
    old, new = (page("<p>x</p>" * 500 + f"<b class=a>{word}</b><i class=b>{word}</i>") for word in ("one", "two"))
    assert compared(old, new, rules).edits == ()
    monkeypatch.setattr(page_blocks, "MOST_SEEN", 400)
    assert [edit.added and edit.added.text for edit in compared(old, new, rules).edits] == ["two", "two"]


@pytest.mark.slow
def test_five_hundred_patterns_are_looked_for_in_time() -> None:
    rules = RuleSet.of(rule(RuleKind.REGEX, f"^(?:[a-z]+ )*never {n}$", n) for n in range(1, 501))

    def version(word: str) -> bytes:
        return page("".join(f"<p>{word} stands in line {n} of this page</p>" for n in range(600)))

    began = time.process_time()
    assert compared(version("Summer"), version("Winter"), rules).edits
    assert time.process_time() - began < 15


def test_an_expression_that_repeats_too_much_is_refused() -> None:
    assert checked_value(RuleKind.REGEX, r"^\p{L}+ (?:\d{1,3}[.,]?){1,20} views$")
    with pytest.raises(InvalidPattern, match="repeats too much"):
        checked_value(RuleKind.REGEX, "(?:a?){1000}" * 30)


def test_words_that_repeat_are_told_apart_in_time() -> None:
    old, new = "a b " * 100, "b a " * 100
    began = time.process_time()
    for _ in range(100):
        diff_words(old, new)
    assert time.process_time() - began < 2


@pytest.mark.slow
def test_lines_that_move_on_many_pages_are_gathered_in_time() -> None:
    def edits(number: int) -> tuple[BlockEdit, ...]:
        return tuple(
            BlockEdit(Block("p", f"Kind {n} has {number} of them"), Block("p", f"Kind {n} has {number + 1} of them"))
            for n in range(40)
        )

    pages = {f"http://a.example/{n}": FilteredPage(edits(n), (), clock=edits(n)) for n in range(50)}
    began = time.process_time()
    filter_across_pages(pages, 50)
    assert time.process_time() - began < 6


@pytest.mark.slow
def test_some_random_pairs_keep_what_holds_for_every_pair() -> None:
    judged_pairs, found = fuzz(1, seconds=30, most=5)
    assert found == []
    assert judged_pairs


@pytest.mark.slow
@pytest.mark.parametrize("most", [25, pytest.param(200, marks=pytest.mark.long)])
def test_random_pairs_keep_what_holds_for_every_pair(fuzzing_seed: int, most: int) -> None:
    assert fuzz(fuzzing_seed, seconds=100, most=most)[1] == []
