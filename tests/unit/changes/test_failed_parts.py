"""One line in place of what each of many pages said: when a part may have failed, and when somebody edited them."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from crawler.domain.changes.failed_parts import (
    HeldPage,
    as_record,
    is_nearly_everywhere,
    known,
    neighbours,
    shared_parts,
    standing,
    without_lines,
)
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.noise.pages import blocks

ANIMALS = ("heron", "otter", "beaver", "marten", "badger", "lynx", "stoat", "vole", "toad", "crane", "hare", "mole")
DOES = ("fishes", "dives", "gnaws", "climbs", "digs", "hides", "hunts", "nests", "croaks", "dances", "boxes", "tunnels")
FAILED = "<p>Could not get comments</p>"
VERSION = UUID(int=7)


def comments(number: int, times: int = 1) -> str:
    animal, does = ANIMALS[number], DOES[number]
    more = "".join(
        f"<li>For year {year} it {does} where no {animal}s were seen before</li>" for year in range(times - 1)
    )
    return f"<ul><li>We saw how it {does} at dawn</li><li>Nothing {does} like a {animal}s cub does</li>{more}</ul>"


def article(number: int, part: str, price: str = "", text: str = "") -> tuple[str, str]:
    animal = ANIMALS[number]
    text = text or f"The {animal} weighs {number} kilos, sleeps {number} hours and {DOES[number]} at night."
    return f"<h1>{animal}</h1><p>{text}</p>{price}<h2>Comments</h2><div class=comments>{part}</div>", f"{animal} – Zoo"


def pages(old: Sequence[tuple[str, str]], new: Sequence[tuple[str, str]]) -> dict[str, FilteredPage]:
    pairs = zip(old, new, strict=True)
    return {
        f"http://z.test/{number}": apply_noise_rules(blocks(*before), blocks(*after))
        for number, (before, after) in enumerate(pairs)
    }


def failing(count: int = 12, part: str = FAILED) -> dict[str, FilteredPage]:
    old = [article(number, comments(number, 3)) for number in range(count)]
    return pages(old, [article(number, part.format(ANIMALS[number], number)) for number in range(count)])


def lines_in(found: dict[str, FilteredPage]) -> list[tuple[str, int]]:
    return [(line, len(urls)) for (_, line), urls in shared_parts(found).by_key.items()]


@pytest.mark.parametrize("count", [3, 12])
@pytest.mark.parametrize(
    "part",
    [FAILED, "<p>No puede ser</p><p>Vuelva a intentarlo</p>", "<b>Comments on {} failed: error {} of 4711</b>"],
    ids=["a line", "two, in any language", "with the name of the page and a number"],
)
def test_one_line_in_place_of_words_of_each_pages_own_is_found(part: str, count: int) -> None:
    found = failing(count, part)
    ((line, number),) = lines_in(found)
    assert number == count
    assert all(without_lines(page, {line}).edits == () for page in found.values())
    assert standing(found, shared_parts(found), {}).keys() == found.keys()


def test_two_pages_are_too_few_and_a_few_that_said_little() -> None:
    assert lines_in(failing(2)) == []
    old = [article(n, f"<p>The next tour begins when it {DOES[n]}, with {DOES[-n]} and a guide</p>") for n in range(9)]
    assert lines_in(pages(old, [article(n, "<p>Cancelled</p>") for n in range(9)])) == []


def test_each_of_two_parts_of_a_page_may_fail() -> None:
    old = [article(n, comments(n), text=f"It {DOES[n]} in every valley around {ANIMALS[n]} hill") for n in range(6)]
    new = [article(n, FAILED, text="The text could not be loaded") for n in range(6)]
    pairs = pages(old, new)
    assert {len(page.stand_ins) for page in pairs.values()} == {2}


@pytest.mark.parametrize(
    "was",
    ["{} left", "{}.50 EUR", "Open from {}:00 to 18:00", "Only a few left: order now, as long as there are any"],
    ids=["numbers", "prices", "hours", "one text on all pages"],
)
def test_what_was_no_text_of_each_pages_own_is_an_edit(was: str) -> None:
    old = [article(n, f"<p>{was.format(n + 3)}</p>") for n in range(12)]
    new = [article(n, "<p>Sold out</p>") for n in range(12)]
    assert lines_in(pages(old, new)) == []


def test_short_hours_of_each_branch_are_no_text() -> None:
    hours = ("Mon–Fri 9–17", "Mon–Sat 8–12", "Tue–Sun 10–18", "Thu 7–9", "Sat 9–12", "Sun 9–12")
    old = [article(n, f"<p>{one}</p>") for n, one in enumerate(hours)]
    new = [article(n, "<p>Closed for renovation</p>") for n in range(len(hours))]
    assert lines_in(pages(old, new)) == []


def test_lines_of_each_pages_own_are_edits() -> None:
    old = [article(n, comments(n)) for n in range(12)]
    new = [article(n, f"<p>{DOES[n - 1]} and {ANIMALS[n - 1]}, says everybody</p>") for n in range(12)]
    assert lines_in(pages(old, new)) == []


def test_a_page_of_which_hardly_the_name_is_left_is_withdrawn() -> None:
    old = [(f"<h1>{ANIMALS[n]}</h1><p>It {DOES[n]} all day.</p>{comments(n)}", ANIMALS[n]) for n in range(4)]
    new = [(f"<h1>{ANIMALS[n]}</h1><p>No longer in our zoo.</p>", ANIMALS[n]) for n in range(4)]
    assert lines_in(pages(old, new)) == []


def test_what_comes_or_goes_alone_is_an_edit() -> None:
    old, new = ([article(n, part(n)) for n in range(12)] for part in (comments, lambda _: ""))
    assert lines_in(pages(old, new)) == []
    assert lines_in(pages(new, old)) == []
    both = [article(n, comments(n) + FAILED) for n in range(12)]
    assert lines_in(pages(old, both)) == []


def test_a_line_that_was_on_the_page_before_is_no_stand_in_for_others() -> None:
    with_line = [article(n, comments(n), price=FAILED) for n in range(12)]
    assert lines_in(pages(with_line, [article(n, "", price=FAILED) for n in range(12)])) == []


def test_edits_beside_the_part_stay() -> None:
    old = [article(n, comments(n), "<p class=price>10 EUR</p>") for n in range(10)]
    new = [article(n, FAILED, "<p class=price>12 EUR</p>") for n in range(10)]
    found = pages(old, new)
    ((line, _),) = lines_in(found)
    (edit,) = without_lines(found["http://z.test/1"], {line}).edits
    assert edit.added is not None
    assert edit.added.text == "12 EUR"


def test_it_is_not_told_in_two_crawls_and_then_it_is() -> None:
    found = failing(3)
    ((line, _),) = lines_in(found)
    parts = shared_parts(found)
    once, twice = ({url: HeldPage(VERSION, (line,), crawls) for url in found} for crawls in (1, 2))
    assert len(standing(found, parts, once)) == 3
    assert standing(found, parts, twice) == {}
    one = {"http://z.test/1": found["http://z.test/1"]}
    assert list(standing(one, shared_parts(one), once)) == ["http://z.test/1"], (
        "of those that fail still, one is enough"
    )
    assert standing(one, shared_parts(one), {}) == {}


def test_a_page_that_shows_the_same_line_elsewhere_has_it_of_the_same_failure() -> None:
    home = pages(
        [("<h1>Zoo</h1><aside><p>Bea: nice</p></aside>", "Zoo")], [(f"<h1>Zoo</h1><aside>{FAILED}</aside>", "Zoo")]
    )
    found = {**failing(12), "http://z.test/": home["http://z.test/0"]}
    assert "http://z.test/" in standing(found, shared_parts(found), {})
    assert "http://z.test/" not in standing(
        {**failing(2), "http://z.test/": home["http://z.test/0"]}, shared_parts({}), {}
    )


def test_it_stands_nearly_everywhere_where_the_part_was() -> None:
    assert is_nearly_everywhere(12, [(0, []), (0, [])])
    assert is_nearly_everywhere(12, [(3, [True, True, False]), (100, [False] * 40)])
    assert not is_nearly_everywhere(12, [(12, [True] * 6 + [False] * 6)])
    assert not is_nearly_everywhere(12, [(0, []), (100, [True] * 4 + [False] * 36)])
    assert not is_nearly_everywhere(12, [(5, [])]), "nobody knows"


def test_other_pages_are_those_beside_them_and_all_others() -> None:
    near, far = neighbours(["http://s/", "http://s/shop/a", "http://s/shop/b", "http://s/x/y"], ["http://s/shop/a"])
    assert (near, far) == (["http://s/shop/b"], ["http://s/", "http://s/x/y"])


def test_what_is_kept_can_be_read_again() -> None:
    held = {"http://z.test/1": HeldPage(VERSION, ("could not get comments",), 2)}
    assert known(as_record(held)) == held
    assert (as_record({}), known(None), known({})) == ({}, {}, {})
