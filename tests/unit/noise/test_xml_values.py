"""Two versions of an XML file: an element that says nothing is there or not, and it stands where it stands."""

from collections.abc import Callable, Iterator
from time import process_time

import pytest

from crawler.domain.pages.files import FileKind, file_lines, file_page
from tests.unit.noise.test_files import compared, told

XML = "application/xml"


def of_xml(old: str, new: str) -> list[tuple[str | None, str | None]]:
    return told(compared(old.encode(), new.encode(), XML))


def hashed(text: str) -> bytes:
    return file_page(FileKind.XML, text.encode(), url="https://e.example/f", content_type=XML, headers={}).content_hash


@pytest.mark.parametrize(
    ("old", "new", "gone", "came"),
    [
        (
            "<inn><name>Anchor</name><booked/></inn>",
            "<inn><name>Anchor</name><vacant/></inn>",
            ["inn.booked:"],
            ["inn.vacant:"],
        ),
        ("<r><name>Lamp</name></r>", "<r><name>Lamp</name><withdrawn/></r>", [], ["r.withdrawn:"]),
        ("<r><name>Lamp</name><ready/></r>", "<r><name>Lamp</name></r>", ["r.ready:"], []),
        ("<r><left>5</left></r>", "<r><left> </left></r>", ["r.left: 5"], ["r.left:"]),
        ("<r><pier open=''>North</pier></r>", "<r><pier>North</pier></r>", ["r.pier@open:"], []),
        ("<r><pier/></r>", "<r><pier open=''/></r>", ["r.pier:"], ["r.pier@open:"]),
    ],
)
def test_an_element_or_attribute_without_text_is_a_value(old: str, new: str, gone: list[str], came: list[str]) -> None:
    edits = of_xml(old, new)
    assert [removed for removed, _ in edits if removed] == gone
    assert [added for _, added in edits if added] == came
    assert hashed(old) != hashed(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<hour><boat>Heron</boat></hour><hour/><hour/>", "<hour/><hour/><hour><boat>Heron</boat></hour>"),
        (
            "<hour><boat>Heron</boat><boat>Osprey</boat></hour><hour><boat>Tern</boat></hour>",
            "<hour><boat>Heron</boat></hour><hour><boat>Osprey</boat><boat>Tern</boat></hour>",
        ),
        (
            "<hour><boats><boat>Heron</boat><boat>Tern</boat></boats></hour><hour><boats><boat>Owl</boat></boats></hour>",
            "<hour><boats><boat>Heron</boat></boats></hour><hour><boats><boat>Tern</boat><boat>Owl</boat></boats></hour>",
        ),
        (
            "<h><boat><name>Heron</name></boat><boat><name>Tern</name></boat></h><h><boat><name>Owl</name></boat></h>",
            "<h><boat><name>Heron</name></boat></h><h><boat><name>Tern</name></boat><boat><name>Owl</name></boat></h>",
        ),
    ],
)
def test_a_value_that_goes_from_one_entry_to_another_is_told(old: str, new: str) -> None:
    assert of_xml(f"<r>{old}</r>", f"<r>{new}</r>")
    assert hashed(f"<r>{old}</r>") != hashed(f"<r>{new}</r>")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<r><a/><b>1</b></r>", "<r>\n <a></a>\n <b> 1 </b>\n</r>"),
        ("<r><a/></r>", "<r><a><!-- nothing --></a></r>"),
        ("<r><a/></r>", "<r><a><![CDATA[]]></a></r>"),
        ("<r><a x='' y=''/></r>", '<r><a y="" x="" /></r>'),
    ],
)
def test_how_an_empty_element_is_written_says_nothing(one: str, other: str) -> None:
    assert of_xml(one, other) == []
    assert hashed(one) == hashed(other)


def _news(numbers: range) -> Iterator[str]:
    for n in numbers:
        tags = "".join(f"<category>Topic {tag}</category>" for tag in range(n % 3))
        yield f"<item><title>News {n}</title><guid>{n}</guid>{tags}<enclosure url='/{n}.mp3'/><comments/></item>"


def _rss(numbers: range) -> str:
    return f"<rss><channel><title>News</title><image/>{''.join(_news(numbers))}</channel></rss>"


def _atom(numbers: range) -> str:
    entries = (
        f"<entry><id>{n}</id><link href='/{n}'/><summary/><author><name>Ann</name></author></entry>" for n in numbers
    )
    return f"<feed xmlns='http://www.w3.org/2005/Atom'><title>News</title>{''.join(entries)}</feed>"


def _sitemap(numbers: range) -> str:
    return f"<urlset>{''.join(f'<url><loc>http://e.org/{n}</loc><lastmod/></url>' for n in numbers)}</urlset>"


@pytest.mark.parametrize(("feed", "lines"), [(_rss, 7), (_atom, 4), (_sitemap, 2)])
def test_a_new_entry_at_the_top_of_a_feed_is_told_alone(feed: Callable[[range], str], lines: int) -> None:
    edits = of_xml(feed(range(10, 30)), feed(range(9, 30)))
    assert [removed for removed, _ in edits] == [None] * len(edits)
    assert len(edits) <= lines
    gone = of_xml(feed(range(10, 30)), feed(range(10, 29)))
    assert [added for _, added in gone] == [None] * len(gone)


def test_a_flat_list_that_grows_at_its_top_changes_no_other_entry() -> None:
    old = "".join(f"<boat>Boat {n}</boat>" for n in range(1, 9))
    assert of_xml(f"<r>{old}</r>", f"<r><boat>Boat 0</boat>{old}</r>") == [(None, "r.boat: Boat 0")]


@pytest.mark.parametrize(
    "body",
    [
        "<r>" + "<a/>" * 400_000 + "</r>",
        "<r>" + "<a b=''/>" * 200_000 + "</r>",
        "<a>" * 59 + "<b/>" * 49_000 + "</a>" * 59,
        "<r>" + "<a><b/><b/></a>" * 24_000 + "</r>",
    ],
)
def test_many_empty_elements_take_little_time(body: str) -> None:
    began = process_time()
    assert file_lines(FileKind.XML, body.encode(), XML).texts
    assert process_time() - began < 2
