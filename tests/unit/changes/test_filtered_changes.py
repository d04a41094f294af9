import pickle
from uuid import UUID

import pytest

from crawler.domain.changes import filtered_changes
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.digest import digest_of_changes, told_of_page, without_template
from crawler.domain.changes.filtered_changes import (
    MOST_CHARACTERS,
    MOST_EDITS,
    Room,
    bounded,
    filter_changes,
    recount,
    rules_for_random_tokens,
)
from crawler.domain.changes.page_digest import LONGEST_LINE
from crawler.domain.changes.removals import LostPage, Removal
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block, read_blocks
from crawler.domain.diffs.replaced_text import replaced_text
from crawler.domain.diffs.shown_lines import shown
from crawler.domain.diffs.walls import Wall
from crawler.domain.diffs.word_diff import WordKind, diff_words
from crawler.domain.noise.clock_lines import confirmed, lines_to_confirm
from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from crawler.domain.noise.rules import RuleSet
from crawler.domain.noise.template_changes import is_template
from crawler.domain.patterns import compile_pattern


def edit(old: str, new: str) -> BlockEdit:
    return BlockEdit(Block("p", old), Block("p", new))


def changed(*urls: str, unchanged: int = 0) -> Changes:
    return Changes((), (), urls, tuple(f"/same/{n}" for n in range(unchanged)), ())


MENU = edit("Home", "Start")


def test_the_same_edit_on_many_pages_is_one_change_of_the_site() -> None:
    urls = [f"/{n}" for n in range(6)]
    pages = {url: FilteredPage((MENU,), ()) for url in urls}
    pages["/5"] = FilteredPage((MENU, edit("a", "b")), ())
    found = filter_changes(changed(*urls), pages)
    assert found.changes.changed == ("/5",)
    assert len(found.changes.unchanged) == 5
    (change,) = found.template
    assert (change.removed, change.added, change.pages) == ("Home", "Start", 6)
    assert len(change.example_urls) == 5
    assert found.quiet["/0"] == ("template",)


def test_the_same_edit_on_a_few_pages_of_many_is_a_change_of_each() -> None:
    pages = {url: FilteredPage((MENU,), ()) for url in ("/1", "/2", "/3")}
    found = filter_changes(changed(*pages, unchanged=20), pages)
    assert (found.changes.changed, found.template) == (("/1", "/2", "/3"), [])


def test_a_template_needs_fewer_of_all_pages_the_more_there_are() -> None:
    assert [is_template(*pages) for pages in ((2, 2), (3, 6), (3, 7), (10, 50), (10, 51), (50, 10_000))] == [
        False, True, False, True, False, True,
    ]  # fmt: skip


def test_a_page_that_cannot_be_read_again_stays_changed() -> None:
    assert filter_changes(changed("/gone"), {}).changes.changed == ("/gone",)


def test_a_quiet_page_counts_as_unchanged_and_is_named_with_its_rule() -> None:
    found = filter_changes(changed("/a", unchanged=1), {"/a": FilteredPage((), ("counter",))})
    assert (found.changes.changed, found.changes.unchanged) == ((), ("/a", "/same/0"))
    assert found.as_record()["quiet_page_urls"] == [{"url": "/a", "rules": ["counter"]}]


def test_a_wall_is_not_compared() -> None:
    found = filter_changes(changed("/a"), {"/a": FilteredPage((), (), Wall.ROBOTS)})
    assert (found.changes.changed, found.changes.not_compared) == ((), ("/a",))
    assert found.as_record()["walls"] == [{"url": "/a", "kind": "wall"}]


