"""Results of a shift that wait to be written, and which come next.

A page or a sitemap may name thousands of URLs, and to write them takes seconds in which all crawls of the process wait.
So a batch names a limited number, and of a longer list parts are written ahead: the URLs alone, while the lease goes
on. The result itself comes last and is written like any other, so nothing is lost wherever this ends in between.

Long lists are written one after the other, by turns with what others have found. Of several crawls, the one of which
fewest URLs were written comes first.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heapreplace
from sys import getsizeof
from uuid import UUID

from crawler.domain.crawls.frontier import Lease
from crawler.handlers.engine.lease_result import LeaseResult, count_new_urls

MOST_NEW = 1_000
"""New URLs of a batch. To write so many takes a fifth of a second."""
PART = 500
"""Of a list that is written in parts."""
MUCH = 2_000
"""URLs of a crawl that wait, from which on nothing more of it is claimed or read."""
MOST_LISTED_BYTES = 64 * 1024 * 1024
"""Of the URLs of all sitemaps that wait: more than can be written before their leases are given back."""


@dataclass(slots=True)
class _Waiting:
    settled: LeaseResult
    new: int
    """URLs that it names, about, and that were not written yet."""
    listed_bytes: int
    """Memory of the URLs of a sitemap, which are kept until all are written."""
    begun: int = 0
    """How much of its lists was written ahead."""

    @property
    def crawl_id(self) -> UUID:
        return self.settled.key.crawl_id

    @property
    def is_long(self) -> bool:
        return self.begun > 0 or self.new > PART

    def part(self) -> LeaseResult | None:
        """The next URLs to write ahead, None if those that are left can be written with the result."""
        if self.new <= PART:
            return None
        one, some = self.settled, slice(self.begun, self.begun + PART)
        self.begun, self.new = some.stop, self.new - PART
        return LeaseResult(
            one.lease,
            one.context,
            one.end,
            one.key,
            listed=one.listed[some],
            links=one.links[some],
            kept_links=one.kept_links[some],
            is_ahead=True,
        )

    def last(self) -> LeaseResult:
        """The result itself.

        It keeps the links that were written ahead: if the page is nearer now than it was then, so are they. The URLs of
        a sitemap are all at the same depth.
        """
        return replace(self.settled, listed=self.settled.listed[self.begun :]) if self.begun else self.settled


class Unwritten:
    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []
        self._new: Counter[UUID] = Counter()
        self._total = 0
        """URLs that are named, about: by each crawl, and by all."""
        self._written: Counter[UUID] = Counter()
        """URLs of each crawl that were written since something waits."""
        self._was_long = True
        """Whether the last batch was a part of a long list: then others come first."""
        self.has_more = False
        """Whether the last batch left something for the next one."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_full(self) -> bool:
        """Whether there is enough for a batch, or more than the last one could take."""
        return self.has_more or self._total >= MOST_NEW

    def add(self, settled: LeaseResult) -> None:
        new = count_new_urls(settled)
        self._waiting.append(_Waiting(settled, new, sum(map(getsizeof, settled.listed))))
        self._new[settled.key.crawl_id] += new
        self._total += new

    def take(self) -> list[LeaseResult]:
        """The next batch."""
        if self._total <= MOST_NEW and not self.has_more:
            batch = [one.settled for one in self._waiting]
            self._waiting.clear()
        else:
            batch = list(self._in_turn())
        self._count_again()
        return batch

    def leave(self, is_meant: Callable[[Lease], bool] = lambda _: True) -> list[Lease]:
        """Forget long lists of these leases. What was written ahead stays. The leases are returned."""
        left = [one.settled.lease for one in self._waiting if one.is_long and is_meant(one.settled.lease)]
        self._waiting = [one for one in self._waiting if not (one.is_long and is_meant(one.settled.lease))]
        self._count_again()
        return left

    def surplus(self) -> Lease | None:
        """The lease of the sitemap whose URLs take most memory, if those of all take more than they may."""
        sitemaps = [one for one in self._waiting if one.listed_bytes and one.is_long]
        if sum(one.listed_bytes for one in sitemaps) <= MOST_LISTED_BYTES:
            return None
        return max(sitemaps, key=lambda one: one.listed_bytes).settled.lease

    def long(self) -> set[UUID]:
        """Crawls that have a list which is written in parts."""
        return {one.crawl_id for one in self._waiting if one.is_long} if self.has_more else set()

    def crowded(self) -> set[UUID]:
        """Crawls that have enough waiting. Others go on."""
        return {crawl_id for crawl_id, number in self._new.items() if number >= MUCH} if self.has_more else set()

    def _in_turn(self) -> Iterator[LeaseResult]:
        """The results that come next: by turns a part of a long list, and others, which then do not wait for it."""
        one = self._long_list()
        self._was_long = one is not None and not (self._was_long and any(not other.is_long for other in self._waiting))
        if one is None or not self._was_long:
            taken = list(self._others())
            yield from (other.settled for other in taken)
        else:
            self._written[one.crawl_id] += min(one.new, PART)
            part = one.part()
            yield part or one.last()
            taken = [] if part else [one]
        done = set(map(id, taken))
        self._waiting = [one for one in self._waiting if id(one) not in done]

    def _long_list(self) -> _Waiting | None:
        """The one that was begun goes on until it is written: its lease lasts not for ever."""
        found = (one for one in self._waiting if one.is_long)
        return min(found, key=lambda one: (not one.begun, self._written[one.crawl_id]), default=None)

    def _others(self) -> Iterator[_Waiting]:
        queues: dict[UUID, deque[_Waiting]] = {}
        for one in self._waiting:
            if not one.is_long:
                queues.setdefault(one.crawl_id, deque()).append(one)
        turns = [(self._written[crawl_id], number, crawl_id) for number, crawl_id in enumerate(queues)]
        heapify(turns)
        room = MOST_NEW
        while turns:
            _, number, crawl_id = turns[0]
            one = queues[crawl_id].popleft()
            room -= one.new
            if room < 0:
                break
            self._written[crawl_id] += one.new
            yield one
            if queues[crawl_id]:
                heapreplace(turns, (self._written[crawl_id], number, crawl_id))
            else:
                heappop(turns)

    def _count_again(self) -> None:
        self._new.clear()
        for one in self._waiting:
            self._new[one.crawl_id] += one.new
        self._total = self._new.total()
        self.has_more = bool(self._waiting)
        if not self._waiting:
            self._written.clear()
