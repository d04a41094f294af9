"""Responses that wait to be processed: of the crawl that took least time first, since something waits.

Those of crawls of which enough waits to be written are held back meanwhile.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Set
from itertools import compress
from operator import not_
from uuid import UUID

from crawler.domain.crawls.fetching import FetchResult
from crawler.domain.crawls.frontier import Lease


class Answers:
    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._queues: dict[UUID, deque[FetchResult]] = {}
        self._used: defaultdict[UUID, float] = defaultdict(float)
        self._held_back: dict[UUID, deque[FetchResult]] = {}
        self._number = 0

    def __len__(self) -> int:
        """How many can be processed now."""
        return self._number

    @property
    def has_any(self) -> bool:
        return bool(self._queues or self._held_back)

    def add(self, results: Iterable[FetchResult]) -> None:
        for result in results:
            crawl_id = result.request.context.lease.crawl_id
            if crawl_id in self._held_back:
                self._held_back[crawl_id].append(result)
            else:
                self._queues.setdefault(crawl_id, deque()).append(result)
                self._number += 1

    def hold_back(self, crawls: Set[UUID]) -> None:
        """Process nothing of these crawls, and again what was held back of others."""
        if not crawls and not self._held_back:
            return
        everything = {**self._queues, **self._held_back}
        self._queues = {crawl_id: queue for crawl_id, queue in everything.items() if crawl_id not in crawls}
        self._held_back = {crawl_id: queue for crawl_id, queue in everything.items() if crawl_id in crawls}
        self._number = sum(map(len, self._queues.values()))

    def leave(self, is_meant: Callable[[Lease], bool]) -> list[FetchResult]:
        """Forget responses of these leases that are held back. They are returned."""
        left: list[FetchResult] = []
        for crawl_id, queue in list(self._held_back.items()):
            meant = [is_meant(result.request.context.lease) for result in queue]
            left += compress(queue, meant)
            self._held_back[crawl_id] = deque(compress(queue, map(not_, meant)))
            if not self._held_back[crawl_id]:
                del self._held_back[crawl_id]
        return left

    def crawls(self) -> set[UUID]:
        """Crawls of which something can be processed now."""
        return set(self._queues)

    def process_next(self, process: Callable[[FetchResult], object]) -> None:
        crawl_id = min(self._queues, key=self._used.__getitem__) if len(self._queues) > 1 else next(iter(self._queues))
        queue = self._queues[crawl_id]
        result = queue.popleft()
        self._number -= 1
        if not queue:
            del self._queues[crawl_id]
        began = self._clock()
        process(result)
        self._used[crawl_id] += self._clock() - began
        if not self.has_any:
            self._used.clear()
