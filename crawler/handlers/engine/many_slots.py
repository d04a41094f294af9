"""Shares many slots (the HTTP lane's) where they run short, so that requests that hang hold up nobody else.

How many a crawl may have of those that are free is decided in `adapters/frontier/lua/serving.lua`. Of new crawls nobody
knows yet that their pages hang. So some slots are kept for crawls that hold none, one for each. When these are taken,
too, a crawl without any gets a slot of the one that holds the most, whose oldest request begins again later. The only
slot of a crawl is taken once in a while, and then it gets none of those that are kept: slow pages get done, too.

To receive and unpack a large body takes the process a while, and hundreds of them may come at the same moment. So
crawls whose bodies are large on average have few slots, all of them together as well. A few large pages among many
small ones, as manuals and archives have them, do not make a crawl slow.
"""

import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from crawler.domain.crawls.frontier import Kind
from crawler.domain.engine.remembered import MOST_REMEMBERED, Remembered
from crawler.handlers.engine.few_slots import Holding

KEPT_SHARE = 4
"""One in so many slots is kept for crawls that hold none in the shift."""
GIVE_WAY_SECONDS = 3.0
"""A request that holds its slot for so long has to give way to others. Most take far less than a second."""

LARGE_BYTES = 512 * 1024
"""A crawl whose bodies have so many on average has large ones…"""
AVERAGE_OF = 32
"""…of about so many of its last ones."""
SITEMAP_SHARE = 20
"""Sitemaps come packed from the fetcher, so that each of their bytes takes it less time: so many count as one."""
MOST_LARGE = 32
"""Slots for crawls whose bodies are large…"""
MOST_LARGE_EACH = 4
"""…and for each of them, or about so many."""

Pair = tuple[UUID, str]


@dataclass(slots=True)
class ManySlots:
    """What the shifts of one process know of its slots."""

    monotonic: Callable[[], float] = time.monotonic
    _gave_way: Remembered[UUID] = field(init=False)
    """Crawls whose only request gave way."""
    _large: Remembered[UUID] = field(init=False)
    _sizes: dict[UUID, tuple[float, int]] = field(default_factory=dict)
    """The average size of each crawl's bodies, and of how many."""

    def __post_init__(self) -> None:
        self._gave_way, self._large = Remembered(self.monotonic), Remembered(self.monotonic)

    def note(self, crawl_id: UUID, size: int, kind: Kind = Kind.PAGE) -> None:
        """A response of this crawl has a body of so many bytes."""
        average, number = self._sizes.pop(crawl_id, (0.0, 0))
        number = min(number + 1, AVERAGE_OF)
        average += ((size / SITEMAP_SHARE if kind is Kind.SITEMAP else size) - average) / number
        self._sizes[crawl_id] = average, number
        if len(self._sizes) > MOST_REMEMBERED:
            del self._sizes[next(iter(self._sizes))]
        if average >= LARGE_BYTES:
            self._large.add(crawl_id)
        else:
            self._large.forget(crawl_id)

    def large(self) -> set[UUID]:
        """Crawls whose bodies are large."""
        return self._large.now()

    def allowed_large(self, pairs: Sequence[Pair], held: Collection[Holding]) -> tuple[Sequence[Pair], int]:
        """Which pairs of crawls whose bodies are large may claim how much."""
        large = self.large()
        taken = Counter(one.crawl_id for one in held if one.crawl_id in large)
        pairs = [pair for pair in pairs if taken[pair[0]] < MOST_LARGE_EACH]
        return pairs, min(MOST_LARGE_EACH, MOST_LARGE - taken.total())

    def allowed(
        self, pairs: Sequence[Pair], room: int, free: int, slots: int, held: Collection[UUID]
    ) -> tuple[Sequence[Pair], int]:
        """Who may claim how much, of so many free slots: of those that are kept each crawl that holds none gets one."""
        if not is_short(free, slots):
            return pairs, min(room, free - _kept(slots))
        served = self.served(held)
        pairs = [pair for pair in pairs if pair[0] not in served]
        return pairs, min(room, len({crawl_id for crawl_id, _ in pairs}))

    def served(self, held: Collection[UUID]) -> set[UUID]:
        """Crawls that get no slot of those that are kept."""
        return self._gave_way.now() | set(held)

    def giving_way(self, held: Collection[Holding]) -> list[Holding]:
        """Slots that may be freed, where all are held: first those of the crawls that hold the most."""
        left = Counter(one.crawl_id for one in held)
        known = self._gave_way.now()
        ranked: list[tuple[int, Holding]] = []
        for one in sorted(held, key=lambda one: -one.seconds):
            is_free = one.seconds >= GIVE_WAY_SECONDS and (left[one.crawl_id] > 1 or one.crawl_id not in known)
            if is_free:
                ranked.append((left[one.crawl_id], one))
                left[one.crawl_id] -= 1
        return [one for _, one in sorted(ranked, key=lambda rank: -rank[0])]

    def gave_way(self, crawl_id: UUID, held: Collection[UUID]) -> None:
        if crawl_id not in held:
            self._gave_way.add(crawl_id)


def is_short(free: int, slots: int) -> bool:
    """Whether no slots are free but those that are kept."""
    return free <= _kept(slots)


def _kept(slots: int) -> int:
    return slots // KEPT_SHARE
