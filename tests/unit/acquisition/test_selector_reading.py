"""What selectors read from a page, what they are refused for, and what markup of strangers cannot do to them."""

import io
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pypdf import PdfWriter

from crawler.domain.acquisition.page_fields import PageFields
from crawler.domain.acquisition.selector_reading import MAX_OF_FIELDS, MAX_VALUE, MAX_VALUES, extract_fields
from crawler.domain.acquisition.selector_syntax import check_selectors
from crawler.domain.acquisition.selectors import DEFAULT, InvalidSelector, read_selectors
from crawler.domain.pages.element_text import normalised
from crawler.domain.pages.markup_bombs import UnparsablePage
from tests.unit.pages.pdfs import pdf_of

PAGE = """<!doctype html><html lang="de"><head><title>Hotel Adler</title><script>var a = "<b>";</script></head><body>
<nav>Menu <a href="/">Home</a></nav>
<main><h1>Hotel  Adler</h1><p>Ruhige <b>Zimmer</b> mit Blick.</p><p class=ad>Kauf mich</p>
<ul><li class=tag>Bad</li><li class=tag>WLAN</li><li class=tag> </li></ul>
<img class=main src="/a.jpg" @click="x"><o:p>odd</o:p><span data-price="120">ab 120 €</span></main>
<footer>Impressum</footer></body></html>"""


def read(page: str | bytes, selectors: dict[str, Any] | None = None, content_type: str = "text/html") -> PageFields:
    body = page.encode() if isinstance(page, str) else page
    rules = read_selectors(selectors) if selectors is not None else DEFAULT
    check_selectors(rules)
    return extract_fields(body, url="https://example.org/", content_type=content_type, rules=rules)


def test_fields_are_read_by_css_and_xpath_as_text_or_attribute_one_or_many() -> None:
    found = read(
        PAGE,
        {
            "fields": {
                "name": "h1",
                "photo": "img.main@src",
                "price": {"selector": "//span/@data-price", "kind": "xpath"},
                "seen": "xpath:count(//li)",
                "words": "xpath:normalize-space(//p[1])",
                "tags": {"selector": ".tag", "many": True},
                "none": ".missing",
            }
        },
    )
    assert found.fields == {
        "name": "Hotel Adler",
        "photo": "/a.jpg",
        "price": "120",
        "seen": "3",
        "words": "Ruhige Zimmer mit Blick.",
        "tags": ["Bad", "WLAN"],
        "none": None,
    }
    assert found.matches["fields.tags"] == 3


def test_text_is_what_is_included_without_what_is_excluded() -> None:
    chosen = {"include": ["main", "xpath://h1", "main p"], "exclude": [".ad", "xpath://ul"]}
    found = read(PAGE, chosen)
    assert found.text == "Hotel Adler\nRuhige Zimmer mit Blick.\nodd\nab 120 €", "each part once"
    assert read(PAGE, {"exclude": ["nav", "footer", "main"]}).text == ""
    assert read(PAGE, {"include": [".missing"]}).text == ""


def test_fields_do_not_see_what_is_excluded_whichever_kind_named_it() -> None:
    for exclude in (".ad", "xpath://p[@class='ad']"):
        found = read(PAGE, {"exclude": [exclude], "fields": {"css": ".ad", "xpath": "xpath://p[@class='ad']"}})
        assert found.fields == {"css": None, "xpath": None}


def test_the_text_of_a_script_is_read_when_it_is_asked_for() -> None:
    page = '<script type="application/ld+json">{"name": "A"}</script><p>Text</p>'
    found = read(page, {"fields": {"data": "script[type='application/ld+json']"}})
    assert (found.fields["data"], found.text) == ('{"name": "A"}', "Text")


def test_without_selectors_the_main_text_is_read() -> None:
    found = read(PAGE)
    assert found.fields == {"title": "Hotel Adler", "h1": "Hotel Adler", "description": None}
    assert "Menu" not in found.text
    assert "Impressum" not in found.text
    assert found.text.startswith("Hotel Adler\nRuhige Zimmer mit Blick.")
    bare = read("<nav>Only a menu</nav>")
    assert bare.text == "Only a menu", "better too much than nothing"


def test_text_is_normalised() -> None:
    found = read("<p>Cafe\u0301 \u00a0 bar</p>\n\n<p> </p><pre>a\n  b</pre>", {"include": ["body"]})
    assert found.text == "Café bar\na\nb"


@example("0 \x08\x0c0")
@given(st.text(st.characters(codec=None)))
def test_normalised_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    found = normalised(text)
    assert "\0" not in found
    assert found.encode() is not None
    assert "\n\n" not in found
    assert found == found.strip()
    assert normalised(found) == found


def test_language_is_that_of_the_text() -> None:
    german = "<p>Das Hotel liegt ruhig am Rand der Stadt und bietet große Zimmer mit Blick auf den See.</p>"
    assert read(f"<html lang=en><body>{german}", {"include": ["p"]}).language == "de"


def test_values_are_bounded() -> None:
    page = "<p>" + "</p><p>".join("x" * 9_000 for _ in range(300)) + "</p>" + "<b>" + "y" * 50_000 + "</b>"
    found = read(page, {"fields": {"all": {"selector": "p", "many": True}, "long": "b"}})
    values = found.fields["all"]
    assert isinstance(values, list)
    assert len(values) <= MAX_VALUES
    assert sum(map(len, values)) <= MAX_OF_FIELDS
    assert found.fields["long"] is None, "nothing is left for it"
    long = read(page, {"fields": {"long": "b"}}).fields["long"]
    assert isinstance(long, str)
    assert len(long) == MAX_VALUE


