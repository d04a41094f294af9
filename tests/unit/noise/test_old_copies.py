"""An edit with old copies of the page beside it for a while is no noise, and later edits there are told, too."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.domain.noise.clocks import Moments
from crawler.domain.noise.learned_rule import LearnedRule
from crawler.domain.noise.learning import learn
from crawler.domain.noise.second_looks import TwoLooks
from tests.unit.noise.pages import blocks

BEGAN = datetime(2026, 11, 18, 9, tzinfo=UTC)
LINES = [
    "<main><p class='price'>£{}</p></main>",
    "<main><p>Delivery costs {} pounds</p></main>",
    "<main><p>Open on {} from nine</p></main>",
    "<main><p class='news'>{}</p></main>",
    "<main><ul class='list'>{}</ul></main>",
    "<footer class='foot'><p>Call 0555 {} or write</p></footer>",
]
EDITS = [
    ("12.00", "14.00"), ("4", "5"), ("Monday", "Tuesday"), ("The bridge is closed", "All lanes are open"),
    ("<li>one</li><li>two</li>", "<li>two</li><li>one</li>"), ("1200", "3400"),
]  # fmt: skip


def four(line: str, *texts: str, hours: float = 24, page: str = "1") -> list[TwoLooks]:
    """A page in two crawls that both looked at it twice, so many hours apart."""
    one, two, three, last = (blocks(line.format(text)) for text in texts)
    at = BEGAN + timedelta(hours=hours)
    return [
        TwoLooks("site/{name}", one, two, after=three, moments=Moments(BEGAN, BEGAN), page=page),
        TwoLooks("site/{name}", three, last, before=one, moments=Moments(at, at), page=page),
    ]


def learned(line: str, *orders: str, old: str, new: str, hours: float = 24) -> list[LearnedRule]:
    """`orders`: which copy each look got, of as many pages: o for the old, n for the new one."""
    copies = {"o": old, "n": new}
    pages = [four(line, *(copies[one] for one in order), hours=hours, page=str(n)) for n, order in enumerate(orders)]
    return learn(look for looks in pages for look in looks)


@pytest.mark.parametrize(("line", "edit"), list(zip(LINES, EDITS, strict=True)))
def test_an_edit_that_goes_to_and_fro_between_two_looks_is_learned_nowhere(line: str, edit: tuple[str, str]) -> None:
    old, new = edit
    assert learned(line, "oono", "oono", "oonn", "ooon", old=old, new=new) == []


@pytest.mark.parametrize(("line", "edit"), list(zip(LINES, EDITS, strict=True)))
def test_nor_is_one_that_still_does_so_in_the_next_crawl(line: str, edit: tuple[str, str]) -> None:
    old, new = edit
    assert learned(line, "nono", "onno", "onon", old=old, new=new, hours=3) == []


@pytest.mark.parametrize(("line", "edit"), list(zip(LINES[:3], EDITS[:3], strict=True)))
def test_two_values_alone_are_no_evidence_however_long_they_take_turns(line: str, edit: tuple[str, str]) -> None:
    old, new = edit
    assert learned(line, "onno", "onno", "onno", old=old, new=new, hours=48) == []


def test_a_clock_at_the_same_place_teaches_nothing_about_a_line_that_was_edited() -> None:
    line = "<main><p>Made at {}</p><p>Our hotline is {} now</p></main>"
    pages = []
    for page in range(4):
        texts = [line.replace("{}", f"77a{page}c{look}d", 1) for look in range(3)]
        first, second, before = (
            blocks(text.format(number)) for text, number in zip(texts, (3400, 1200, 1200), strict=True)
        )
        pages.append(TwoLooks("site/{name}", first, second, before, page=str(page)))
    assert {rule.line for rule in learn(pages)} == {"Made at #"}


def test_two_texts_that_take_turns_from_day_to_day_are_learned() -> None:
    assert learned("<main><p class='box'>{}</p></main>", "onno", old="Buy apples", new="Eat more pears")


def test_so_are_two_texts_of_which_some_pages_had_the_one_first_and_others_the_other() -> None:
    line = "<main><p class='box'>{}</p></main>"
    assert learned(line, "oono", "oono", "nnon", "nnon", old="Buy apples", new="Eat more pears", hours=1)
    assert not learned(line, "oono", "oono", "oono", "oono", old="Buy apples", new="Eat more pears", hours=1)


def test_a_place_that_comes_and_goes_with_all_of_the_page_is_not_learned() -> None:
    recalled = "<title>Recall</title><main><h1>Recall</h1><p>Bring it back.</p></main>"
    product = "<title>Kettle</title><main><p class='price'>£12.00</p><p>It boils water.</p></main>"
    menu = "<ul><li>Home</li></ul>{}"
    assert not [rule for rule in learned(menu, "onno", old=product, new=recalled) if rule.place == "p.price"]
