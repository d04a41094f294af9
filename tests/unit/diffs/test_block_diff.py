import time
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.diffs.block_diff import BlockEdit, diff_blocks
from crawler.domain.diffs.line_diff import MOST_EDITS, line_hunks
from crawler.domain.diffs.page_blocks import Block
from tests.unit.noise.pages import blocks

LINES = st.lists(st.sampled_from("abcd"), max_size=30)


@given(LINES, LINES)
def test_hunks_turn_one_list_into_the_other(old: list[str], new: list[str]) -> None:
    hunks = line_hunks(old, new)
    gone = {at for removed, _ in hunks for at in removed}
    come = {at for _, added in hunks for at in added}
    kept = [line for at, line in enumerate(old) if at not in gone]
    assert kept == [line for at, line in enumerate(new) if at not in come]


@given(LINES, LINES)
def test_equal_lists_and_only_they_have_no_hunks(old: list[str], new: list[str]) -> None:
    assert (line_hunks(old, new) == []) is (old == new)


def test_a_changed_line_is_paired_with_what_stands_in_its_place() -> None:
    old, new = blocks("<p>one</p><ul><li>two</li></ul>"), blocks("<p>three</p><ul><li>two</li><li>four</li></ul>")
    assert diff_blocks(old, new) == [
        BlockEdit(Block("p", "one"), Block("p", "three")),
        BlockEdit(None, Block("ul>li", "four")),
    ]


@given(LINES, LINES)
def test_every_line_that_differs_is_in_one_edit_however_lines_read(old: list[str], new: list[str]) -> None:
    before, after = (blocks("".join(f"<p>{line}</p>" for line in lines)) for lines in (old, new))
    edits = diff_blocks(before, after, lambda line: "x" if line in "ab" else line)
    plain = diff_blocks(before, after)
    for side in (0, 1):
        told, expected = (Counter(edit[side] for edit in found if edit[side]) for found in (edits, plain))
        assert told == expected


def test_two_large_pages_with_nothing_in_common_are_compared_in_no_time() -> None:
    old, new = [f"a{n}" for n in range(20_000)], [f"b{n}" for n in range(20_000)]
    began = time.process_time()
    ((gone, come),) = line_hunks(old, new)
    assert (len(gone), len(come)) == (20_000, 20_000)
    assert time.process_time() - began < 2


def test_lines_in_another_order_are_told_however_many_they_are() -> None:
    lines = [f"line {n}" for n in range(MOST_EDITS * 2)]
    hunks = line_hunks(lines, lines[::-1])
    assert sum(len(gone) for gone, _ in hunks) == sum(len(come) for _, come in hunks) == len(lines) - 1


def test_of_many_edits_those_between_lines_that_stayed_are_told_exactly() -> None:
    old = [line for n in range(2_000) for line in (f"heading {n}", "Read more", f"price {n}")]
    new = [line.replace("price", "now") if n % 2 else line for n, line in enumerate(old)]
    changed = [at for at, line in enumerate(old) if new[at] != line]
    assert len(changed) > 2 * MOST_EDITS
    assert line_hunks(old, new) == [([at], [at]) for at in changed]


@given(LINES, LINES, st.integers(0, 3))
def test_hunks_are_right_also_where_the_fewest_edits_are_not_looked_for(
    old: list[str], new: list[str], most: int
) -> None:
    hunks = line_hunks(old, new, most_edits=most)
    gone = {at for removed, _ in hunks for at in removed}
    come = {at for _, added in hunks for at in added}
    assert [line for at, line in enumerate(old) if at not in gone] == [
        line for at, line in enumerate(new) if at not in come
    ]
    assert (hunks == []) is (old == new)
