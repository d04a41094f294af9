"""How the many slots of the HTTP lane are shared between crawls where they run short."""

from uuid import UUID, uuid4

import pytest

from crawler.domain.crawls.frontier import Kind
from crawler.domain.engine.remembered import MOST_REMEMBERED, REMEMBERED_SECONDS
from crawler.handlers.engine.few_slots import Holding
from crawler.handlers.engine.many_slots import (
    AVERAGE_OF,
    GIVE_WAY_SECONDS,
    LARGE_BYTES,
    MOST_LARGE,
    MOST_LARGE_EACH,
    SITEMAP_SHARE,
    ManySlots,
)

LARGE, SMALL, STRANGER = uuid4(), uuid4(), uuid4()
LONG = GIVE_WAY_SECONDS


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _names(held: list[Holding]) -> list[int]:
    return [one.name[1] for one in held]


def _held(crawl_id: UUID, *seconds: float, first: int = 0) -> list[Holding]:
    return [Holding(crawl_id, one, ("h", first + number)) for number, one in enumerate(seconds)]


@pytest.mark.parametrize(
    ("free", "allowed", "room"),
    [(8, [LARGE, STRANGER], 6), (3, [LARGE, STRANGER], 1), (2, [STRANGER], 1), (1, [STRANGER], 1)],
)
def test_slots_are_kept_for_crawls_that_hold_none(free: int, allowed: list[UUID], room: int) -> None:
    pairs = [(LARGE, "a"), (STRANGER, "b")]
    found, most = ManySlots().allowed(pairs, free, free, 8, {LARGE})
    assert ([crawl_id for crawl_id, _ in found], most) == (allowed, room)


def test_who_holds_the_most_gives_way_first_with_its_oldest_request() -> None:
    held = [*_held(SMALL, LONG + 9, LONG, first=10), *_held(LARGE, LONG + 1, LONG + 2, LONG + 3)]
    assert _names(ManySlots().giving_way(held)) == [2, 10, 1, 0, 11]


def test_what_has_not_taken_long_yet_does_not_give_way() -> None:
    assert _names(ManySlots().giving_way(_held(LARGE, LONG - 1, LONG + 1, 0.0))) == [1]


def test_the_only_request_of_a_crawl_gives_way_once_in_a_while_and_gets_no_kept_slot_then() -> None:
    clock = Clock()
    slots = ManySlots(clock)
    held = [*_held(SMALL, LONG), *_held(LARGE, LONG, LONG, first=10)]
    slots.gave_way(LARGE, {LARGE, SMALL})  # it has others
    slots.gave_way(SMALL, {LARGE})
    assert _names(slots.giving_way(held)) == [10, 11]
    assert slots.allowed([(SMALL, "a"), (STRANGER, "b")], 1, 1, 8, {LARGE}) == ([(STRANGER, "b")], 1)
    clock.now += REMEMBERED_SECONDS + 1
    assert 0 in _names(slots.giving_way(held))
    assert slots.allowed([(SMALL, "a")], 1, 1, 8, {LARGE}) == ([(SMALL, "a")], 1)


def test_crawls_whose_bodies_are_large_have_few_slots() -> None:
    clock = Clock()
    slots = ManySlots(clock)
    slots.note(SMALL, LARGE_BYTES - 1)
    slots.note(LARGE, LARGE_BYTES)
    assert slots.large() == {LARGE}
    pairs = [(LARGE, "a")]
    assert slots.allowed_large(pairs, _held(SMALL, *[0.0] * 100)) == (pairs, MOST_LARGE_EACH)
    assert slots.allowed_large(pairs, _held(LARGE, *[0.0] * MOST_LARGE_EACH)) == ([], MOST_LARGE_EACH)
    clock.now += REMEMBERED_SECONDS + 1
    assert not slots.large()


def test_some_large_pages_among_small_ones_cost_a_crawl_no_slots() -> None:
    """The manual of Python has an index of two megabytes, and pages of a hundred kilobytes."""
    slots = ManySlots()
    for number in range(3 * AVERAGE_OF):
        slots.note(SMALL, 5 * LARGE_BYTES if number % (AVERAGE_OF // 2) == 15 else LARGE_BYTES // 8)
        assert not slots.large()


def test_bodies_become_large_and_small_again() -> None:
    slots = ManySlots()
    told = []
    for size in (100, 10 * LARGE_BYTES, 100):
        for _ in range(4 * AVERAGE_OF):
            slots.note(LARGE, size)
        told.append(slots.large())
    assert told == [set(), {LARGE}, set()]


def test_sizes_of_ever_more_crawls_are_not_kept() -> None:
    slots = ManySlots()
    for _ in range(MOST_REMEMBERED + 10):
        slots.note(uuid4(), LARGE_BYTES)
    assert len(slots._sizes) == len(slots.large()) == MOST_REMEMBERED


def test_all_crawls_whose_bodies_are_large_have_few_slots_together() -> None:
    slots = ManySlots()
    crawls = [uuid4() for _ in range(MOST_LARGE)]
    for crawl_id in (LARGE, *crawls):
        slots.note(crawl_id, LARGE_BYTES)
    held = [one for crawl_id in crawls for one in _held(crawl_id, 0.0)]
    assert slots.allowed_large([(LARGE, "a")], held[1:]) == ([(LARGE, "a")], 1)
    assert slots.allowed_large([(LARGE, "a")], held)[1] == 0


def test_sitemaps_may_be_larger() -> None:
    slots = ManySlots()
    slots.note(SMALL, SITEMAP_SHARE * LARGE_BYTES - 1, Kind.SITEMAP)
    slots.note(LARGE, SITEMAP_SHARE * LARGE_BYTES, Kind.SITEMAP)
    assert slots.large() == {LARGE}
