"""An error in place of a page: under the name of the site alone, or where the page was gone already."""

import pytest

from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.diffs.walls import Wall, is_walled, wall_between

MENU = "<ul><li><a href=/boats>Boats</a></li><li><a href=/piers>Piers</a></li></ul>"


def blocks(html: str) -> PageBlocks:
    """In the frame of the site."""
    return read_blocks((html + MENU).encode(), "text/html; charset=utf-8")


TEXT = (
    "<p>Two of our pilots keep the northern channel free of ice, from the first frost until the ferries run again.</p>"
)
PAGE = blocks(f"<title>Pilots – Harbour</title><h1>Pilots</h1>{TEXT}<p>Call them at 1000 at any hour.</p>")
ERROR = "<h1>Oh no</h1><p>Something went wrong. Try again later.</p>"
GONE = blocks("<title>Harbour</title><h1>Page not found</h1>")


def test_an_error_under_the_name_of_the_site_alone_is_a_wall() -> None:
    error = blocks(f"<title>Harbour</title>{ERROR}")
    assert wall_between(PAGE, error) is Wall.ERROR
    assert is_walled(error, PAGE)
    assert wall_between(error, PAGE) is Wall.ERROR
    assert not is_walled(PAGE, error)


@pytest.mark.parametrize(
    "edited",
    [
        f"<title>Pilots – Harbour</title>{ERROR}",
        f"<title>Harbour</title><h1>Pilots</h1>{TEXT}<p>The phone is temporarily unavailable.</p>",
        "<title>Harbour</title><h1>Pilots</h1><p>All of them work elsewhere now, and nobody follows them.</p>",
    ],
)
def test_what_keeps_its_title_or_its_text_or_speaks_of_no_error_is_the_page(edited: str) -> None:
    assert wall_between(PAGE, blocks(edited)) is None


@pytest.mark.parametrize("what", [ERROR, "<p>Loading…</p>"])
def test_an_error_or_nothing_after_the_end_of_a_page_is_no_return(what: str) -> None:
    error = read_blocks(f"<title>Harbour</title>{what}".encode())
    assert wall_between(GONE, error) in (Wall.ERROR, Wall.EMPTY)
    assert is_walled(error, GONE)


def test_an_end_after_an_error_or_another_end_and_a_real_return_are_told() -> None:
    short = blocks("<title>Harbour</title><p>The ferry is temporarily unavailable.</p>")
    assert wall_between(short, GONE) is None
    assert (
        wall_between(GONE, blocks("<title>Harbour</title><h1>404</h1><p>Page not found, try again later</p>")) is None
    )
    assert wall_between(GONE, PAGE) is None
