"""Pages under several addresses: which of them are one, and under which address they are told."""

from array import array

from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.gone_pages import with_errors_of_the_site, without_gone
from crawler.domain.changes.removals import Move
from crawler.domain.changes.several_addresses import (
    MOST_COPIES,
    Address,
    best_address,
    find_copies,
    merged,
    same_addresses,
    to_read_again,
    told_once,
)
from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.page_blocks import Block
from crawler.domain.diffs.replaced_text import OwnLines, Replaced
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage


def edited(*texts: str, whole: str = "", place: str = "p") -> FilteredPage:
    edits = tuple(BlockEdit(Block(place, f"not {text}"), Block(place, text)) for text in texts)
    sides = (OwnLines(f"old {whole}".encode()), OwnLines(f"new {whole}".encode()))
    return FilteredPage(edits, (), texts=Replaced(sides, array("q")) if whole else None)


def changes(*changed: str, new: tuple[str, ...] = (), unchanged: tuple[str, ...] = ()) -> Changes:
    return Changes(new, (), changed, unchanged, ())


def test_the_same_text_before_and_now_is_one_page_told_under_the_shortest_address() -> None:
    pages = {"/index.x": edited("a", whole="1"), "/": edited("a", whole="1"), "/b": edited("a", whole="2")}
    assert find_copies(pages, {}, str) == {"/": ("/index.x",)}


def test_one_canonical_address_and_one_edit_are_one_page() -> None:
    pages = {"/p": edited("a"), "/a/long/address": edited("a", place="div"), "/q": edited("a")}
    own = {"/p": "/a/long/address", "/a/long/address": "/a/long/address"}
    assert find_copies(pages, own, str) == {"/a/long/address": ("/p",)}


def test_one_canonical_address_does_not_hide_another_edit() -> None:
    """Sizes of a product often name one canonical address."""
    own = {"/p?size=1": "/p", "/p?size=2": "/p"}
    pages = {"/p?size=1": edited("costs 5"), "/p?size=2": edited("costs 6")}
    assert find_copies(pages, own, str) == {}
    with_own = {**pages, "/p": edited("costs 5", "more")}
    assert find_copies(with_own, {**own, "/p": "/p"}, str) == {"/p": ("/p?size=1",)}


def test_what_may_be_a_copy_but_for_noise_is_read_again_unless_many_have_the_edit() -> None:
    few = {f"/{n}": edited("a", whole=str(n)) for n in range(2)}
    many = {f"/t{n}": edited("t", whole=f"t{n}") for n in range(MOST_COPIES + 1)}
    assert to_read_again({**few, **many}, {}) == [["/0", "/1"]]
    assert merged({"/0": ("/9",)}, [["/0", "/1"]], {}, str) == {"/0": ("/1", "/9")}


def test_what_may_be_a_copy_but_for_an_age_in_its_edit_is_read_again_too() -> None:
    """Each address was fetched some seconds after the other."""
    copies = {f"/{n}": edited(f"anna, {n} seconds ago") for n in range(3)}
    assert to_read_again({**copies, "/other": edited("bert, 3 seconds ago")}, {}) == [["/0", "/1", "/2"]]
    exactly = {f"/same{n}": edited("anna, 9 seconds ago") for n in range(2)}
    assert to_read_again({**copies, **exactly}, {}) == [["/same0", "/same1"], ["/0", "/1", "/2", "/same0"]]


def test_walls_and_quiet_pages_are_no_copies() -> None:
    wall = edited(whole="1")._replace(wall=Wall.ERROR)
    assert find_copies({"/a": wall, "/b": wall, "/c": edited(whole="1"), "/d": edited(whole="1")}, {}, str) == {}


def test_new_addresses_of_a_known_page_are_not_new() -> None:
    known = [Address("/p", "/p", b"1")]
    new = [Address("/print", "/p", b"1"), Address("/other", "/p", b"2"), Address("/x", None, b"1")]
    also = same_addresses(new, known, str)
    assert also == {"/p": ("/print",)}
    assert told_once(changes(new=("/other", "/print", "/x")), also).new == ("/other", "/x")


def test_many_new_pages_are_looked_up_and_not_searched_for() -> None:
    class Counted(Address):
        read = 0

        @property
        def url(self) -> str:
            Counted.read += 1
            return self[0]

    pages = [Counted(f"/{n}", f"/{n}", b"%d" % n) for n in range(300)]
    assert same_addresses(pages, [], str) == {}
    assert Counted.read < 20 * len(pages)


def test_the_canonical_address_is_the_best() -> None:
    assert best_address(["/a", "/bcd"], {"/a": "/bcd", "/bcd": "/bcd"}, str) == "/bcd"
    assert best_address(["/abc", "/b", "/a"], {}, str) == "/a"


def test_a_page_that_leads_to_a_new_one_moved() -> None:
    leads = FilteredPage((), (), leads_to="/new")
    found, rest = without_gone(changes("/old", "/other", new=("/new",)), {"/old": leads, "/other": edited("a")})
    assert found.moved == (Move("/old", "/new"),)
    assert (found.new, found.changed, list(rest)) == ((), ("/other",), ["/other"])
    two, _ = without_gone(changes("/a", "/b", new=("/new",)), {"/a": leads, "/b": leads})
    assert (two.moved, two.removed, two.new) == ((), ("/a", "/b"), ("/new",)), "two pages did not become one"


def test_most_of_a_site_is_not_gone_at_once() -> None:
    gone, back = FilteredPage((), (), gone=True), edited("a")._replace(returned=True)
    for page, passed in ((gone, False), (back, True)):
        pages = {f"/{n}": page for n in range(3)}
        marked = with_errors_of_the_site(pages, compared=6)
        assert {(one.wall, one.passed) for one in marked.values()} == {(Wall.ERROR, passed)}
        assert with_errors_of_the_site(pages, compared=7) == pages
