"""What browsers read as XML is read as XML means it."""

from time import process_time

import pytest

from crawler.domain.pages.files import FileKind, any_page, kind_of
from crawler.domain.pages.parsing import parse_page
from crawler.domain.pages.xml_markup import MOST_CHANGES, as_html

XHTML = "application/xhtml+xml; charset=utf-8"


def text(body: str, content_type: str = XHTML, head: str = "") -> str:
    page = f"<?xml version='1.0'?><html><head><title>T</title>{head}</head><body><p>One.</p>{body}<p>Fee: 40</p></body>"
    return parse_page(f"{page}</html>".encode(), url="http://h.test/", content_type=content_type).text


@pytest.mark.parametrize(
    "body",
    ["<script src='a.js'/>", "<iframe src='x'/>", "<textarea name='t' />", "<div class='a/b'/>", "<TITLE/>",
     '<a title="1 &gt; 2/"/>', "<!-- <script/> -->", "<br/><hr />", "<noframes\n/>", "<svg:g/>"],
)  # fmt: skip
def test_an_element_may_end_where_it_begins(body: str) -> None:
    assert text(body) == "One.\nFee: 40"


def test_that_holds_in_the_head_too_and_not_for_html() -> None:
    assert text("", head="<script src='a.js'/><style/>") == "One.\nFee: 40"
    assert text("<script src='a.js'/>", "text/html") == "One."


def test_sections_are_text() -> None:
    assert text("<p><![CDATA[a < b && <i>c</i>]]></p>") == "One.\na < b && <i>c</i>\nFee: 40"
    assert text("<p><![CDATA[\xff]]></p>") == "One.\n\xff\nFee: 40"


def test_what_is_no_xml_after_all_is_left_as_it_is() -> None:
    odd = (b"<a <b/>", b"<!-- open <script/>", b"<![CDATA[ open <p/>", b"</p/>", b"<", b"< /")
    for markup in odd:
        assert as_html(markup) in {markup, markup.replace(b"<b/>", b"<b></b>")}


@pytest.mark.parametrize(
    "piece",
    [b"<a ", b"<a '", b'<a "x', b"<!--", b"<![CDATA[", b"<a/", b"<a / ", b"<a/>", b"<", b"<p>", b"<![CDATA[]]>",
     b"<!---->"],
)  # fmt: skip
def test_no_markup_is_looked_at_for_long(piece: bytes) -> None:
    """It is done where pages are fetched."""
    started = process_time()
    as_html(b"<a/>" + piece * (5_000_000 // len(piece)) + b"x")
    assert process_time() - started < 1.5


def test_what_is_open_at_the_end_stays_so() -> None:
    for end in (b"<!-- a", b"<![CDATA[ a", b"<a ", b"<!-- a -->", b"]]>", b"-->"):
        assert as_html(b"<p/>" + end) == b"<p></p>" + end
    assert as_html(b"<p/><![CDATA[a<b]]>") == b"<p></p>a&lt;b"


def test_behind_very_many_it_is_left_as_it_is() -> None:
    found = as_html(b"<p/>" * (MOST_CHANGES + 3))
    assert found == b"<p></p>" * MOST_CHANGES + b"<p/>" * 3


def test_a_drawing_is_compared_by_what_stands_in_it() -> None:
    def drawing(fee: int) -> bytes:
        return f"<svg xmlns='http://www.w3.org/2000/svg'><text y='20'>The fee is {fee} EUR</text></svg>".encode()

    assert kind_of("image/svg+xml", drawing(40)) is FileKind.XML
    assert kind_of("image/png", b"\x89PNG") is FileKind.BYTES
    pages = [any_page(drawing(fee), "image/svg+xml", "http://h.test/a.svg", {}, {}) for fee in (40, 45)]
    assert "The fee is 40 EUR" in pages[0].text
    assert pages[0].content_hash != pages[1].content_hash
