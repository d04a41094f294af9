"""When a page is not itself, because its scripts got no data."""

import pytest

from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to, missed, noted, unfed

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
    [([], 50, ME), (["/api/me"], 50, ITEMS), (["/api/me", "/api/items"], 50, None), ([], 81, None), ([], 120, None)],
)
def test_only_what_is_new_and_costs_words_is_missed(usual: list[str], words: int, expected: Unfed | None) -> None:
    assert missed([ME, ITEMS], usual, words, 100) == expected


def test_a_page_of_few_words_is_not_missed_for_one() -> None:
    assert missed([ITEMS], [], 2, 4) is None


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
