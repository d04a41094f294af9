"""Documents in attributes of inline frames are read where they are shown."""

import gc
from html import escape

import pytest

from crawler.domain.markdown.page import markdown_of
from crawler.domain.pages.calm_markup import is_calm
from crawler.domain.pages.parsing import parse_page

LETTER = "<!doctype html><title>Letter</title><h2>Dear all</h2><p>The fee is <b>12</b> euros.</p><a href=/pay>Pay</a>"


def framed(document: str, attributes: str = "") -> bytes:
    return f'<body><p>One letter:</p><iframe {attributes} srcdoc="{escape(document)}"></iframe><p>The end</p>'.encode()


def test_what_stands_in_a_frame_is_a_part_of_the_page() -> None:
    page = parse_page(framed(LETTER), url="http://h.test/")
    assert page.text.split("\n") == ["One letter:", "Dear all", "The fee is 12 euros.", "Pay", "The end"]
    assert [link.url for link in page.links] == ["/pay"]
    assert page.title is None
    assert "## Dear all" in markdown_of(framed(LETTER), "text/html", "http://h.test/", None)
    edited = parse_page(framed(LETTER.replace("12", "13")), url="http://h.test/")
    assert edited.content_hash != page.content_hash


def test_frames_in_frames_are_read_to_some_depth() -> None:
    document = "<p>deepest"
    for depth in range(4):
        document = framed(document).decode().replace("One letter", f"Level {depth}")
    text = parse_page(document.encode(), url="http://h.test/").text
    assert "Level 0" in text
    assert "deepest" in text
    deeper = framed(framed(document).decode())
    assert "deepest" not in parse_page(deeper, url="http://h.test/").text


@pytest.mark.parametrize("attributes", ["hidden", "width=1", "style='display: none'"])
def test_frames_that_nobody_sees_say_nothing(attributes: str) -> None:
    assert parse_page(framed(LETTER, attributes), url="http://h.test/").text == "One letter:\nThe end"


@pytest.mark.parametrize("document", ["", "<frameset><frame src=/a></frameset>", "&lt;p&gt;", "\ud800<p>", "<!--"])
def test_odd_documents_hurt_nobody(document: str) -> None:
    page = f'<p>Before<iframe srcdoc="{escape(document)}"></iframe><p>After'.encode("utf-8", "surrogatepass")
    text = parse_page(page, url="http://h.test/").text
    assert text.startswith("Before")
    assert text.endswith("After")


def test_a_document_that_is_built_to_hurt_a_parser_stays_out() -> None:
    bomb = "<div>" * 20_000 + "deep"
    assert parse_page(framed(bomb), url="http://h.test/").text == "One letter:\nThe end"
    assert not is_calm(framed("<p>x</p>" * 5000)), "it is read in a process that can be ended"


def test_many_frames_are_read_and_no_node_of_theirs_is_left_behind() -> None:
    for _ in range(20):
        markup = b"".join(framed(LETTER.replace("12", str(number))) for number in range(110))
        text = parse_page(markup, url="http://h.test/").text
        gc.collect()
    assert "The fee is 99 euros." in text
    assert "The fee is 105 euros." not in text, "no more than a hundred"
