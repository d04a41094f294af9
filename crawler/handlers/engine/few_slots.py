"""Shares few slots (the tabs of a browser) between crawls, so that pages that take long hold up nobody else.

No crawl has all slots. Crawls whose pages take long leave two to the others, all of them together. A page that never
ends holds its slot for half a minute: without this, a handful of them would hold up every crawl for as long.

Of a new crawl nobody knows yet whether its pages take long. So when all slots are taken and a crawl that has none
waits, the page that has held its slot for the longest gives way and begins again later: sooner to a host whose last
page was quick, and later if that can be said of its own host. That happens to a crawl once in a while only, so that
slow pages get done, and from then on it counts as one that takes long. The first time a quick page makes up for that:
pages of others may have slowed it down.

Many slots (the HTTP lane's) are shared in `many_slots.py`.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from uuid import UUID

from crawler.domain.engine.remembered import Remembered

LONG_SECONDS = 15.0
"""A page that holds its slot for so long, or did, makes its crawl one of those that take long."""
HELD_UP_SECONDS = 5.0
SOON_SECONDS = 3.0
"""A page that holds its slot for so long has to give way to a host whose last page was quick."""
GIVE_WAY_SECONDS = 8.0
"""A page that holds its slot for so long has to give way to others. Most take a second or two."""


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
    _long: Remembered[UUID] = field(init=False)
    """Crawls whose last page took long."""
    _quick: Remembered[str] = field(init=False)
    """Hosts whose last page was quick."""
    _gave_way: Remembered[UUID] = field(init=False)
    """Crawls one of whose pages gave way; meanwhile none does so again."""
    _made_up: Remembered[UUID] = field(init=False)
    """Those among them for which a quick page has made up. It does so once: a crawl of quick pages and pages that never
    end would begin anew each time."""

    def __post_init__(self) -> None:
        self._long, self._gave_way, self._made_up = (Remembered[UUID](self.monotonic) for _ in range(3))
        self._quick = Remembered(self.monotonic)

    def note(self, crawl_id: UUID, host: str, seconds: float) -> None:
        """A page of this crawl and host has given its slot back."""
        self._long.forget(crawl_id)
        self._quick.forget(host)
        if seconds >= LONG_SECONDS:
            self._long.add(crawl_id)
        elif not holds_up(seconds):
            self._quick.add(host)
            if crawl_id in self._gave_way.now() - self._made_up.now():
                self._gave_way.forget(crawl_id)
                self._made_up.add(crawl_id)

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
        gave_way, quick = self._gave_way.now(), self._quick.now()
        able = [one for one in held if one.seconds >= SOON_SECONDS and one.crawl_id not in gave_way]
        if not able:
            return None
        served = {one.crawl_id for one in held} | self._that_take_long(held)
        waiting = [pair for pair in due() if pair[0] not in served]
        if not waiting:
            return None
        patience = SOON_SECONDS if any(host in quick for _, host in waiting) else GIVE_WAY_SECONDS
        able = [one for one in able if one.seconds >= (LONG_SECONDS if one.name[0] in quick else patience)]
        return max(able, key=lambda one: one.seconds, default=None)

    def gave_way(self, crawl_id: UUID) -> None:
        self._gave_way.add(crawl_id)

    def _that_take_long(self, held: Iterable[Holding]) -> set[UUID]:
        known = self._long.now() | self._gave_way.now()
        return known | {one.crawl_id for one in held if one.seconds >= LONG_SECONDS}


def holds_up(seconds: float) -> bool:
    """Whether a page takes so long that others should not wait for its end."""
    return seconds >= HELD_UP_SECONDS
