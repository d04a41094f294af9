"""A batch names a limited number of URLs: of what names more, parts are written ahead. The least used come first."""

from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from crawler.domain.crawls.frontier import End, Lease
from crawler.domain.engine.ledger import UrlEnd, UrlKey
from crawler.domain.urls.url import parse
from crawler.handlers.engine import unwritten
from crawler.handlers.engine.crawl_context import CrawlContext
from crawler.handlers.engine.lease_result import LeaseResult
from crawler.handlers.engine.unwritten import Unwritten

HOME = "http://a.example/"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unwritten, "MOST_NEW", 20)
    monkeypatch.setattr(unwritten, "PART", 10)
    monkeypatch.setattr(unwritten, "MUCH", 20)


def result(crawl_id: UUID | None = None, *, new: int = 0, **given: Any) -> LeaseResult:
    """What came of a page with so many links that nobody has followed."""
    context = cast(CrawlContext, SimpleNamespace(followed=given.pop("followed", {})))
    lease = cast(Lease, SimpleNamespace(host="a.example", url=HOME))
    links = [parse(f"{HOME}{number}") for number in range(new)]
    return LeaseResult(lease, context, End.STORED, UrlKey(crawl_id or uuid4(), HOME), **{"links": links, **given})


def waiting(*results: LeaseResult) -> Unwritten:
    tested = Unwritten()
    for one in results:
        tested.add(one)
    return tested


def links(batch: list[LeaseResult]) -> list[tuple[int, bool]]:
    return [(len(one.links), one.is_ahead) for one in batch]


def test_few_links_are_written_as_they_come() -> None:
    results = [result(new=3), result(new=12), result(new=4)]
    tested = waiting(*results)
    assert not tested.is_full
    assert tested.take() == results
    assert not tested
    assert not tested.has_more


def test_of_a_long_list_parts_are_written_ahead_and_the_result_last() -> None:
    end, picture = cast(UrlEnd, object()), cast(Any, object())
    tested = waiting(result(new=35, url_end=end, picture=picture))
    assert tested.is_full
    parts = []
    while tested:
        parts += tested.take()
        assert tested.has_more is parts[-1].is_ahead
    assert links(parts) == [(10, True), (10, True), (10, True), (35, False)], "a page keeps all its links"
    assert [url.href for part in parts[:-1] for url in part.links] == [f"{HOME}{number}" for number in range(30)]
    assert [(part.url_end, part.picture) for part in parts] == [(None, None)] * 3 + [(end, picture)]
    assert len({id(part.lease) for part in parts}) == 1


def test_a_sitemap_ends_with_the_urls_that_are_left() -> None:
    tested = waiting(result(listed=[f"/{number}" for number in range(35)], sitemaps=["more"]))
    parts = []
    while tested:
        parts += tested.take()
    assert [url for part in parts for url in part.listed] == [f"/{number}" for number in range(35)]
    assert [part.sitemaps for part in parts] == [[], [], [], ["more"]]


def test_links_that_were_followed_before_cost_nothing() -> None:
    known = {f"{HOME}{number}": 0 for number in range(90)}
    tested = waiting(result(new=95, followed=known), result(new=50, followed=known))
    assert links(tested.take()) == [(95, False), (50, False)]


def test_the_crawl_of_which_least_was_written_comes_first() -> None:
    many, few = uuid4(), uuid4()
    tested = waiting(*(result(many, new=9) for _ in range(6)))
    assert len(tested.take()) == 2
    late = result(few, new=5)
    tested.add(late)
    assert [one.key.crawl_id for one in tested.take()] == [few, many]
    assert [one.key.crawl_id for one in tested.take()] == [many, many]


def test_long_lists_are_written_one_after_the_other_by_turns_with_others() -> None:
    one, other, few = uuid4(), uuid4(), uuid4()
    tested = waiting(result(one, new=25), result(one, new=25), result(other, new=25), result(few, new=1))
    batches = []
    while tested:
        batches.append([part.key.crawl_id for part in tested.take()])
        if len(batches) in (2, 3):
            tested.add(result(few, new=1))
    assert batches == [[few], [one], [few], [one], [few], [one], *[[other]] * 3, *[[one]] * 3]


def test_a_crawl_that_left_much_is_crowded() -> None:
    much, little = uuid4(), uuid4()
    tested = waiting(result(much, new=35), result(little, new=8))
    assert not tested.crowded(), "only what a batch leaves counts"
    assert [one.key.crawl_id for one in tested.take()] == [little]
    assert (tested.crowded(), tested.long()) == ({much}, {much})
    for _ in range(2):
        tested.take()
    assert (tested.crowded(), tested.long()) == (set(), {much})


def test_long_lists_are_left_and_short_ones_stay() -> None:
    long = result(new=35)
    tested = waiting(long, result(new=8), result(new=9), result(new=9), result(new=7))
    assert len(tested.take()) == 2
    assert tested.leave(lambda lease: lease is not long.lease) == [], "of these none is long"
    assert tested.leave() == [long.lease]
    assert links(tested.take()) == [(9, False), (7, False)]
    assert not tested


def test_of_sitemaps_that_together_take_too_much_memory_the_largest_is_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unwritten, "MOST_LISTED_BYTES", 100_000)
    sitemaps = [result(listed=[f"/{number}/{'a' * length}" for number in range(35)]) for length in (900, 1_000, 800)]
    assert waiting(*sitemaps[:2], result(new=5)).surplus() is None
    tested = waiting(*sitemaps, result(new=5))
    surplus = tested.surplus()
    assert surplus is sitemaps[1].lease
    assert tested.leave(lambda lease: lease is surplus) == [surplus]
    assert tested.surplus() is None
    assert len(tested) == 3
