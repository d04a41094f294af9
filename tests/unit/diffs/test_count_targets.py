"""A counter says 0 until it is scrolled to. Its readers see the number that it counts up to, so that is compared."""

from time import process_time

import pytest

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.page_noise import apply_noise_rules
from crawler.domain.pages.count_targets import MOST, count_targets
from crawler.domain.pages.parsing import parse_page


def page(*lines: str) -> bytes:
    return f"<html><title>Us</title><body><h1>About us</h1>{''.join(lines)}<p>End.</p></body></html>".encode()


def told(before: bytes, after: bytes) -> list[str]:
    edits = apply_noise_rules(read_blocks(before), read_blocks(after)).edits
    return [block.text for edit in edits for block in edit if block]


def is_same(before: bytes, after: bytes) -> bool:
    return parse_page(before, url="http://e.test/").content_hash == parse_page(after, url="http://e.test/").content_hash


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('<div class=n data-count="500">0</div>', '<div class=n data-count="600">0</div>', ["0 (500)", "0 (600)"]),
        ("<span class=c data-to=120 data-speed=1500>0+</span> projects",
         "<span class=c data-to=125 data-speed=1500>0+</span> projects",
         ["0+ (120, 1500) projects", "0+ (125, 1500) projects"]),
        ("<h2 data-end='1,500.50'>\n 0.00 € </h2>", "<h2 data-end='1,600.50'>\n 0.00 € </h2>",
         ["0.00 € (1,500.50)", "0.00 € (1,600.50)"]),
        ("<p>Over <strong data-x='12 000'>0</strong> meals</p>", "<p>Over <strong data-x='13 000'>0</strong> meals</p>",
         ["Over 0 (12 000) meals", "Over 0 (13 000) meals"]),
    ],
)  # fmt: skip
def test_what_a_counter_counts_up_to_is_compared(before: str, after: str, words: list[str]) -> None:
    assert told(page(before), page(after)) == words
    assert not is_same(page(before), page(after))
    assert told(page(after), page(after)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<b data-id=7>0</b>", "<b>0</b>"),
        ("<b data-count=7>12</b>", "<b data-count=8>12</b>"),  # it says another number already
        ("<b data-count=7>none</b>", "<b data-count=8>none</b>"),
        ("<b data-count=7></b>", "<b data-count=8></b>"),
        ("<b data-count=a7>0</b>", "<b data-count=b8>0</b>"),
        ("<b data-count=0>0</b>", "<b data-count=0.0>0</b>"),
        ("<b count=7>0</b>", "<b count=8>0</b>"),
        ("<div data-count=7><p>0</p></div>", "<div data-count=8><p>0</p></div>"),
    ],
)
def test_no_other_attribute_is(before: str, after: str) -> None:
    assert [word for word in told(page(before), page(after)) if "8" in word] == []


def test_nobody_else_reads_it() -> None:
    parsed = parse_page(page("<b class=likes data-post=4711>0</b>"), url="http://e.test/")
    assert parsed.text.splitlines() == ["About us", "0", "End."]


@pytest.mark.parametrize(
    "hostile",
    [
        b"<b " + b"data-a=1 " * 200_000 + b">0</b>",
        b"<b data-a=1>0</b>" * 100_000,
        b"<b" + b" data-a=1" * 400 + b">0</b>" + b">0</b>" * 300_000,
        b"<b data-a=" + b"1 " * 500_000 + b">0</b>",
        b">0" * 500_000,
        b"> " * 500_000 + b"data-",
    ],
)
def test_hostile_markup_costs_no_more_than_its_length(hostile: bytes) -> None:
    begun = process_time()
    found = count_targets(hostile)
    assert process_time() - begun < 2
    assert len(found) < MOST + 1000
