"""Shares few slots (the tabs of a browser) between crawls, so that pages that take long hold up nobody else.

No crawl has all slots. Crawls whose pages take long leave two to the others, all of them together. A page that never
ends holds its slot for half a minute: without this, a handful of them would hold up every crawl for as long.

Many slots (the HTTP lane's) are shared in `adapters/frontier/lua/serving.lua`.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

LONG_SECONDS = 15.0
"""A page that holds its slot for so long, or did, makes its crawl one of those that take long."""
HELD_UP_SECONDS = 5.0
REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Holding:
    """A slot that is taken: by which crawl, and for how many seconds now."""

    crawl_id: UUID
    seconds: float


@dataclass(slots=True)
class FewSlots:
    slots: int
    monotonic: Callable[[], float] = time.monotonic
    _long: dict[UUID, float] = field(default_factory=dict)
    """Crawls whose last page took long, and until when that is remembered."""

    def note(self, crawl_id: UUID, seconds: float) -> None:
        """A page of this crawl has given its slot back."""
        self._long.pop(crawl_id, None)
        if seconds >= LONG_SECONDS:
            self._long[crawl_id] = self.monotonic() + REMEMBERED_SECONDS
        if len(self._long) > MOST_REMEMBERED:
            del self._long[next(iter(self._long))]

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

    def _that_take_long(self, held: Iterable[Holding]) -> set[UUID]:
        now = self.monotonic()
        known = {crawl_id for crawl_id, until in self._long.items() if until > now}
        return known | {one.crawl_id for one in held if one.seconds >= LONG_SECONDS}


def is_held_up(held: Sequence[Holding]) -> bool:
    """Whether a page takes so long that others should not wait for its end."""
    return any(one.seconds >= HELD_UP_SECONDS for one in held)
