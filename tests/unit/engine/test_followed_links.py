"""What a process remembers of the links that it followed: little, whatever strangers link to."""

import tracemalloc
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4
from weakref import ref

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from crawler.domain.engine.crawl_state import CrawlState
from crawler.handlers.engine import crawl_context
from crawler.handlers.engine.crawl_context import UNUSED_SECONDS, CrawlContext, CrawlContexts
from crawler.handlers.engine.followed_links import MOST_OF_ALL, FollowedLinks, FollowedRoom
from tests.unit.rendering.test_signals import a_crawl

LONG = "http://o.example/" + "a" * 1_900


class Crawls:
    """Crawls as the database has them, and the clock."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.rows: dict[UUID, CrawlJob] = {}
        self.loaded = 0
        self.contexts = CrawlContexts(self.load, lambda: self.now)

    def load(self, crawl_id: UUID) -> CrawlState | None:
        self.loaded += 1
        return CrawlState(self.rows[crawl_id]) if crawl_id in self.rows else None

    def add(self, **changed: Any) -> UUID:
        crawl = a_crawl(None).model_copy(update={"id": uuid4(), "pages_crawled": 1, **changed})
        self.rows[crawl.id] = crawl
        return crawl.id

    def get(self, crawl_id: UUID) -> CrawlContext:
        context = self.contexts.get(crawl_id, 1)
        assert context is not None
        return context


def a_context() -> CrawlContext:
    crawls = Crawls()
    return crawls.get(crawls.add())


def memory(work: Callable[[], object]) -> float:
    """Megabytes that are in use after it and were not before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[0] / 1_000_000
    finally:
        tracemalloc.stop()


def follow(context: CrawlContext, number: int, start: str = LONG) -> None:
    for one in range(number):
        assert context.mark_followed(f"{start}{one}", 1)


def test_a_link_is_followed_once_at_each_smaller_depth() -> None:
    context = a_context()
    depths = [3, 3, 4, 2, 2, 3, 1]
    assert [context.mark_followed(LONG, depth) for depth in depths] == [True, False, False, True, False, False, True]
    assert LONG in context.followed
    assert LONG + "b" not in context.followed
    context.followed.forget()
    assert context.mark_followed(LONG, 3)


def test_a_long_link_takes_as_little_memory_as_a_short_one() -> None:
    context = a_context()
    assert memory(lambda: follow(context, 10_000)) < 2
    assert len(context.followed) == 10_000


def test_all_crawls_of_a_process_together_remember_a_limited_number() -> None:
    assert MOST_OF_ALL * 90 < 50_000_000, "bytes"
    room = FollowedRoom(1_000)
    crawls = [FollowedLinks(room) for _ in range(20)]
    for number, links in enumerate(crawls):
        for one in range(10 if number < 10 else 190):
            assert links.mark(f"{LONG}{one}", 1)
        assert sum(map(len, crawls)) <= 1_000
    assert list(map(len, crawls[:10])) == [10] * 10, "the crawl that remembers most forgets"
    assert len(crawls[-1]) == 190


def test_what_a_crawl_forgot_or_took_along_is_room_for_others() -> None:
    room = FollowedRoom(1_000)
    kept = FollowedLinks(room)
    for one in range(500):
        kept.mark(f"{LONG}{one}", 1)
    for _ in range(10):
        gone = FollowedLinks(room)
        for one in range(400):
            gone.mark(f"{LONG}{one}", 1)
    gone.forget()
    for one in range(500, 1_000):
        assert kept.mark(f"{LONG}{one}", 1)
    assert len(kept) == 1_000


def test_contexts_of_a_process_share_the_room() -> None:
    crawls = Crawls()
    one, other = (crawls.get(crawls.add()) for _ in range(2))
    assert one.followed.room is other.followed.room


def test_a_context_that_nobody_used_for_minutes_is_dropped_with_all_it_remembers() -> None:
    crawls = Crawls()
    ended, going = crawls.add(), crawls.add()
    left = ref(crawls.get(ended).followed)
    follow(crawls.get(ended), 10)
    for _ in range(10):
        crawls.now += UNUSED_SECONDS / 9
        crawls.get(going)
    assert left() is None
    assert crawls.loaded == 2, "the other is still known"
    crawls.rows[ended] = crawls.rows[ended].model_copy(update={"status": CrawlStatus.COMPLETED})
    assert crawls.contexts.get(ended, 1) is None


def test_a_context_in_use_is_never_replaced_by_another() -> None:
    crawls = Crawls()
    slow, going = crawls.add(), crawls.add()
    held = crawls.get(slow)
    crawls.now += 2 * UNUSED_SECONDS
    crawls.get(going)
    assert crawls.get(slow) is held
    assert crawls.loaded == 2


def test_of_very_many_contexts_those_are_dropped_that_nobody_used_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawl_context, "MAX_CONTEXTS", 3)
    crawls = Crawls()
    first, *others = (crawls.add() for _ in range(5))
    for other in others:
        crawls.get(first)
        crawls.get(other)
    assert crawls.loaded == 5
    crawls.get(first)
    crawls.get(others[-1])
    assert crawls.loaded == 5
    crawls.get(others[0])
    assert crawls.loaded == 6