def test_a_page_nested_thousands_deep_is_read_or_refused_and_never_recursed_into() -> None:
    deep = "<div>" * 4000 + "deep" + "</div>" * 4000
    assert read(deep, {"include": ["xpath://body"], "fields": {"a": "xpath:string(//body)"}}).text == "deep"
    with pytest.raises(UnparsablePage):
        read("<div>" * 6000 + "deep", {"include": ["body"]})


def test_what_libxml_cannot_name_does_not_stop_it() -> None:
    page = '<p :a="1" @b="2" x\x01y="3" c:d="4">a\x01b\x0bc</p><9a>n</9a><a:b>q</a:b><p>\ufffe</p>'
    assert read(page, {"fields": {"p": "xpath:string(//p)"}}).fields["p"] == "abc"


@pytest.mark.parametrize(
    ("selectors", "words"),
    [
        ({"fields": {"a": "h1:foo"}}, "fields.a: the CSS is wrong at character 3 (h1→:foo): ':foo'"),
        ({"include": ["a " * 499 + "a"]}, "include[0]: the CSS has more than 100 steps"),
        ({"include": ["a>" * 100 + "a"]}, "include[0]: the CSS has more than 100 steps"),
        ({"exclude": [":not(" * 150 + "a" + ")" * 150]}, "exclude[0]: the CSS has more than 100 steps"),
        ({"include": ["p", "div >"]}, "include[1]: the CSS is wrong at character 6 (div >→)"),
        ({"include": ["p::before"]}, "include[0]: the CSS is wrong at character 2 (p→::before)"),
        ({"fields": {"a": "xpath://a["}}, "fields.a: the XPath is wrong at character 5 (//a[→)"),
        ({"fields": {"a": "xpath:document('/etc/passwd')"}}, "there is no function document()"),
        ({"fields": {"a": "xpath:re:test(., 'a')"}}, "there is no function re:test()"),
        ({"fields": {"a": "xpath:foo("}}, "there is no function foo()"),
        ({"fields": {"a": "xpath:$x"}}, "there are no variables"),
        ({"fields": {"a": "xpath://svg:g"}}, "there is no prefix 'svg'"),
        ({"exclude": ["xpath:count(//a)"]}, "exclude[0]: the XPath is wrong at character 1"),
        ({"fields": {"a": ""}}, "fields.a: nothing is written there."),
        ({"fields": {"1 2": "p"}}, "'1 2' is no name"),
        ({"fields": {"a": {"selector": "p", "kind": "regex"}}}, "fields.a.kind"),
        ({"includes": ["p"]}, "includes: there is no such thing here."),
        ({"include": ["p"] * 51}, "include: these are too many: at most 50."),
        ({"include": ["p", "x" * 1001]}, "include[1]: at most 1,000 characters, please."),
        ({"include": ["p\x00"]}, "NUL"),
        (["p"], "an object with include"),
    ],
)
def test_a_wrong_selector_is_refused_with_a_sentence_that_shows_where(selectors: Any, words: str) -> None:
    with pytest.raises(InvalidSelector) as refused:
        check_selectors(read_selectors(selectors))
    assert words in refused.value.message
    assert "\n" not in refused.value.message


def test_axes_and_operators_are_no_foreign_functions() -> None:
    check_selectors(
        read_selectors({"include": ["xpath://a[not(ancestor::nav) and (position() mod 2 = 1 or contains(., 'a:b('))]"]})
    )


def test_a_revision_changes_with_what_is_selected_and_only_then() -> None:
    one = read_selectors({"fields": {"a": ".x"}})
    assert one.revision == read_selectors({"fields": {"a": {"selector": ".x", "kind": "css"}}}).revision
    assert one.revision != read_selectors({"fields": {"a": {"selector": ".x", "many": True}}}).revision
    assert one.revision != DEFAULT.revision
    both = read_selectors({"fields": {"b": ".y", "a": ".x"}})
    assert both.revision == read_selectors({"fields": {"a": ".x", "b": ".y"}}).revision


def test_the_text_of_a_pdf_is_read() -> None:
    found = read(pdf_of("Rooms with a view of the quiet lake", title="Brochure"), content_type="application/pdf")
    assert found.text == "Rooms with a view of the quiet lake"
    assert found.fields == {"title": "Brochure"}


@pytest.mark.parametrize("broken", [b"%PDF-1.4 nothing", b"", b"%PDF-1.7\n" + b"\xff" * 5000])
def test_a_broken_pdf_is_unparsable(broken: bytes) -> None:
    with pytest.raises(UnparsablePage):
        read(broken, content_type="application/pdf")


def test_a_locked_pdf_is_unparsable() -> None:
    writer, held = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(held)
    with pytest.raises(UnparsablePage, match="password"):
        read(held.getvalue(), content_type="application/pdf")


@pytest.mark.parametrize("inner", ["count(", "sum(", "not(", "string("])
def test_an_xpath_of_brackets_in_brackets_is_refused_before_it_is_tried(inner: str) -> None:
    """Each level looks at all elements again, so that even an empty page would take for ever."""
    deep = f"//*[{inner}" * 24 + "//*" + ")]" * 24
    with pytest.raises(InvalidSelector, match="brackets stand in brackets more than 8 deep"):
        check_selectors(read_selectors({"fields": {"a": {"selector": deep, "kind": "xpath"}}}))
