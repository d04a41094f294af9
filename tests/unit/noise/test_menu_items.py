"""A menu marks where one is by classes of its entries. The same entry edited on all pages is one edit nevertheless."""

import pytest

from crawler.domain.diffs.block_diff import diff_blocks
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.noise.template_changes import Collapsed, collapse
from tests.unit.noise.pages import blocks

SECTIONS = {
    "/": "",
    **{f"/{name}": name for name in ("wards", "eyes", "teeth", "visitors", "parking", "staff", "news")},
}


def menu(current: str, names: dict[str, str]) -> str:
    def state(section: str) -> str:
        return "child selected" if section == current else "child sibling" if current in ("eyes", "teeth") else "child"

    return "".join(
        f"<li class='{state(section)}'><a href=/{section}>{name}</a></li>" for section, name in names.items()
    )


def page(current: str, names: dict[str, str], body: str = "") -> PageBlocks:
    return blocks(f"<ul>{menu(current, names)}</ul>{body}")


OLD = {"wards": "Wards", "eyes": "Eyes", "hours": "Hours", "news": "News"}


def collapsed(names: dict[str, str], own: dict[str, tuple[str, str]] | None = None) -> Collapsed:
    edits = {}
    for url, section in SECTIONS.items():
        before, after = (own or {}).get(url, ("", ""))
        edits[url] = diff_blocks(page(section, OLD, before), page(section, names, after))
    return collapse(edits, compared=len(edits) + 2)


@pytest.mark.parametrize(
    "names",
    [
        {**OLD, "hours": "Visiting hours"},
        {name: text for name, text in OLD.items() if name != "hours"},
        {**OLD, "pharmacy": "Pharmacy"},
    ],
    ids=["renamed", "removed", "added"],
)
def test_an_entry_of_the_menu_is_told_once_for_all_pages(names: dict[str, str]) -> None:
    found = collapsed(names)
    assert {url for url, left in found.left.items() if left} == set()
    assert [change.pages for change in found.template] == [len(SECTIONS)]


def test_an_entry_of_another_list_that_says_the_same_is_the_pages_own() -> None:
    found = collapsed({**OLD, "pharmacy": "Pharmacy"}, {"/wards": ("", "<ol><li class=ward>Pharmacy</li></ol>")})
    assert [url for url, left in found.left.items() if left] == ["/wards"]
