"""Files as pages: which kinds there are, which lines they have, and what makes two of them the same."""

import json
from random import Random
from time import process_time
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.pages.files import FileKind, file_lines, file_page, kind_of
from crawler.domain.pages.parsing import ParsedPage
from crawler.domain.pages.pdf_reading import pdf_lines

HTML = b"<!doctype html><p>Hello"


def page(body: bytes, content_type: str, **headers: str) -> ParsedPage:
    kind = kind_of(content_type, body)
    assert kind is not None
    return file_page(
        kind, body, url="https://e.example/f", content_type=content_type, headers=MappingProxyType(headers), robot="me"
    )


def shown(body: bytes | str, content_type: str = "application/json") -> list[str]:
    data = body if isinstance(body, bytes) else body.encode()
    kind = kind_of(content_type, data)
    assert kind is not None
    return list(file_lines(kind, data, content_type).texts)


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"{}", None),
        ("", b"Hello", None),
        ("application/xhtml+xml", b"<html/>", None),
        ("application/rss+xml", b"<?xml version='1.0'?><rss/>", FileKind.XML),
        ("application/xml", b"<?xml version='1.0'?><!-- <a> --><x:HTML xmlns:x='y'/>", FileKind.XML),
        ("text/xml", b"<?xml version='1.0'?><html/>", None),
        ("image/svg+xml", b"<svg/>", FileKind.XML),
        ("text/plain", b"\xef\xbb\xbf\n <!DOCTYPE HTML><p>", None),
        ("text/plain", b"a < b", FileKind.TEXT),
        ("TEXT/CSV; header=present", b"a;b", FileKind.TEXT),
        ("text/plain; charset=utf-16", b"\xff\xfea\0", FileKind.TEXT),
        ("application/javascript", b"let a = 1", FileKind.TEXT),
        ("application/json", b"[]", FileKind.JSON),
        ("application/vnd.api+json; charset=utf-8", b"[]", FileKind.JSON),
        ("application/x-ndjson", b"{}\n{}", FileKind.TEXT),
        ("application/pdf", b"", FileKind.PDF),
        ("application/octet-stream", b"%PDF-1.7", FileKind.PDF),
        ("application/zip", b"PK\x03\x04\0\0", FileKind.BYTES),
        ("image/png", b"\x89PNG", FileKind.BYTES),
        ("application/octet-stream", b"\x01\x02", FileKind.BYTES),
        ("application/pgp-signature", b"\x89\x01\x33\x04", FileKind.BYTES),
        ("application/gzip", b"\x1f\x8b\x08\xff", FileKind.BYTES),
        ("application/octet-stream", b"read me " * 2_000 + b"\x02", FileKind.BYTES),
        ("application/octet-stream", b"\x1b[1mread\tme\x1b[0m\r\n\f", FileKind.TEXT),
    ],
)
def test_each_kind_of_file_is_known_by_its_type_or_how_it_begins(
    content_type: str, body: bytes, kind: FileKind | None
) -> None:
    assert kind_of(content_type, body) is kind


def test_a_file_of_bytes_that_are_no_characters_is_another_one_when_one_of_them_is() -> None:
    one, other = (page(body, "application/octet-stream") for body in (b"key\x01", b"key\x02"))
    assert one.content_hash != other.content_hash


# ---- text


def test_a_text_keeps_its_lines_and_what_looks_like_markup() -> None:
    body = b"Prices\r\n\r\n  apples: <b>3</b>   \r  <script>no</script>\n\x00if a < b:\tyes"
    assert page(body, "text/plain").text == "Prices\n  apples: <b>3</b>\n  <script>no</script>\nif a < b:\tyes"
    assert page(body, "text/plain").word_count == 9


def test_a_text_is_the_same_whatever_its_line_ends_and_empty_lines_are() -> None:
    one, other = page(b"a\nb\n", "text/plain"), page(b"a \r\n\r\nb", "text/csv")
    assert one.content_hash == other.content_hash
    assert one.content_hash != page(b"a b", "text/plain").content_hash


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("Größe: 3".encode("latin-1"), "text/plain; charset=iso-8859-1"),
        ("Größe: 3".encode("utf-16"), "text/plain"),
        ("Größe: 3".encode("latin-1"), "text/plain"),
        ("Größe: 3".encode(), "text/plain; charset=nonsense"),
    ],
)
def test_a_text_is_read_in_its_charset(body: bytes, content_type: str) -> None:
    assert page(body, content_type).text == "Größe: 3"


def test_what_looks_like_a_declaration_in_a_text_is_text() -> None:
    assert page('<meta charset="koi8-r"> é'.encode(), "text/plain").text.endswith("é")


def test_a_file_that_is_no_text_is_known_by_its_bytes() -> None:
    one, other = (page(b"PK\x03\x04\0" + end, "application/zip") for end in (b"a", b"b"))
    assert (one.text, one.content_hash == other.content_hash) == ("", False)


def test_a_file_may_say_noindex_in_its_head() -> None:
    assert page(b"%PDF-", "application/pdf", **{"x-robots-tag": "me: noindex"}).noindex
    assert not page(b"%PDF-", "application/pdf", **{"x-robots-tag": "other: noindex"}).noindex


# ---- JSON


