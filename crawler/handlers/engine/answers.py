"""Responses that wait to be processed: of the crawl that took least time first, since something waits."""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from uuid import UUID

from crawler.domain.crawls.fetching import FetchResult


class Answers:
    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        self._clock = clock
        self._queues: dict[UUID, deque[FetchResult]] = {}
        self._used: defaultdict[UUID, float] = defaultdict(float)
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def add(self, results: Iterable[FetchResult]) -> None:
        for result in results:
            self._queues.setdefault(result.request.context.lease.crawl_id, deque()).append(result)
            self._number += 1

    def crawls(self) -> set[UUID]:
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
        if not self._queues:
            self._used.clear()
