"""Crawls of which a process remembers something for a while, such as that their pages take long."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from uuid import UUID

REMEMBERED_SECONDS = 300.0
MOST_REMEMBERED = 1000


@dataclass(slots=True)
class RememberedCrawls:
    monotonic: Callable[[], float] = time.monotonic
    _until: dict[UUID, float] = field(default_factory=dict)

    def add(self, crawl_id: UUID) -> None:
        self._until.pop(crawl_id, None)
        self._until[crawl_id] = self.monotonic() + REMEMBERED_SECONDS
        if len(self._until) > MOST_REMEMBERED:
            del self._until[next(iter(self._until))]

    def forget(self, crawl_id: UUID) -> None:
        self._until.pop(crawl_id, None)

    def now(self) -> set[UUID]:
        now = self.monotonic()
        return {crawl_id for crawl_id, until in self._until.items() if until > now}
