"""Shares few slots (the tabs of a browser) between crawls, so that pages that take long hold up nobody else.

No crawl has all slots. Crawls whose pages take long leave two to the others, all of them together. A page that never
ends holds its slot for half a minute: without this, a handful of them would hold up every crawl for as long.

Of a new crawl nobody knows yet whether its pages take long. So when all slots are taken and a crawl that has none
waits, the page that has held its slot for the longest gives way and begins again later. That happens to a crawl once
in a while only, so that slow pages get done, and from then on it counts as one that takes long.

Many slots (the HTTP lane's) are shared in `adapters/frontier/lua/serving.lua`.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

LONG_SECONDS = 15.0
"""A page that holds its slot for so long, or did, makes its crawl one of those that take long."""
HELD_UP_SECONDS = 5.0
GIVE_WAY_SECONDS = 8.0
"""A page that holds its slot for so long has to give way to others. Most take a second or two."""
REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Holding:
    """A slot that is taken: by which crawl, and for how many seconds now."""

    crawl_id: UUID
    seconds: float
    name: tuple[str, int] = ("", 0)
    """Of the lease that it is held for: its host and token."""


@dataclass(slots=True)
class FewSlots:
    slots: int
    monotonic: Callable[[], float] = time.monotonic
    _long: dict[UUID, float] = field(default_factory=dict)
    """Crawls whose last page took long, and until when that is remembered."""
    _gave_way: dict[UUID, float] = field(default_factory=dict)
    """Crawls one of whose pages gave way, and until when none does so again. No quick page makes up for that: a crawl
    of quick pages and pages that never end would begin anew each time."""

    def note(self, crawl_id: UUID, seconds: float) -> None:
        """A page of this crawl has given its slot back."""
        self._long.pop(crawl_id, None)
        if seconds >= LONG_SECONDS:
            self._remember(self._long, crawl_id)

    def allowed(
        self, pairs: Iterable[tuple[UUID, str]], held: Collection[Holding], *, only_quick: bool = False
    ) -> list[tuple[UUID, str]]:
        """Those of the pairs (crawl, host) whose crawl may take one more slot. `only_quick`: none that takes long."""
        takes_long = self._that_take_long(held)
        taken = Counter(one.crawl_id for one in held)
        by_long = sum(taken[crawl_id] for crawl_id in takes_long)
        has_room = not only_quick and by_long < max(1, self.slots - 2)
        most = max(1, self.slots - 1)
        return [pair for pair in pairs if taken[pair[0]] < most and (has_room or pair[0] not in takes_long)]

    def giving_way(self, held: Collection[Holding], due: Callable[[], Iterable[tuple[UUID, str]]]) -> Holding | None:
        """Which slot is to be freed, where all are held, for one of the due pairs; None if they have to wait."""
        now = self.monotonic()
        known = {crawl_id for crawl_id, until in self._gave_way.items() if until > now}
        able = [one for one in held if one.seconds >= GIVE_WAY_SECONDS and one.crawl_id not in known]
        if not able:
            return None
        served = {one.crawl_id for one in held} | self._that_take_long(held)
        return max(able, key=lambda one: one.seconds) if any(pair[0] not in served for pair in due()) else None

    def gave_way(self, crawl_id: UUID) -> None:
        self._remember(self._gave_way, crawl_id)

    def _remember(self, crawls: dict[UUID, float], crawl_id: UUID) -> None:
        crawls.pop(crawl_id, None)
        crawls[crawl_id] = self.monotonic() + REMEMBERED_SECONDS
        if len(crawls) > MOST_REMEMBERED:
            del crawls[next(iter(crawls))]

    def _that_take_long(self, held: Iterable[Holding]) -> set[UUID]:
        now = self.monotonic()
        remembered = (*self._long.items(), *self._gave_way.items())
        known = {crawl_id for crawl_id, until in remembered if until > now}
        return known | {one.crawl_id for one in held if one.seconds >= LONG_SECONDS}


def holds_up(seconds: float) -> bool:
    """Whether a page takes so long that others should not wait for its end."""
    return seconds >= HELD_UP_SECONDS
