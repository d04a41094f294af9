"""The name of a site stands in the title of each of its pages. Another name is one edit of the site."""

import pytest

from crawler.domain.changes.digest import without_template
from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.template_changes import Collapsed, collapse
from tests.unit.noise.pages import blocks

PAGES = {"/": "", "/honey": "Honey", "/bees": "About bees", "/2": "Page 2", "/site": "Our new site", "/map": "Map"}


def titled(title: str) -> PageBlocks:
    return blocks("<p>Words.</p>", title)


def collapsed(titles: dict[str, tuple[str, str]], others: int = 1) -> Collapsed:
    edits = {url: diff_blocks(titled(old), titled(new)) for url, (old, new) in titles.items()}
    return collapse(edits, compared=len(edits) + others)


def renamed(pattern: str, before: str, after: str) -> dict[str, tuple[str, str]]:
    def full(own: str, name: str) -> str:
        return pattern.format(own=own, name=name) if own else name

    return {url: (full(own, before), full(own, after)) for url, own in PAGES.items()}


@pytest.mark.parametrize("pattern", ["{own} | {name}", "{name}: {own}", "{own} – {name} – all about bees"])
@pytest.mark.parametrize(
    ("before", "after"), [("Demo Site", "Bee Blog"), ("The Demo Site", "The Demo Blog"), ("Demo", "Demo of Site 2")]
)
def test_another_name_of_the_site_is_told_once(pattern: str, before: str, after: str) -> None:
    titles = renamed(pattern, before, after)
    found = collapsed(titles)
    (told,) = found.template
    assert (told.pages, told.own_values, told.place) == (len(PAGES), True, "title")
    assert not any(found.left.values())
    for old, new in titles.values():
        assert without_template(diff_blocks(titled(old), titled(new)), [told.as_record()]) == []


def test_a_page_that_has_another_title_as_well_is_told() -> None:
    titles = renamed("{own} | {name}", "Demo Site", "Bee Blog")
    titles["/honey"] = ("Honey | Demo Site", "Wax | Bee Blog")
    found = collapsed(titles)
    (told,) = found.template
    assert told.pages == len(PAGES) - 1
    assert [url for url, left in found.left.items() if left] == ["/honey"]
    edits = diff_blocks(titled("Honey | Demo Site"), titled("Wax | Bee Blog"))
    assert without_template(edits, [told.as_record()]) == list(edits)


def test_titles_with_words_of_their_own_are_told_one_by_one() -> None:
    words = {"/a": "Ants", "/b": "Bees", "/c": "Cats", "/d": "Dogs"}
    assert not collapsed({url: (f"{word} | Site", f"{word} for {word} | Site") for url, word in words.items()}).template


def test_prices_in_titles_are_told_one_by_one() -> None:
    titles = {url: (f"{own} for 2 EUR | Shop", f"{own} from 3 EUR | Shop") for url, own in PAGES.items()}
    assert not collapsed(titles).template


def test_few_pages_with_another_name_are_told_one_by_one() -> None:
    assert not collapsed(renamed("{own} | {name}", "Demo Site", "Bee Blog"), others=30).template


def told_once(titles: dict[str, tuple[str, str]]) -> Collapsed:
    found = collapsed(titles)
    (told,) = found.template
    assert (told.pages, told.place) == (len(titles), "title")
    assert not any(found.left.values())
    for old, new in titles.values():
        assert without_template(diff_blocks(titled(old), titled(new)), [told.as_record()]) == []
    return found


@pytest.mark.parametrize("pattern", ["{own} - {name}", "{name}: {own}", "{own} – {name} – all about bees"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Ferrylib 2.1 documentation", "Ferrylib 2.2 documentation"),
        ("Ferrylib v2.9.1", "Ferrylib v2.10.0"),
        ("Ferrylib version 2.1", "Ferrylib version 2.2"),
        ("Ferrylib 2.1", "Ferrylib 3.0 beta"),
        ("Ferrylib release 2.1", "Ferrylib release 3.0 beta"),
        ("Programme 2026", "Programme 2027"),
    ],
)
def test_another_version_in_the_titles_of_most_pages_is_told_once(pattern: str, before: str, after: str) -> None:
    told_once(renamed(pattern, before, after))


def test_a_page_whose_title_has_another_version_still_or_other_words_is_told() -> None:
    titles = renamed("{own} - {name}", "Ferrylib 2.1 documentation", "Ferrylib 2.2 documentation")
    for title in ("Honey - Ferrylib 2.3 documentation", "Wax - Ferrylib 2.2 documentation"):
        titles["/honey"] = ("Honey - Ferrylib 2.1 documentation", title)
        found = collapsed(titles)
        (told,) = found.template
        assert told.pages == len(PAGES) - 1
        assert [url for url, left in found.left.items() if left] == ["/honey"]
        old, new = titles["/honey"]
        edits = diff_blocks(titled(old), titled(new))
        assert without_template(edits, [told.as_record()]) == list(edits)


def test_versions_of_each_page_are_told_one_by_one() -> None:
    names = ("Ants", "Bees", "Cats", "Dogs")
    own = {f"/{at}": (f"{name} | Lib 1.{at}", f"{name} | Lib 2.{at}") for at, name in enumerate(names)}
    assert not collapsed(own).template
    beside = {f"/{at}": (f"{name} 2.1 | Site", f"{name} 2.2 | Site") for at, name in enumerate(names)}
    assert not collapsed(beside).template, "the value is that of the name before it"


@pytest.mark.parametrize("shape", ["{} | now {} EUR", "{} – {} % off", "{} | price: {}", "{} for ${} | Shop"])
def test_equal_prices_in_titles_are_told_one_by_one(shape: str) -> None:
    titles = {url: (shape.format(own, 2), shape.format(own, 3)) for url, own in PAGES.items() if own}
    assert not collapsed(titles).template


def test_few_pages_with_another_version_are_told_one_by_one() -> None:
    assert not collapsed(renamed("{own} | {name}", "Ferrylib 2.1", "Ferrylib 2.2"), others=30).template
