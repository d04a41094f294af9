"""Many patterns, one URL: those that match it are found without trying all of them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.patterns import compile_pattern
from crawler.domain.urls.pattern_index import PatternIndex, needed_word


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        (r"/products/lamp-2$", "products"),
        (r"/p/1234(/|$)", "1234"),
        (r"/p/1234(/|$)?", "p"),
        (r"^https://shop\.example\.org/lamps/", "example"),
        (r"/item\d+/detail/", "detail"),
        (r"/a(b|c)/colours?/x/blue/", "blue"),
        (r"lamps", None),
        (r"/lamps|/chairs", None),
        (r"(?i)/lamps/", None),
        (r"/lamps*/", None),
        (r"/lamps{0}/", None),
        (r"/(?:lamps)?/", None),
        (r"[/]lamps[/]", None),
        (r"\Qlamps\E/", None),
        (r"/\x41lamps/", None),
        (r"", None),
        (r".*", None),
        (r"/lam\.ps/", "lam"),
        (r"/lamps(.|$)", None),
        (r"/lamps(\.|/|$)", "lamps"),
        (r"/lamps/\Qx\E|/b/", None),
        (r"/lamps/\p{L}|/b/", None),
        (r"/Ärger/", None),
    ],
)
def test_a_word_that_every_match_has_is_read_off_a_pattern(pattern: str, word: str | None) -> None:
    assert needed_word(pattern) == word


PIECES = st.sampled_from(
    [
        "/",
        "lamp",
        "chair",
        "-",
        ".",
        r"\.",
        r"\d",
        "+",
        "?",
        "*",
        "(",
        ")",
        "[",
        "]",
        "|",
        "^",
        "$",
        "{2}",
        "1",
        "_",
        r"\b",
        "(?i)",
    ]
)
URLS = st.lists(st.sampled_from(["/", "lamp", "LAMP", "chair", "-", ".", "1", "11", "_", "lampp"]), max_size=10).map(
    "".join
)


@given(st.lists(PIECES, max_size=9).map("".join), URLS)
def test_no_match_is_missed_for_its_word(pattern: str, url: str) -> None:
    try:
        found = compile_pattern(pattern).search(url) is not None
    except Exception:  # noqa: BLE001 - no pattern
        return
    index = PatternIndex([(pattern, 1)])
    assert index.find(url) == ([1] if found else [])


def test_what_belongs_to_a_url_comes_in_its_order_and_equal_patterns_are_tried_once() -> None:
    index = PatternIndex([("/b/", "first"), ("", "second"), ("/a/", "third"), ("/b/", "fourth"), ("/b/c$", "fifth")])
    assert index.find("https://x.org/b/c") == ["first", "second", "fourth", "fifth"]
    assert index.find("https://x.org/") == ["second"]


@pytest.mark.slow
def test_ten_thousand_patterns_cost_a_url_little() -> None:
    index = PatternIndex([(f"/product/{n}(/|$)", n) for n in range(10_000)])
    started = time.process_time()
    for n in range(2_000):
        assert index.find(f"https://x.org/product/{n * 3}/") == [n * 3]
    assert time.process_time() - started < 1
