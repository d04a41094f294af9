"""Other words around a value that is each page's own are one edit of the template, not one of every page."""

import pytest

from crawler.domain.changes.digest import without_template
from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.noise.template_changes import Collapsed, collapse
from tests.unit.noise.pages import blocks


def collapsed(before: str, after: str, values: dict[str, tuple[int, int]]) -> Collapsed:
    """Pages by name, each with its own values in the line."""
    edits = {
        name: diff_blocks(blocks(before.format(old)), blocks(after.format(new))) for name, (old, new) in values.items()
    }
    return collapse(edits, compared=len(edits) + 1)


MOVED = {"a": (1204, 1207), "b": (87, 93), "c": (410, 412), "d": (9, 31)}
SAME = {"a": (1204, 1204), "b": (87, 87), "c": (410, 410), "d": (9, 9)}


@pytest.mark.parametrize("values", [MOVED, SAME])
@pytest.mark.parametrize(("before", "after"), [
    ("<div id='n'>You are visitor no. {} today</div>", "<div id='n'>You are customer no. {} today</div>"),
    ("<span class='n'>{} views</span>", "<span class='n'>Read by {} people</span>"),
])  # fmt: skip
def test_a_line_that_says_it_otherwise_on_all_pages_is_told_once(
    before: str, after: str, values: dict[str, tuple[int, int]]
) -> None:
    found = collapsed(before, after, values)
    assert not any(found.left.values())
    [told] = found.template
    assert (told.pages, told.own_values) == (4, True)
    assert "1204" in told.removed
    old, new = values["c"]
    assert (
        without_template(diff_blocks(blocks(before.format(old)), blocks(after.format(new))), [told.as_record()]) == []
    )


def test_prices_that_move_with_their_words_are_told_page_by_page() -> None:
    before, after = "<p class='p'>Our price: {} €</p>", "<p class='p'>Sale price: {} €</p>"
    assert not collapsed(before, after, MOVED).template
    assert collapsed(before, after, SAME).template, "only the words are others"


def test_pages_that_say_something_else_each_are_told_one_by_one() -> None:
    edits = {
        name: diff_blocks(blocks(f"<p class='t'>Room {at} is free</p>"), blocks(f"<p class='t'>Room {at} {word}</p>"))
        for at, (name, word) in enumerate({"a": "is let", "b": "was sold", "c": "is shut", "d": "may burn"}.items())
    }
    assert not collapse(edits, compared=5).template


def test_a_page_that_got_another_number_than_the_template_is_told_by_itself() -> None:
    """All had one telephone number; they got a new one, and one page got a third."""
    values = {f"site/{at}": (1111, 9999 if at == 7 else 2222) for at in range(12)}
    found = collapsed("Call us, {}", "Call us, {}", values)
    (told,) = found.template
    assert (told.pages, told.own_values) == (11, False)
    assert [url for url, edits in found.left.items() if edits] == ["site/7"]
    edits = diff_blocks(blocks("Call us, 1111"), blocks("Call us, 9999"))
    assert without_template(edits, [told.as_record()]) == list(edits), "and its line is shown"
