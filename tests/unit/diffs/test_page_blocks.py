import pytest

from crawler.domain.diffs.page_blocks import Block, read_blocks
from tests.unit.noise.pages import blocks


def placed(body: str) -> list[Block]:
    page = blocks(body)
    return [page.block(at) for at in range(2, len(page) - 1)]


def test_a_line_is_the_text_of_a_block_with_its_inline_parts() -> None:
    assert placed("<p>One <b>two</b> <a href='/x'>three</a></p>") == [Block("p", "One two three")]


def test_a_place_begins_at_the_nearest_class_or_id() -> None:
    assert placed("<main><div class='b a'><ul><li>x</li></ul></div></main>") == [Block("div.a.b>ul>li", "x")]
    assert placed("<main id='content'><p>x</p></main>") == [Block("main#content>p", "x")]
    assert placed("loose words") == [Block("body", "loose words")]


@pytest.mark.parametrize("name", ["card_x7f3a2", "card--9bc12", "card__a1B2c"])
def test_a_place_survives_what_a_release_appends_to_classes(name: str) -> None:
    assert placed(f"<div class='{name}'>x</div>") == [Block("div.card", "x")]


@pytest.mark.parametrize("name", ["card-2", "card-wide", "block__element", "col-md-6"])
def test_classes_of_people_are_kept_whole(name: str) -> None:
    assert placed(f"<div class='{name}'>x</div>") == [Block(f"div.{name}", "x")]


def test_title_and_description_are_blocks_of_their_own() -> None:
    page = read_blocks(b"<title>T</title><meta name='description' content='D'><p>x</p>")
    assert [page.block(at) for at in range(3)] == [Block("title", "T"), Block("description", "D"), Block("p", "x")]


def test_what_a_selector_names_is_left_out_also_when_it_is_nested() -> None:
    page = blocks("<div class='ad'><div class='ad'>buy</div> now</div><p>text</p>", removed=(".ad",))
    assert page.lines[2] == "text"


def test_a_selector_for_everything_leaves_the_page_standing() -> None:
    assert blocks("<p>x</p>", removed=("body", "*")).lines[:2] == ["A page", ""]


def test_each_line_of_preformatted_text_is_a_block() -> None:
    assert [block.text for block in placed("<pre>one\n  two\n\n</pre>")] == ["one", "two"]


def test_a_span_that_stands_for_a_box_is_one_and_one_in_a_line_is_not() -> None:
    boxes = "<div class='bar'><span class='tip'>Hint</span> <span class='clock'>12:30</span></div>"
    assert placed(boxes) == [Block("span.tip", "Hint"), Block("span.clock", "12:30")]
    assert placed("<p>One <span class='tip'>hint</span></p>") == [Block("p", "One hint")]
    assert placed("<p><span class='tip'>hint</span></p>") == [Block("p", "hint")]
    assert placed("<ul><li><span class='tip'>hint</span></li></ul>") == [Block("ul>li", "hint")]
    assert placed("<ul><li><span class='tip'>x</span><p>y</p></li></ul>") == [
        Block("span.tip", "x"),
        Block("ul>li>p", "y"),
    ]
    assert placed("<div>Some <span class='tip'>hint</span></div>") == [Block("div", "Some hint")]
