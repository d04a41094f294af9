"""Places of senders: who takes long to be told never has all threads that tell others.

A receiver that hangs holds its thread until it is given up. So one project, one receiver and one caller have a few of
them at a time; the others of theirs wait without a thread, and go on as soon as one is done.
"""

import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from contextlib import contextmanager
from urllib.parse import urlsplit
from uuid import UUID

MOST_OF_ONE = 2
"""Threads, of eight."""
MOST_WAITING = 10_000
"""What waits on top of these is found again by whoever looks for what was not told."""


class SenderPlaces:
    def __init__(self, hint: Callable[[UUID, float], None]) -> None:
        self._hint = hint
        self._lock = threading.Lock()
        self._held: Counter[Hashable] = Counter()
        self._waiting: dict[Hashable, dict[UUID, None]] = {}

    @contextmanager
    def place(self, names: Set[Hashable], crawl_id: UUID | None = None) -> Iterator[bool]:
        """Hold a place in these names, unless one of them has enough: then the crawl is hinted at once one is free."""
        with self._lock:
            full = next((name for name in names if self._held[name] >= MOST_OF_ONE), None)
            if full is None:
                self._held.update(names)
            elif crawl_id is not None and len(self._waiting.get(full, ())) < MOST_WAITING:
                self._waiting.setdefault(full, {})[crawl_id] = None
        if full is not None:
            yield False
            return
        try:
            yield True
        finally:
            for following in self._leave(names):
                self._hint(following, 0)

    def _leave(self, names: Set[Hashable]) -> list[UUID]:
        """Who is next."""
        found = []
        with self._lock:
            for name in names:
                self._held[name] -= 1
                if not self._held[name]:
                    del self._held[name]
                if waiting := self._waiting.get(name):
                    found.append(next(iter(waiting)))
                    del waiting[found[-1]]
                    if not waiting:
                        del self._waiting[name]
        return list(dict.fromkeys(found))


def hosts_of(urls: Iterable[str | None]) -> set[Hashable]:
    """Hosts of these webhooks."""
    return {urlsplit(url).hostname or "" for url in urls if url}
