"""A text that some requests get in place of a page, and others not, is a wall; an edit that goes to and fro is none."""

import pytest

from crawler.domain.changes.passing_walls import (
    Texts,
    as_record,
    known,
    seen_passing,
    still_passing,
    together,
    with_passing_walls,
)
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage, apply_noise_rules
from tests.unit.changes.test_shared_walls import article, document

ASKED = "<h1>Tu privacidad</h1><p>Guardamos datos en tu equipo para mejorar el sitio y medir visitas.</p><p>Acepto</p>"


def asked(framed: bool) -> PageBlocks:
    return document("Tu privacidad", ASKED, framed=framed)


def looks(came: str, went: str, framed: bool, other: PageBlocks | None = None) -> dict[str, FilteredPage]:
    """By name the two looks at each page: the text came in place of some, and went from others."""
    text = other or asked(framed)
    first = {name: apply_noise_rules(article(name, framed=framed), text) for name in came.split()}
    return first | {name: apply_noise_rules(text, article(name, framed=framed)) for name in went.split()}


def learned(framed: bool) -> Texts:
    return seen_passing([{}, looks("oak elm", "ash fir", framed)], looks("lime", "plum", framed))


@pytest.mark.parametrize("framed", [False, True])
def test_a_text_that_comes_and_goes_between_two_looks_is_a_wall_wherever_it_stands(framed: bool) -> None:
    pages = looks("pine", "pear", framed)
    found = with_passing_walls(pages, learned(framed))
    assert {name: (page.wall, page.passed) for name, page in found.items()} == {
        "pine": (Wall.SAME, False),
        "pear": (Wall.SAME, True),
    }
    assert with_passing_walls(pages, ()) == pages, "by itself it is told"


def test_it_is_known_from_crawl_to_crawl() -> None:
    texts = learned(framed=True)
    assert known(as_record(texts)) == texts
    assert known({}) == () == known(None)
    assert together(texts, learned(framed=True)) == texts
    other = document("Avis", "<p>Le magasin ferme ses portes plus tôt cette semaine, voyez nos horaires.</p>")
    more = seen_passing(
        [{}, looks("oak elm", "ash", framed=True, other=other)], looks("", "fir", framed=True, other=other)
    )
    assert len(together(texts, more)) == 2


@pytest.mark.parametrize(
    ("before", "now", "pages"),
    [
        ("", "oak elm ash fir", ("lime", "plum")),  # it came in place of all: somebody took these pages away
        ("oak elm ash fir", "", ("lime", "plum")),
        ("oak", "elm", ("lime", "plum")),  # two pages are few
        ("oak elm", "ash fir", ("lime pine", "")),  # nobody saw it before: it may be new, with old copies beside it
    ],
)
def test_what_may_be_an_edit_is_none(before: str, now: str, pages: tuple[str, str]) -> None:
    assert seen_passing([{}, looks(now, before, framed=True)], looks(*pages, framed=True)) == ()


def test_a_part_of_a_page_that_comes_and_goes_is_no_wall() -> None:
    banner = "<p>Guardamos datos en tu equipo para mejorar el sitio y medir visitas.</p>"
    with_it = {name: apply_noise_rules(article(name), article(name, banner)) for name in ("oak", "elm")}
    without = {name: apply_noise_rules(article(name, banner), article(name)) for name in ("ash", "fir")}
    assert seen_passing([{}, with_it | without], with_it | without) == ()
    found = with_passing_walls(with_it | without, learned(framed=True))
    assert {page.wall for page in found.values()} == {None}


def test_a_page_that_says_more_than_the_text_is_a_page() -> None:
    more = document("Tu privacidad", ASKED + "<p>The oak was cut down in the storm of last week, sadly.</p>")
    page = apply_noise_rules(article("oak"), more)
    assert with_passing_walls({"oak": page}, learned(framed=True))["oak"].wall is None


def test_a_text_that_stays_where_pages_are_looked_at_twice_passes_no_more() -> None:
    texts, pages = learned(framed=True), looks("pine pear lime", "", framed=True)
    same = dict.fromkeys(pages, FilteredPage((), ()))
    assert still_passing(texts, same, pages) == ()
    assert still_passing(texts, {name: same[name] for name in ("pine", "pear")}, pages) == texts, "two are few"
    assert still_passing(texts, same | looks("", "oak", framed=True), pages) == texts


def test_a_line_that_ticks_between_two_looks_is_no_text_that_comes_and_goes() -> None:
    """Lists of posts with hardly a word of their own, whose only difference is how long ago the last one came."""

    def posts(name: str, minutes: int, left: str = "3 left") -> PageBlocks:
        age = f"Posted by admin in News 5 hours, {minutes} minutes ago"
        return document(name, f"<h4>{age}</h4><p>Bring a meadow, and a coat for the evening.</p><p>{left}</p>")

    def looked(first: int, second: int, left: str = "3 left") -> dict[str, FilteredPage]:
        return {
            name: apply_noise_rules(posts(name, first), posts(name, second, left)) for name in ("Blog", "News", "Tips")
        }

    texts = seen_passing([looked(17, 18), looked(20, 21)], looked(17, 20))
    pages = looked(17, 20, "Sold out")
    assert {page.wall for page in with_passing_walls(pages, texts).values()} == {None}
    assert texts == ()
