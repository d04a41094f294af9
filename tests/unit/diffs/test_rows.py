"""Two texts as rows to look at."""

from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.diffs.rows import LONGEST_LINE, Row, diff_rows
from crawler.domain.diffs.text_diff import diff_lines
from crawler.domain.diffs.word_diff import WordKind

LINES = st.lists(st.sampled_from(["", "one", "two words", "three more words", "-minus", "+plus", "@@ head", " lead"]))


def rows_of(old: str, new: str) -> list[Row]:
    return [row for hunk in diff_rows(diff_lines(old, new)).hunks for row in hunk.rows]


@given(LINES, LINES)
def test_every_removed_and_added_line_is_shown_once_with_its_own_number(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    rows = rows_of(before, after)
    for row in rows:
        if row.old_number is not None:
            assert before.splitlines()[row.old_number - 1] == row.removed
        if row.new_number is not None:
            assert after.splitlines()[row.new_number - 1] == row.added
    diff = diff_lines(before, after)
    gone = [row for row in rows if row.old_number is not None and not row.is_same]
    come = [row for row in rows if row.new_number is not None and not row.is_same]
    same = sum(row.is_same for row in rows)
    assert (len(gone), len(come)) == (diff.removed, diff.added)
    assert len({row.old_number for row in rows if row.old_number is not None}) == len(gone) + same


def test_a_line_that_became_another_stands_beside_it_and_only_its_words_are_marked() -> None:
    (row,) = [
        row for row in rows_of("same\nAdults pay 11 euros\nend", "same\nAdults pay 13 euros\nend") if not row.is_same
    ]
    assert [(run.kind, run.text.strip()) for run in row.words] == [
        (WordKind.SAME, "Adults pay"),
        (WordKind.REMOVED, "11"),
        (WordKind.ADDED, "13"),
        (WordKind.SAME, "euros"),
    ]


def test_of_more_new_lines_than_old_ones_the_alike_ones_meet() -> None:
    rows = [
        row for row in rows_of("Adults pay 11 euros", "A wholly other thing\nAdults pay 13 euros") if not row.is_same
    ]
    assert [(row.removed, row.added) for row in rows] == [
        (None, "A wholly other thing"), ("Adults pay 11 euros", "Adults pay 13 euros"),
    ]  # fmt: skip


def test_rows_and_lines_are_bounded_and_what_is_left_out_is_counted() -> None:
    found = diff_rows(diff_lines("\n".join(map(str, range(3000))), "x" * 50_000), most_rows=100)
    assert sum(len(hunk.rows) for hunk in found.hunks) == 100
    assert found.more == 2901
    (row,) = rows_of("", "x" * 50_000)
    assert len(row.added or "") <= LONGEST_LINE


def test_texts_that_are_the_same_have_no_rows() -> None:
    assert diff_rows(diff_lines("a\nb", "a\nb")).hunks == ()
