"""How the few tabs of a browser are shared between crawls."""

from uuid import UUID, uuid4

from crawler.handlers.engine.few_slots import GIVE_WAY_SECONDS, LONG_SECONDS, FewSlots, Holding
from crawler.handlers.engine.remembered_crawls import REMEMBERED_SECONDS

HOSTILE, STRANGER, OTHER = uuid4(), uuid4(), uuid4()


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def _may(slots: FewSlots, crawl_id: UUID, *held: Holding, only_quick: bool = False) -> bool:
    return bool(slots.allowed([(crawl_id, "h")], held, only_quick=only_quick))


def _new(crawl_id: UUID, count: int) -> list[Holding]:
    return [Holding(crawl_id, 0.0)] * count


def test_no_crawl_has_all_slots() -> None:
    slots = FewSlots(5)
    assert _may(slots, HOSTILE, *_new(HOSTILE, 3))
    assert not _may(slots, HOSTILE, *_new(HOSTILE, 4))
    assert _may(slots, STRANGER, *_new(HOSTILE, 4))


def test_crawls_whose_pages_take_long_leave_two_slots_to_the_others_all_of_them_together() -> None:
    slots = FewSlots(5)
    slots.note(HOSTILE, LONG_SECONDS)
    slots.note(OTHER, LONG_SECONDS)
    held = (*_new(HOSTILE, 2), *_new(OTHER, 1))
    assert _may(slots, HOSTILE, *held[:2])
    assert not _may(slots, HOSTILE, *held)
    assert not _may(slots, OTHER, *held)
    assert _may(slots, STRANGER, *held)


def test_a_page_that_still_holds_its_slot_counts_before_it_ends() -> None:
    held = [Holding(HOSTILE, LONG_SECONDS), *_new(HOSTILE, 2)]
    assert not _may(FewSlots(5), HOSTILE, *held)
    assert _may(FewSlots(5), STRANGER, *held)


def test_when_the_shift_is_to_end_only_quick_crawls_begin_further_pages() -> None:
    slots = FewSlots(5)
    slots.note(HOSTILE, LONG_SECONDS)
    assert not _may(slots, HOSTILE, only_quick=True)
    assert _may(slots, STRANGER, only_quick=True)


def test_a_quick_page_and_time_make_up_for_a_long_one() -> None:
    clock = Clock()
    slots = FewSlots(5, clock)
    held = _new(HOSTILE, 3)
    slots.note(HOSTILE, LONG_SECONDS)
    slots.note(HOSTILE, 1.0)
    assert _may(slots, HOSTILE, *held)
    slots.note(HOSTILE, LONG_SECONDS)
    assert not _may(slots, HOSTILE, *held)
    clock.now += REMEMBERED_SECONDS
    assert _may(slots, HOSTILE, *held)


def test_when_all_slots_are_held_the_longest_page_gives_way_to_a_crawl_that_has_none() -> None:
    slots = FewSlots(2)
    held = [Holding(HOSTILE, GIVE_WAY_SECONDS), Holding(OTHER, GIVE_WAY_SECONDS + 1)]
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is held[1]
    assert slots.giving_way(held, lambda: [(HOSTILE, "h"), (OTHER, "h")]) is None, "both have a slot"
    assert slots.giving_way(held, list) is None, "nobody waits"
    assert slots.giving_way([Holding(HOSTILE, GIVE_WAY_SECONDS - 1)] * 2, lambda: [(STRANGER, "h")]) is None
    slots.note(STRANGER, LONG_SECONDS)
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None, "crawls that take long wait for each other"


def test_a_crawl_gives_way_once_in_a_while_and_counts_as_one_that_takes_long_whatever_comes() -> None:
    clock = Clock()
    slots = FewSlots(3, clock)
    slots.gave_way(HOSTILE)
    slots.note(HOSTILE, 0.1)
    held = [Holding(HOSTILE, GIVE_WAY_SECONDS)]
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None, "slow pages get done"
    assert not _may(slots, HOSTILE, *held)
    clock.now += REMEMBERED_SECONDS
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is held[0]
    assert _may(slots, HOSTILE, *held)


def test_a_single_tab_and_its_spare_one_are_shared_too() -> None:
    slots = FewSlots(2)
    slots.note(HOSTILE, LONG_SECONDS)
    assert _may(slots, HOSTILE)
    assert not _may(slots, HOSTILE, *_new(HOSTILE, 1))
    assert _may(slots, STRANGER, *_new(HOSTILE, 1))
