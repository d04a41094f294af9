"""How the few tabs of a browser are shared between crawls."""

from uuid import UUID, uuid4

from crawler.domain.engine.remembered import REMEMBERED_SECONDS
from crawler.handlers.engine.few_slots import GIVE_WAY_SECONDS, LONG_SECONDS, SOON_SECONDS, FewSlots, Holding

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
    slots.note(HOSTILE, "h", LONG_SECONDS)
    slots.note(OTHER, "h", LONG_SECONDS)
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
    slots.note(HOSTILE, "h", LONG_SECONDS)
    assert not _may(slots, HOSTILE, only_quick=True)
    assert _may(slots, STRANGER, only_quick=True)


def test_a_quick_page_and_time_make_up_for_a_long_one() -> None:
    clock = Clock()
    slots = FewSlots(5, clock)
    held = _new(HOSTILE, 3)
    slots.note(HOSTILE, "h", LONG_SECONDS)
    slots.note(HOSTILE, "h", 1.0)
    assert _may(slots, HOSTILE, *held)
    slots.note(HOSTILE, "h", LONG_SECONDS)
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
    slots.note(STRANGER, "h", LONG_SECONDS)
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None, "crawls that take long wait for each other"


def test_a_crawl_gives_way_once_in_a_while_and_counts_as_one_that_takes_long() -> None:
    clock = Clock()
    slots = FewSlots(3, clock)
    slots.gave_way(HOSTILE)
    held = [Holding(HOSTILE, GIVE_WAY_SECONDS)]
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None, "slow pages get done"
    assert not _may(slots, HOSTILE, *held)
    clock.now += REMEMBERED_SECONDS
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is held[0]
    assert _may(slots, HOSTILE, *held)


def test_a_quick_page_makes_up_for_one_that_gave_way_and_only_once() -> None:
    """Pages of others may have slowed it down; but a crawl of both kinds of pages would begin anew each time."""
    slots = FewSlots(3)
    held = [Holding(HOSTILE, LONG_SECONDS - 1)]
    for is_made_up in (True, False):
        slots.gave_way(HOSTILE)
        assert not _may(slots, HOSTILE, *held)
        slots.note(HOSTILE, "h", 0.1)
        assert _may(slots, HOSTILE, *held) is is_made_up


def test_a_host_whose_last_page_was_quick_gives_way_later() -> None:
    slots = FewSlots(2)
    slots.note(OTHER, "quick", 1.0)
    quick, new = Holding(HOSTILE, GIVE_WAY_SECONDS + 1, ("quick", 1)), Holding(OTHER, GIVE_WAY_SECONDS, ("new", 2))
    assert slots.giving_way([quick, new], lambda: [(STRANGER, "h")]) is new
    assert slots.giving_way([quick, quick], lambda: [(STRANGER, "h")]) is None
    late = Holding(HOSTILE, LONG_SECONDS, ("quick", 1))
    assert slots.giving_way([late], lambda: [(STRANGER, "h")]) is late


def test_pages_give_way_to_a_host_whose_last_page_was_quick_before_long() -> None:
    slots = FewSlots(2)
    held = [Holding(HOSTILE, SOON_SECONDS, ("new", 1)), Holding(OTHER, SOON_SECONDS - 1, ("new", 2))]
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None
    slots.note(STRANGER, "h", 1.0)
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is held[0]
    slots.note(STRANGER, "h", LONG_SECONDS)
    assert slots.giving_way(held, lambda: [(STRANGER, "h")]) is None, "it is quick no more"


def test_a_single_tab_and_its_spare_one_are_shared_too() -> None:
    slots = FewSlots(2)
    slots.note(HOSTILE, "h", LONG_SECONDS)
    assert _may(slots, HOSTILE)
    assert not _may(slots, HOSTILE, *_new(HOSTILE, 1))
    assert _may(slots, STRANGER, *_new(HOSTILE, 1))
