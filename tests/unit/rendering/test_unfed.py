"""When a page is not itself, because its scripts got no data."""

import pytest

from crawler.domain.reasons import Reason
from crawler.domain.rendering.unfed import Unfed, belongs_to, comes_again, missed, noted, strayed, unfed, wants_data

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


@pytest.mark.parametrize(("status", "is_page"), [(404, False), (404, True), (200, True)])
def test_a_script_that_is_not_there_did_not_come(status: int, is_page: bool) -> None:
    gone = unfed("/app.js", status, is_script=True, is_page=is_page)
    assert gone is not None
    assert unfed("/items", status, is_page=is_page) is None, "data may be a page, or not be there"
    assert not comes_again([gone], []), "it is not there in a moment either"
    assert [missed([gone], [], 50, 100, crawls) for crawls in (0, 1, 2)] == [gone, gone, None]
    assert [strayed([gone], [], crawls) for crawls in (0, 1, 2)] == [gone, gone, None]


@pytest.mark.parametrize(
    ("url", "accept", "status", "is_page", "came"),
    [
        ("/items", "application/json, text/plain, */*", 200, True, False),
        ("/items", "Application/vnd.api+JSON", 200, True, False),
        ("/menu.json?v=3", "*/*", 200, True, False),
        ("/items", "application/json", 200, False, True),
        ("/items", "application/json", 404, True, True),
        ("/items", "*/*", 200, True, True),
        ("/items", "text/html, application/json", 200, True, True),
    ],
)
def test_a_web_page_is_no_answer_to_who_asks_for_json(
    url: str, accept: str, status: int, is_page: bool, came: bool
) -> None:
    found = unfed(url, status, wants_data=wants_data(url, accept), is_page=is_page)
    assert (found is None) is came


@pytest.mark.parametrize(
    ("found", "usual", "expected"),
    [
        (ITEMS, [], ITEMS),
        (ITEMS, ["/api/items"], None),
        (ME, [], None),
        (Unfed("/api/slow", Reason.TIMEOUT), [], None),
        (Unfed("/api/slow", Reason.CONNECT), [], Unfed("/api/slow", Reason.CONNECT)),
    ],
)
def test_what_lets_a_page_stray(found: Unfed, usual: list[str], expected: Unfed | None) -> None:
    assert strayed([found], usual, crawls=9) == expected


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
