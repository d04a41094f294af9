from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.new_walls import WallText, as_record, is_a_wall, only_walls, without_new
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.diffs.replaced_text import replaced_text, said_lines

FRAME = (
    "<nav><ul><li>Boats</li><li>Piers</li></ul></nav>{}<footer><p>The harbour office is at the north pier.</p></footer>"
)
ASKS = "<h1>Members only</h1><p>To read about {} you have to sign in.</p><p>Ask the office for a key.</p>"


def read(title: str, body: str) -> PageBlocks:
    html = f"<html><head><title>{title}</title></head><body>{FRAME.format(body)}</body></html>"
    return read_blocks(html.encode())


def wall(name: str) -> PageBlocks:
    return read("Members only - Harbour", ASKS.format(name))


def behind(path: str, name: str) -> WallText:
    old = read(f"{name} - Harbour", f"<p>All about the {name} and its crew.</p>")
    return WallText(said_lines(wall(name), f"http://e.org/{path}"), replaced_text(old, wall(name)).sides[1].words)


WALLS = [behind("boats/heron", "heron"), behind("boats/osprey", "osprey")]


def test_a_page_that_only_says_what_the_wall_says_is_one() -> None:
    assert is_a_wall(wall("#7"), "http://e.org/", WALLS)
    assert is_a_wall(wall("welcome"), "http://e.org/welcome", WALLS), "also if it names the page that was asked for"
    assert is_a_wall(wall("10:45"), "http://e.org/", WALLS), "or a time"


def test_a_page_that_says_more_or_something_else_is_new() -> None:
    more = read(
        "Members only - Harbour", ASKS.format("heron") + "<p>The summer party is on Saturday at the old pier.</p>"
    )
    assert not is_a_wall(more, "http://e.org/x", WALLS)
    other = read("Crews", "<h1>Crews</h1><p>Who sails with whom.</p>")
    assert not is_a_wall(other, "http://e.org/crews", WALLS), "though most of its lines are the frame of the site"
    assert not is_a_wall(read("Boats", ""), "http://e.org/x", WALLS), "it does not say what the wall says"
    assert not is_a_wall(wall("heron"), "http://e.org/x", [])


def test_such_pages_are_neither_new_nor_forgotten() -> None:
    changes = without_new(Changes(("/", "/new"), (), (), ("/a",), ("/b",)), {"/"})
    assert (changes.new, changes.not_compared) == (("/new",), ("/", "/b"))
    assert only_walls(as_record({"/"})) == {"/"}
    assert only_walls(None) == only_walls({}) == frozenset()
