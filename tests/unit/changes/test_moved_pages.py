"""Moves are found by what pages say without noise."""

from datetime import UTC, datetime

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.moved_pages import MOST_PAGES, Candidate, find_moves, may_have_moved, with_moves
from crawler.domain.changes.removals import LostPage, Move, Removal
from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.page_noise import NO_RULES
from crawler.domain.noise.page_pairs import PageOfCrawl, PageSide
from crawler.domain.noise.rules import RuleSet

FIRST, SECOND = datetime(2026, 11, 15, tzinfo=UTC), datetime(2026, 11, 22, tzinfo=UTC)
MENU = "<ul><li>Home</li><li>Shop</li><li>Contact</li></ul>"


def candidate(name: str, at: datetime, body: str, title: str = "About us") -> Candidate:
    content = f"<html><head><title>{title}</title></head><body>{MENU}{body}</body></html>".encode()
    return Candidate(PageOfCrawl(f"https://e.org/{name}", PageSide(content, "text/html", at)), read_blocks(content))


def page(name: str, at: datetime, about: str = "bicycles", noise: str = "") -> Candidate:
    words = f"<h1>All about {about}</h1><p>We have built {about} for years.</p><p>Ask us for {about}.</p>"
    return candidate(name, at, words + noise, f"About {about}")


def moves(old: list[Candidate], new: list[Candidate], template: tuple[dict[str, object], ...] = ()) -> list[Move]:
    return find_moves(old, new, NO_RULES, template)


def test_noise_on_both_does_not_hide_that_two_pages_are_one() -> None:
    old = page("a", FIRST, noise="<p>Viewed 1,204 times</p><p>Edited 2 days ago</p>")
    new = page("b", SECOND, noise="<p>Viewed 1,377 times</p><p>Edited 9 days ago</p>")
    assert moves([old], [new]) == [Move("https://e.org/a", "https://e.org/b")]


def test_a_page_that_says_something_else_too_did_not_move() -> None:
    assert moves([page("a", FIRST)], [page("b", SECOND, noise="<p>Now with brakes</p>")]) == []
    assert moves([page("a", FIRST, noise="<p>Costs 5</p>")], [page("b", SECOND, noise="<p>Costs 7</p>")]) == []


def test_an_edit_of_the_template_does_not_hide_a_move() -> None:
    old, new = page("a", FIRST, noise="<p>Shop</p>"), page("b", SECOND, noise="<p>Store</p>")
    assert moves([old], [new]) == []
    assert len(moves([old], [new], ({"removed": "Shop", "added": "Store"},))) == 1


def test_what_fits_two_pages_is_no_move() -> None:
    assert moves([page("a", FIRST)], [page("b", SECOND), page("c", SECOND)]) == []
    assert moves([page("a", FIRST), page("x", FIRST)], [page("b", SECOND)]) == []


def test_pages_that_share_only_their_frame_are_not_paired() -> None:
    old = [candidate(str(n), FIRST, "", "Shop") for n in range(3)]
    new = [candidate(f"n{n}", SECOND, "", "Shop") for n in range(3)]
    assert moves(old, new) == []


def test_each_of_many_finds_its_own() -> None:
    names = ("bicycles", "skates", "boats", "kites")
    old, new = ([page(f"{side}/{name}", at, name) for name in names] for side, at in (("old", FIRST), ("new", SECOND)))
    found = moves(old, new)
    assert found == [Move(f"https://e.org/old/{name}", f"https://e.org/new/{name}") for name in names]


def test_a_move_is_neither_new_nor_removed() -> None:
    lost = (LostPage("/a", b"1", Removal.GONE), LostPage("/x", b"2", Removal.ALIVE))
    changes = Changes(("/b", "/c"), ("/a",), (), (), ("/x",), lost=lost)
    assert may_have_moved(changes) == (["/a"], ["/b", "/c"])
    found = with_moves(changes, [Move("/a", "/b")])
    assert (found.new, found.removed, found.moved) == (("/c",), (), (Move("/a", "/b"),))
    assert [page.url for page in found.lost] == ["/x"]


def test_too_many_pages_are_not_read_again() -> None:
    many = tuple(LostPage(f"/{n}", None, Removal.GONE) for n in range(MOST_PAGES + 1))
    assert may_have_moved(Changes(("/b",), (), (), (), (), lost=many)) == ([], [])
    assert may_have_moved(Changes((), (), (), (), (), lost=many[:1])) == ([], [])
    assert RuleSet.of([]) == NO_RULES
