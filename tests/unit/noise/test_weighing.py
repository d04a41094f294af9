from uuid import UUID

from crawler.domain.block_diff import BlockEdit
from crawler.domain.change_digest import LONGEST_LINE, digest_of_changes, without_template
from crawler.domain.changes import Changes
from crawler.domain.learned_noise import LearnedRule
from crawler.domain.noise import Weight
from crawler.domain.page_blocks import Block
from crawler.domain.page_walls import Wall
from crawler.domain.template_changes import is_template
from crawler.domain.weighing import MOST_EDITS, moving_again, weigh
from crawler.domain.word_diff import Kind, diff_words


def edit(old: str, new: str) -> BlockEdit:
    return BlockEdit(Block("p", old), Block("p", new))


def changed(*urls: str, unchanged: int = 0) -> Changes:
    return Changes((), (), urls, tuple(f"/same/{n}" for n in range(unchanged)), ())


MENU = edit("Home", "Start")


def test_the_same_edit_on_many_pages_is_one_change_of_the_site() -> None:
    urls = [f"/{n}" for n in range(6)]
    weights = {url: Weight((MENU,), ()) for url in urls}
    weights["/5"] = Weight((MENU, edit("a", "b")), ())
    found = weigh(changed(*urls), weights)
    assert found.changes.changed == ("/5",)
    assert len(found.changes.unchanged) == 5
    (change,) = found.template
    assert (change.removed, change.added, change.pages) == ("Home", "Start", 6)
    assert len(change.example_urls) == 5
    assert found.quiet["/0"] == ("template",)


def test_the_same_edit_on_a_few_pages_of_many_is_a_change_of_each() -> None:
    weights = {url: Weight((MENU,), ()) for url in ("/1", "/2", "/3")}
    found = weigh(changed(*weights, unchanged=20), weights)
    assert (found.changes.changed, found.template) == (("/1", "/2", "/3"), [])


def test_a_template_needs_fewer_of_all_pages_the_more_there_are() -> None:
    assert [is_template(*pages) for pages in ((2, 2), (3, 6), (3, 7), (10, 50), (10, 51), (50, 10_000))] == [
        False, True, False, True, False, True,
    ]  # fmt: skip


def test_a_page_that_cannot_be_read_again_stays_changed() -> None:
    assert weigh(changed("/gone"), {}).changes.changed == ("/gone",)


def test_a_quiet_page_counts_as_unchanged_and_is_named_with_its_rule() -> None:
    found = weigh(changed("/a", unchanged=1), {"/a": Weight((), ("counter",))})
    assert (found.changes.changed, found.changes.changed_share) == ((), 0.0)
    assert found.as_record()["quiet_page_urls"] == [{"url": "/a", "rules": ["counter"]}]


def test_a_wall_is_not_compared() -> None:
    found = weigh(changed("/a"), {"/a": Weight((), (), Wall.ROBOTS)})
    assert (found.changes.changed, found.changes.not_compared) == ((), ("/a",))
    assert found.as_record()["walls"] == [{"url": "/a", "kind": "wall"}]


def test_a_page_with_very_many_edits_changed() -> None:
    many = Weight(tuple(edit(f"{n}", f"{n} new") for n in range(MOST_EDITS + 1)), ())
    assert weigh(changed("/a", "/b", "/c"), dict.fromkeys(("/a", "/b", "/c"), many)).changes.changed == (
        "/a",
        "/b",
        "/c",
    )


def test_a_digest_is_bounded_in_lines_and_in_their_length() -> None:
    page = digest_of_changes("/a", UUID(int=1), [edit("x" * 999, f"{n}") for n in range(25)], most_lines=10)
    assert (len(page.lines), page.more) == (10, 15)
    assert len(page.removed[0]) == LONGEST_LINE
    assert page.added == tuple(str(n) for n in range(10))


def test_a_digest_leaves_out_what_the_summary_says_once_for_all_pages() -> None:
    assert without_template([MENU, edit("a", "b")], [{"removed": "Home", "added": "Start"}]) == [edit("a", "b")]


def test_words_that_changed_inside_a_line_are_told_apart() -> None:
    runs = diff_words("The limit is ten pages.", "The limit is twelve pages.")
    assert [(run.kind, run.text.strip()) for run in runs] == [
        (Kind.SAME, "The limit is"), (Kind.REMOVED, "ten"), (Kind.ADDED, "twelve"), (Kind.SAME, "pages."),
    ]  # fmt: skip


def test_a_line_of_very_many_words_counts_as_replaced() -> None:
    old, new = "a " * 5000, "b " * 5000
    assert [run.kind for run in diff_words(old, new)] == [Kind.REMOVED, Kind.ADDED]


def test_a_number_that_moves_on_most_pages_is_one_change_of_the_site() -> None:
    weights = {f"/{n}": Weight((edit(f"Cited {n} times", f"Cited {n + 2} times"),), ()) for n in range(8)}
    weights["/7"] = Weight((*weights["/7"].edits, edit("a", "b")), ())
    found = weigh(changed(*weights), weights)
    assert found.changes.changed == ("/7",)
    (change,) = found.template
    assert (change.line, change.pages, change.removed, change.added) == (
        "Cited # times",
        8,
        "Cited 0 times",
        "Cited 2 times",
    )
    assert without_template(weights["/7"].edits, [change.as_record()]) == [edit("a", "b")]


def test_prices_of_some_pages_are_changes_of_each() -> None:
    weights = {f"/{n}": Weight((edit(f"Price: {n} coins", f"Price: {n + 1} coins"),), ()) for n in range(8)}
    assert len(weigh(changed(*weights, unchanged=20), weights).changes.changed) == 8


def test_a_number_that_moves_again_is_learned() -> None:
    weights = {f"/{n}": Weight((edit(f"Cited {n} times", f"Cited {n + 2} times"),), ()) for n in range(8)}
    template = weigh(changed(*weights), weights).template
    assert moving_again(None, template) == moving_again({"template_changes": []}, template) == []
    (value,) = moving_again({"template_changes": [change.as_record() for change in template]}, template)
    assert LearnedRule.from_value(value).line == "Cited # times"