def test_json_is_shown_value_by_value_with_paths() -> None:
    body = {"items": [{"price": 119.0, "name": "Chair\n2"}, {}], "a key": None, "é": True, "n": "1", "empty": []}
    assert shown(json.dumps(body)) == [
        '["a key"]: null',
        "empty: []",
        'items[0].name: "Chair\\n2"',
        "items[0].price: 119.0",
        "items[1]: {}",
        'n: "1"',
        "é: true",
    ]
    assert shown("3.50") == ["3.50"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": [1, 2]}', '{\n  "b": [1,2],\n  "a": 1\n}'),
        ('{"a": 1}', '{"a": 1.0}'),
        ("[100, 0.5, 0, -2]", "[1E2, 5e-1, -0.0, -2.000]"),
        ('["caf\\u00e9"]', '["café"]'),
        ("\ufeff[1]", "[1]"),
    ],
)
def test_how_json_is_written_says_nothing(one: str, other: str) -> None:
    pages = [page(text.encode(), "application/json") for text in (one, other)]
    assert pages[0].content_hash == pages[1].content_hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[1, 2]", "[2, 1]"),
        ("[1]", '["1"]'),
        ("[null]", '["null"]'),
        ("[10]", "[1]"),
        ("[1e1]", "[1e-1]"),
        ("[123456789012345678901]", "[123456789012345678902]"),
        ("[0.1234567890123456789]", "[0.1234567890123456788]"),
        ('{"a.b": 1}', '{"a": {"b": 1}}'),
        ('["a  b"]', '["a b"]'),
        ("[[], []]", "[[]]"),
    ],
)
def test_another_value_is_another_content(one: str, other: str) -> None:
    pages = [page(text.encode(), "application/json") for text in (one, other)]
    assert pages[0].content_hash != pages[1].content_hash


@pytest.mark.parametrize(
    "body",
    [
        "not json",
        '{"a": 1,\n "a": 2}',
        "[NaN,\n 1]",
        "[1,\n 2",
        "[" * 5000 + "]" * 5000,
        "[" * 80 + "1" + "]" * 80,
        '{"' + "k" * 600 + '":\n1}',
        "[" + "1,\n" * 50_001 + "1]",
    ],
)
def test_what_no_two_readers_read_alike_or_is_too_large_is_compared_as_text(body: str) -> None:
    assert shown(body) == body.split("\n")


@pytest.mark.slow
def test_no_json_takes_long() -> None:
    random = Random(1)
    rows = [{"id": n, "price": random.random(), "name": "x" * 20, "tags": ["a", "b"]} for n in range(9_000)]
    body = json.dumps(rows).encode()
    started = process_time()
    page(body, "application/json")
    assert process_time() - started < 3


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(_JSON)
def test_the_same_values_are_the_same_lines(value: object) -> None:
    one, other = json.dumps(value), json.dumps(value, indent=3, ensure_ascii=False, sort_keys=True)
    assert shown(one) == shown(other)
    assert all(line.isprintable() for line in shown(one) if line.isascii())


@given(
    st.binary(max_size=200),
    st.sampled_from(["application/json", "text/plain", "application/xml", "application/zip", "x"]),
)
def test_no_bytes_raise(body: bytes, content_type: str) -> None:
    kind = kind_of(content_type, body)
    if kind is not None:
        made = file_page(kind, body, url="https://e.example/", content_type=content_type, headers={})
        assert "\0" not in made.text
        made.text.encode()


# ---- XML

FEED = b"""<?xml version="1.0"?><rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
  <title>News</title><item><title>One</title><description><![CDATA[Some <b>text</b>]]></description></item>
  <item><title>Two &amp; three</title><dc:date>2026-05-04</dc:date><media url="/m?a&amp;b"/></item></channel></rss>"""


def test_xml_is_shown_value_by_value_with_paths() -> None:
    assert shown(FEED, "application/rss+xml") == [
        "rss@version: 2.0",
        "rss.channel.title: News",
        "rss.channel.item.title: One",
        "rss.channel.item.description: Some <b>text</b>",
        "rss.channel.item[2].title: Two & three",
        "rss.channel.item[2].date: 2026-05-04",
        "rss.channel.item[2].media@url: /m?a&b",
    ]
    found = page(FEED, "application/rss+xml")
    assert (found.title, found.text.splitlines()[1]) == ("News", "rss.channel.title: News")
    assert found.content_hash == page(FEED.replace(b"\n  ", b""), "text/xml").content_hash
    assert found.content_hash != page(FEED.replace(b"One", b"1"), "text/xml").content_hash


@pytest.mark.parametrize(
    "body",
    [
        "<a>\n<b></a>",
        "<!DOCTYPE a [<!ENTITY e 'x'>]>\n<a>&e;</a>",
        "<a>&amp</a>",
        "<a>" * 80 + "</a>" * 80,
        "<r>" + "<a>1</a>\n" * 50_001 + "</r>",
        f"<{'r' * 600}>\n<a>1</a></{'r' * 600}>",
        f"<r {'a' * 600}='1'/>",
        "no xml",
    ],
)
def test_xml_that_cannot_be_read_is_compared_as_text(body: str) -> None:
    assert shown(body, "application/xml") == body.split("\n")


# ---- PDFs

PROSE = "The committee met on Monday. It decided to raise the fee. Nobody was against it. From June on it is 12 euros. "


def wrapped(text: str, width: int) -> str:
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def test_a_pdf_is_compared_by_sentences_wherever_its_lines_were_broken() -> None:
    narrow, wide = (pdf_lines(f"Minutes\n{wrapped(PROSE * 3, width)}\nTable 1").texts for width in (50, 60))
    assert narrow == wide
    assert narrow[:2] == ["Minutes", "The committee met on Monday."]


def test_rows_of_a_table_and_headings_stay_lines() -> None:
    rows = ["Fees", "Adults 12.00", "Children 6.00", "Last updated: 3 May 2026"]
    assert pdf_lines("\n".join(rows)).texts == rows


def test_ligatures_and_soft_hyphens_are_letters() -> None:
    assert pdf_lines("The ﬁrst oﬃce of\xadfice").texts == ["The first office office"]
