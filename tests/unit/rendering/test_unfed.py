"""When a page is not itself, because its scripts got no data."""

import pytest

from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to, comes_again, missed, noted, unfed

ME, ITEMS = Unfed("/api/me", Reason.FORBIDDEN), Unfed("/api/items", Reason.HTTP_5XX)


@pytest.mark.parametrize(
    ("status", "reason"),
    [(200, None), (404, None), (401, Reason.FORBIDDEN), (429, Reason.RATE_LIMITED), (502, Reason.HTTP_5XX)],
)
def test_what_is_no_answer(status: int, reason: Reason | None) -> None:
    found = unfed("/x", status)
    assert (found.reason if found else None) is reason


@pytest.mark.parametrize(
    ("usual", "words", "expected"),
    [([], 50, ME), (["/api/me"], 50, ITEMS), (["/api/me", "/api/items"], 50, None), ([], 81, ME), ([], 100, None)],
)
def test_only_what_is_new_and_costs_words_is_missed(usual: list[str], words: int, expected: Unfed | None) -> None:
    assert missed([ME, ITEMS], usual, words, 100) == expected


@pytest.mark.parametrize(
    ("words", "before", "crawls", "expected"),
    [(99, 100, 1, ITEMS), (81, 100, 2, None), (80, 100, 2, ITEMS), (2, 4, 2, None), (0, 3, 9, ITEMS)],
)
def test_a_few_words_are_missed_in_two_crawls_and_a_good_part_for_ever(
    words: int, before: int, crawls: int, expected: Unfed | None
) -> None:
    assert missed([ITEMS], [], words, before, crawls) == expected


def test_a_page_comes_again_for_what_may_be_there_in_a_moment() -> None:
    assert comes_again([ME, ITEMS], [])
    assert not comes_again([ME], []), "a refusal lasts"
    assert not comes_again([ITEMS], ["/api/items"])


def test_paths_are_noted_once() -> None:
    assert noted([ITEMS, ME, ITEMS]) == ["/api/items", "/api/me"]


@pytest.mark.parametrize(
    ("host", "site", "belongs"),
    [
        ("a.org", "a.org", True),
        ("api.a.org", "www.a.org", True),
        ("api.a.org", "a.org", True),
        ("stats.org", "a.org", False),
        ("aa.org", "a.org", False),
        ("a.org", "www.a.org", True),
        ("api.a.org", "shop.a.org", True),
        ("a.org", "shop.a.org", True),
        ("v2.api.a.org", "www.shop.a.org", True),
        ("api.b.org", "shop.a.org", False),
        ("b.org", "a.org", False),
        ("b.co.uk", "a.co.uk", False),
        ("api.a.co.uk", "www.a.co.uk", True),
        ("api.a.co.uk", "shop.a.co.uk", True),
        ("b.localhost", "a.localhost", False),
        ("10.0.0.9", "11.0.0.9", False),
    ],
)
def test_whose_data_it_is(host: str, site: str, belongs: bool) -> None:
    assert belongs_to(host, site) is belongs