def test_a_page_with_very_many_edits_changed() -> None:
    many = FilteredPage(tuple(edit(f"{n}", f"{n} new") for n in range(MOST_EDITS + 1)), ())
    assert filter_changes(changed("/a", "/b", "/c"), dict.fromkeys(("/a", "/b", "/c"), many)).changes.changed == (
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


def test_a_page_that_changed_shows_what_changed_though_the_template_says_the_same() -> None:
    """A menu lost an entry, and so did the list of the home page."""
    template = [{"removed": "Home", "added": "Start"}]
    assert told_of_page([MENU, edit("a", "b")], template) == [edit("a", "b")]
    assert told_of_page([MENU, MENU], template) == [MENU, MENU]


def test_words_that_changed_inside_a_line_are_told_apart() -> None:
    runs = diff_words("The limit is ten pages.", "The limit is twelve pages.")
    assert [(run.kind, run.text.strip()) for run in runs] == [
        (WordKind.SAME, "The limit is"),
        (WordKind.REMOVED, "ten"),
        (WordKind.ADDED, "twelve"),
        (WordKind.SAME, "pages."),
    ]


@pytest.mark.parametrize(("old", "new"), [("tip stable", "tip"), ("tip", "tip stable"), ("a b c", "b"), ("b", "a b c")])
def test_both_lines_can_be_read_from_the_words(old: str, new: str) -> None:
    runs = diff_words(old, new)
    for line, other in ((old, WordKind.ADDED), (new, WordKind.REMOVED)):
        assert "".join(run.text for run in runs if run.kind is not other).strip() == line


def test_a_line_of_very_many_words_counts_as_replaced() -> None:
    old, new = "a " * 5000, "b " * 5000
    assert [run.kind for run in diff_words(old, new)] == [WordKind.REMOVED, WordKind.ADDED]


def test_a_number_that_moves_on_most_pages_is_one_change_of_the_site() -> None:
    pages = {f"/{n}": FilteredPage((edit(f"Cited {n} times", f"Cited {n + 2} times"),), ()) for n in range(8)}
    pages["/7"] = FilteredPage((*pages["/7"].edits, edit("a", "b")), ())
    found = filter_changes(changed(*pages), pages)
    assert found.changes.changed == ("/7",)
    (change,) = found.template
    assert (change.line, change.pages, change.removed, change.added) == (
        "Cited # times",
        8,
        "Cited 0 times",
        "Cited 2 times",
    )
    assert without_template(pages["/7"].edits, [change.as_record()]) == [edit("a", "b")]


def test_prices_of_some_pages_are_changes_of_each() -> None:
    pages = {f"/{n}": FilteredPage((edit(f"Price: {n} coins", f"Price: {n + 1} coins"),), ()) for n in range(8)}
    assert len(filter_changes(changed(*pages, unchanged=20), pages).changes.changed) == 8


def test_tokens_that_differ_again_are_learned_with_their_line_and_no_other_value_of_it() -> None:
    def drawn(start: int) -> dict[str, FilteredPage]:
        lines = ((f"Draw 7 has {n + start:07x}a here", f"Draw 7 has {n + start + 99:07x}b here") for n in range(8))
        return {f"/{n}": FilteredPage((edit(*line),), ()) for n, line in enumerate(lines)}

    pages = drawn(1)
    template = filter_changes(changed(*pages), pages).template
    assert rules_for_random_tokens(None, template) == rules_for_random_tokens({"template_changes": []}, template) == []
    (value,) = rules_for_random_tokens({"template_changes": [change.as_record() for change in template]}, template)
    rule = LearnedRule.from_value(value)
    assert (rule.line, rule.values) == ("Draw # has # here", (1,))


def moved(line: str, *steps: tuple[int, int]) -> dict[str, FilteredPage]:
    """A page for each step, on which a number in this line went from one to the other."""
    return {f"/{n}": FilteredPage((edit(line.format(a), line.format(b)),), ()) for n, (a, b) in enumerate(steps)}


RAISED = [(n, n + 2 + n % 3) for n in range(400, 408)]
MIXED = [(n, n + 5 - 10 * (n % 2)) for n in range(400, 408)]


@pytest.mark.parametrize(
    "line", ["€ {}.00", "Costs {} a year", "${} per seat", "{} % off", "Price: {}", "Version {}", "{} EUR"]
)
def test_prices_that_move_on_all_pages_are_changes_of_each_at_every_crawl(line: str) -> None:
    pages = moved(line, *RAISED)
    found = filter_changes(changed(*pages), pages)
    assert (len(found.changes.changed), found.template) == (8, [])
    before = [{"place": place, "line": line.format("#"), "removed": "", "added": ""} for place in ("p", "*")]
    assert rules_for_random_tokens({"template_changes": before}, found.template) == []


@pytest.mark.parametrize(
    ("line", "steps"),
    [
        ("Bicycles here {}", MIXED),
        ("{}", RAISED),
        ("{} of 900 seats", [(b, a) for a, b in RAISED]),
        ("In stock: {}", RAISED),
        ("Delivery in {} days", RAISED),
        ("Up to {} active users", RAISED),
        ("Cited {} times", RAISED),
        ("Adults pay {}", RAISED),
        ("Beds free: {}", RAISED),
    ],
)
def test_numbers_are_told_however_often_they_move_from_crawl_to_crawl(line: str, steps: list[tuple[int, int]]) -> None:
    pages = moved(line, *steps)
    template = filter_changes(changed(*pages), pages).template
    assert len(template) == 1
    assert rules_for_random_tokens({"template_changes": [change.as_record() for change in template]}, template) == []


def test_a_count_of_the_whole_site_is_an_edit_each_time_it_grows() -> None:
    pages = moved("{} people are members", *[(1210, 1214)] * 6)
    found = filter_changes(changed(*pages), pages)
    assert (found.template_pages, found.changes.changed) == (6, ())
    assert (
        rules_for_random_tokens({"template_changes": [one.as_record() for one in found.template]}, found.template) == []
    )


def test_of_lines_with_values_of_their_own_one_is_told_as_an_example() -> None:
    own, same = moved("Adult {}", *RAISED), moved("Adult {}", *[(12, 13)] * 6)
    (of_own,), (of_same,) = (filter_changes(changed(*pages), pages).template for pages in (own, same))
    assert (of_own.own_values, of_own.as_record()["own_values"]) == (True, True)
    assert (of_same.own_values, of_same.as_record()["own_values"]) == (False, False)


def test_an_edit_after_many_characters_of_a_line_is_told_and_shown() -> None:
    start, end = "word " * 300, " word" * 300
    pages = {f"/{n}": bounded(FilteredPage((edit(f"{start}{n}{end}", f"{start}{n} more{end}"),), ())) for n in range(6)}
    pages["/5"] = FilteredPage((edit(f"{start}ten{end}", f"{start}twelve{end}"),), ())
    assert len(filter_changes(changed(*pages), pages).changes.changed) == 6, "they only begin alike"
    page = digest_of_changes("/5", UUID(int=1), pages["/5"].edits)
    assert "ten" in page.removed[0]
    assert "twelve" in page.added[0]
    assert max(len(page.removed[0]), len(page.added[0])) <= LONGEST_LINE


def test_a_long_line_of_the_template_is_told_around_what_differs() -> None:
    long = edit("menu " * 200 + "Shop" + " menu" * 200, "menu " * 200 + "Store" + " menu" * 200)
    pages = {f"/{n}": FilteredPage((long,), ()) for n in range(6)}
    (change,) = filter_changes(changed(*pages), pages).template
    assert "Shop" in change.removed
    assert "Store" in change.added
    assert without_template([long, edit("a", "b")], [change.as_record()]) == [edit("a", "b")]


@pytest.mark.parametrize(
    ("old", "new"),
    [("x" * 999, "x" * 998 + "y"), ("x" * 999, "x" * 999 + " end"), ("x" * 900 + "z", "x" * 400), ("", "x" * 999)],
)
def test_what_is_shown_of_long_lines_is_short_and_differs(old: str, new: str) -> None:
    one, other = shown(old, new, 100)
    assert one != other
    assert max(len(one), len(other)) <= 100


def test_a_page_with_very_long_edits_changed_and_is_kept_light() -> None:
    page = bounded(FilteredPage(tuple(edit(f"{n}{'x' * 5_000}", "y") for n in range(MOST_CHARACTERS // 5_000 + 1)), ()))
    assert len(page.edits) == 1
    pages = dict.fromkeys(("/a", "/b", "/c", "/d"), page)
    assert len(filter_changes(changed(*pages), pages).changes.changed) == 4
    assert recount(pages, 4) == (4, 0, 0)
    menu = {f"/{n}": FilteredPage((MENU,), ()) for n in range(6)}
    menu["/5"] = FilteredPage((MENU, edit("a", "b")), ())
    assert recount(menu, 6) == (1, 1, 5)


def came(text: str) -> BlockEdit:
    return BlockEdit(None, Block("p", text))


def test_a_line_with_values_of_its_own_that_first_appears_on_all_pages_is_one_change_of_the_site() -> None:
    pages = {f"/{n}": FilteredPage((came(f"Seen by {n}17 people so far"),), ()) for n in range(6)}
    pages["/5"] = FilteredPage((*pages["/5"].edits, edit("a", "b")), ())
    found = filter_changes(changed(*pages), pages)
    assert found.changes.changed == ("/5",)
    (change,) = found.template
    assert (change.pages, change.removed, change.line) == (6, "", "Seen by # people so far")
    assert without_template(pages["/5"].edits, [change.as_record()]) == [edit("a", "b")]
    went = {url: FilteredPage((BlockEdit(one.edits[0].added, None),), ()) for url, one in pages.items()}
    assert filter_changes(changed(*went), went).changes.changed == ()


def test_prices_that_first_appear_on_all_pages_are_changes_of_each() -> None:
    pages = {f"/{n}": FilteredPage((came(f"Now only € {n}.00"),), ()) for n in range(6)}
    assert len(filter_changes(changed(*pages), pages).changes.changed) == 6


def clocked(*lines: tuple[str, str]) -> dict[str, FilteredPage]:
    return {f"/{n}": FilteredPage((one := edit(*line),), (), None, (one,)) for n, line in enumerate(lines)}


TODAY = ("Nightly of 15 November 2026", "Nightly of 16 November 2026")


def test_a_date_that_runs_with_the_clock_on_one_page_is_told_and_on_several_is_not() -> None:
    alone, few, several = (clocked(*[TODAY] * count) for count in (1, 2, 3))
    assert filter_changes(changed(*alone), alone).changes.changed == ("/0",)
    assert len(filter_changes(changed(*few), few).changes.changed) == 2
    found = filter_changes(changed(*several), several)
    assert (found.changes.changed, found.template) == ((), [])
    assert found.quiet["/0"] == ("date of the fetch",)


CONCERT = ("Concert on 15 November 2026", "Concert on 16 November 2026")


def test_one_line_of_the_template_is_one_piece_of_evidence_on_however_many_pages_it_stands() -> None:
    pages = clocked(*[CONCERT] * 6)
    found = filter_changes(changed(*pages), pages)
    assert [(change.removed, change.added) for change in found.template] == [CONCERT]
    assert found.template_pages == 6
    fixed = clocked(*((f"{CONCERT[0]} at 1{n}:00", f"{CONCERT[1]} at 1{n}:00") for n in range(6)))
    assert filter_changes(changed(*fixed), fixed).template, "a day at the time it had before is an appointment"
    own = clocked(*((f"{CONCERT[0]} at 1{n}:00", f"{CONCERT[1]} at 1{n}:20") for n in range(6)))
    assert filter_changes(changed(*own), own).template == [], "each has a time of its own and runs all the same"


def test_what_other_pages_cannot_tell_is_asked_of_earlier_versions_of_a_few() -> None:
    pages = clocked(*[CONCERT] * 6)
    asked = lines_to_confirm(pages)
    ((key, urls),) = asked.items()
    assert (key.words, urls) == ("Concert on @", ["/0", "/1", "/2"])
    assert confirmed(asked, {"/0": {key: True}, "/1": {key: True}, "/2": {}}) == {key}
    assert confirmed(asked, {"/0": {key: True}, "/1": {key: False}}) == confirmed(asked, {}) == set()
    assert confirmed(asked, {}, [{}, {key: True}]) == {key}, "so do two looks of one crawl, at any page"
    assert confirmed(asked, {"/0": {key: True}}, [{key: False}]) == set()


def test_a_date_that_most_pages_changed_otherwise_does_not_run_with_the_clock() -> None:
    pages = clocked(*[TODAY] * 3)
    others = {f"/o{n}": FilteredPage((edit(TODAY[0], f"Nightly of {n} December 2026"),), ()) for n in range(1, 5)}
    found = filter_changes(changed(*pages, *others, unchanged=20), {**pages, **others})
    assert len(found.changes.changed) == 7


def replaced(old: str, new: str) -> FilteredPage:
    texts = replaced_text(*(read_blocks(f"<p>{text}</p>".encode()) for text in (old, new)))
    return FilteredPage((edit(old, new),), (), texts=texts)


def test_one_text_in_place_of_many_pages_is_a_wall_told_in_one_note() -> None:
    pages = {f"/{n}": replaced(f"page {n}", "Sign in") for n in range(6)}
    pages["/6"] = replaced("page 6", "page 6, edited")
    found = filter_changes(changed(*pages), pages)
    assert found.changes.changed == ("/6",)
    (note,) = found.as_record()["wall_notes"]
    assert (note["kind"], note["pages"], len(note["example_urls"])) == ("same_page", 6, 5)
    back = {f"/{n}": replaced("Sign in", f"page {n}") for n in range(6)}
    gone = filter_changes(changed(*back), back)
    assert (len(gone.walls), gone.as_record()["wall_notes"]) == (6, []), (
        "when it goes, too; but then nobody is behind it"
    )


def test_pages_that_always_said_the_same_are_no_wall() -> None:
    pages = {f"/{n}": replaced("empty shelf", "full shelf") for n in range(6)}
    assert filter_changes(changed(*pages), pages).walls == {}
    few = {f"/{n}": replaced(f"page {n}", "no longer sold") for n in range(3)}
    assert len(filter_changes(changed(*few, unchanged=20), few).changes.changed) == 3


def test_each_wall_is_noted_with_how_many_pages_are_behind_it() -> None:
    pages = {
        "/a": FilteredPage((), (), Wall.ROBOTS),
        "/b": FilteredPage((), (), Wall.ERROR),
        "/c": FilteredPage((), (), Wall.ERROR),
    }
    notes = filter_changes(changed(*pages), pages).as_record()["wall_notes"]
    assert [(note["kind"], note["pages"]) for note in notes] == [("wall", 1), ("error", 2)]
    lost = tuple(LostPage(f"/{n}", None, Removal.BLOCKED, "/login", 302) for n in range(3))
    (note,) = filter_changes(Changes((), (), (), (), (), lost=lost), {}).as_record()["wall_notes"]
    assert note == {"kind": "redirect", "pages": 3, "target": "/login", "example_urls": ["/0", "/1", "/2"]}


def test_pages_with_an_edit_of_the_template_are_counted_and_those_with_the_tag_of_a_release_are_not() -> None:
    menu = {f"/{n}": FilteredPage((MENU,), ()) for n in range(6)}
    menu["/5"] = FilteredPage((MENU, edit("a", "b")), ())
    assert filter_changes(changed(*menu), menu).template_pages == 5
    cited = moved("Cited {} times", *RAISED)
    assert filter_changes(changed(*cited), cited).template_pages == 8, "nobody knows yet that it counts"
    tags = {f"/{n}": FilteredPage((edit("build 45f9d18", "build 8a9e4f0"),), ()) for n in range(6)}
    found = filter_changes(changed(*tags), tags)
    assert (found.template_pages, found.changes.changed, found.template) == (0, (), [])
    versions = {f"/{n}": FilteredPage((edit("build 4711", "build 4713"),), ()) for n in range(6)}
    assert filter_changes(changed(*versions), versions).template_pages == 6
    halls = {f"/{n}": FilteredPage((edit("Session A12 in hall 3", "Session A14 in hall 3"),), ()) for n in range(6)}
    assert filter_changes(changed(*halls), halls).template_pages == 6


def test_random_tokens_of_the_template_are_learned_when_they_differ_again() -> None:
    tags = {f"/{n}": FilteredPage((edit("Assets of 45f9d18 here", "Assets of 8a9e4f0 here"),), ()) for n in range(6)}
    found = filter_changes(changed(*tags), tags)
    assert found.template_pages == 6
    assert (
        len(rules_for_random_tokens({"template_changes": [one.as_record() for one in found.template]}, found.template))
        == 1
    )


# -- what is kept until all pages are compared ------------------------------------------------------


def test_a_page_holds_little_of_long_lines_that_a_rule_leaves_out() -> None:
    """A part that failed is known by lines that are gone: by their hashes, however long they are."""
    kept = "".join(f"<p>Keeps line {n} of this page</p>" for n in range(5))
    long = "".join(f"<p>zq\N{GRINNING FACE} {n} {'!' * 5_000}</p>" for n in range(50))
    old = read_blocks(f"{kept}<section class=r><p>short own text here</p>{long}</section>".encode())
    new = read_blocks(f"{kept}<section class=r><p>Reviews are not there now</p></section>".encode())
    page = bounded(apply_noise_rules(old, new, RuleSet(patterns=(("x", compile_pattern("^zq")),))))
    assert len(page.stand_ins[0].lines) == 51
    assert len(pickle.dumps(page)) < 20_000


def test_a_page_whose_edits_stand_in_long_rows_or_that_has_one_long_line_holds_little() -> None:
    rows = tuple(BlockEdit(None, Block("td", f"{n}", row=f"{n}" * 10_000)) for n in range(100))
    line = (BlockEdit(None, Block("p", "x" * 1_000_000)),)
    for edits in (rows, line):
        page = bounded(FilteredPage(edits, ()))
        assert page.is_truncated
        assert page.edits
        assert len(pickle.dumps(page)) < 2_000


def test_when_all_pages_hold_too_much_further_ones_are_told_and_small_ones_are_compared_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(filtered_changes, "MOST_KEPT_OF_ALL", 100_000)
    large = [FilteredPage(tuple(edit(f"a {n} {at}", f"{at}" + "x" * 900) for at in range(60)), ()) for n in range(4)]
    room = Room()
    assert [room.kept(page).is_truncated for page in large] == [False, False, True, True]
    urls = [f"/{n}" for n in range(6)]
    pages = {url: room.kept(FilteredPage((MENU,), ())) for url in urls[:5]} | {"/5": room.kept(large[0])}
    found = filter_changes(changed(*urls), pages)
    assert (found.changes.changed, len(found.template)) == (("/5",), 1)
